#pragma once

#include <cstddef>

#include "hone/formats/format.h"

/// What the codes of formats share, and codes as bytes.
namespace hone {

/// `value` in two's complement of `bits` bits, 1 to 32.
std::uint32_t signed_code(std::int64_t value, int bits);
std::int64_t signed_value(std::uint32_t code, int bits);

[[noreturn]] void fail_without_code(const Format& format, float value);
/// Throws `UserError` naming the format when `has_code` is false; asked for every element.
inline void check_has_code(const Format& format, bool has_code, float value) {
  if (!has_code) fail_without_code(format, value);
}

/// The codes one after the other, the first in the lowest bits of the first byte, without gaps:
/// first all elements, then, from a new byte on, the shared ones.
std::vector<std::byte> pack(const Codes& codes, const CodeLayout& layout);

/// The codes of `element_count` elements. Throws `UserError` when `bytes` has another size than
/// they need.
Codes unpack(std::span<const std::byte> bytes, const CodeLayout& layout,
             std::int64_t element_count);

}  // namespace hone
