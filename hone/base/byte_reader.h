#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "hone/base/error.h"

namespace hone {

/// Reads little-endian numbers and byte ranges of a buffer sequentially. Reads past the end throw `UserError`. Returned
/// views point into the buffer.
class ByteReader {
 public:
  /// Starts at byte `position`; throws `UserError` if the buffer is shorter.
  explicit ByteReader(std::string_view bytes, std::uint64_t position = 0) : bytes_(bytes) {
    take(position);
  }

  std::size_t position() const { return position_; }
  std::size_t remaining() const { return bytes_.size() - position_; }

  std::string_view take(std::uint64_t count) {
    user_check(count <= remaining(),
               "expected {} bytes at byte {}, only {} are left; the file is cut off or damaged",
               count, position_, remaining());
    const std::string_view taken = bytes_.substr(position_, count);
    position_ += taken.size();
    return taken;
  }

  template <std::integral T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  /// Reads an unsigned number of up to 64 bits in groups of 7, low ones first; the top bit of a byte means that more
  /// follow (LEB128).
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = number<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    fail("expected a number of at most 10 bytes before byte {}; the file is damaged", position_);
  }
  /// Reads a signed number n, stored as the varint 2n, or -2n - 1 if it is negative (zigzag).
  std::int64_t zigzag_varint() {
    const std::uint64_t value = varint();
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }

  /// Returns the bytes up to the next line feed, which is skipped.
  std::string_view line() {
    const std::size_t length = bytes_.substr(position_).find('\n');
    user_check(length != std::string_view::npos, "expected a line at byte {}, found no end of it",
               position_);
    const std::string_view text = take(length);
    take(1);
    return text;
  }

 private:
  std::string_view bytes_;
  std::size_t position_ = 0;
};

}  // namespace hone
