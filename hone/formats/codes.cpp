#include "hone/formats/codes.h"

#include "hone/base/error.h"

namespace hone {
namespace {

std::size_t bytes_for(std::size_t count, int bits) {
  return (count * static_cast<std::size_t>(bits) + 7) / 8;
}

void append(std::vector<std::byte>& bytes, std::span<const std::uint32_t> codes, int bits) {
  std::size_t bit = bytes.size() * 8;
  bytes.resize(bytes.size() + bytes_for(codes.size(), bits));
  for (const std::uint32_t code : codes) {
    HONE_ASSERT(bits == 32 || code >> bits == 0, "code {} in {} bits", code, bits);
    for (int taken = 0; taken < bits;) {
      const auto offset = static_cast<int>(bit % 8);
      bytes[bit / 8] |= static_cast<std::byte>((code >> taken) << offset);
      const int step = std::min(8 - offset, bits - taken);
      taken += step;
      bit += static_cast<std::size_t>(step);
    }
  }
}

std::vector<std::uint32_t> extract(std::span<const std::byte> bytes, std::size_t count, int bits) {
  std::vector<std::uint32_t> codes(count, 0);
  std::size_t bit = 0;
  for (std::uint32_t& code : codes) {
    for (int taken = 0; taken < bits;) {
      const auto offset = static_cast<int>(bit % 8);
      const int step = std::min(8 - offset, bits - taken);
      const auto part =
          (static_cast<std::uint32_t>(bytes[bit / 8]) >> offset) & ((std::uint32_t{1} << step) - 1);
      code |= part << taken;
      taken += step;
      bit += static_cast<std::size_t>(step);
    }
  }
  return codes;
}

}  // namespace

std::uint32_t signed_code(std::int64_t value, int bits) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(value) & mask);
}

std::int64_t signed_value(std::uint32_t code, int bits) {
  const std::int64_t sign = std::int64_t{1} << (bits - 1);
  return (static_cast<std::int64_t>(code) ^ sign) - sign;
}

void fail_without_code(const Format& format, float value) {
  fail("{} has no code for {}; check how the tensor got this value", to_string(format), value);
}

std::vector<std::byte> pack(const Codes& codes, const CodeLayout& layout) {
  std::vector<std::byte> bytes;
  append(bytes, codes.elements, layout.element_bits);
  append(bytes, codes.shared, layout.shared_bits);
  return bytes;
}

Codes unpack(std::span<const std::byte> bytes, const CodeLayout& layout,
             std::int64_t element_count) {
  const auto elements = static_cast<std::size_t>(element_count);
  const auto shared = static_cast<std::size_t>(layout.shared_count);
  const std::size_t first = bytes_for(elements, layout.element_bits);
  const std::size_t expected = first + bytes_for(shared, layout.shared_bits);
  user_check(bytes.size() == expected, "packed codes: expected {} bytes, got {}", expected,
             bytes.size());
  return {extract(bytes.first(first), elements, layout.element_bits),
          extract(bytes.subspan(first), shared, layout.shared_bits)};
}

}  // namespace hone
