#pragma once

#include <cstddef>

#include "hone/formats/format.h"

/// Shared functions for the codes of formats, and codes as bytes.
namespace hone {

/// Returns `value` in two's complement of `bits` bits, 1 to 32.
std::uint32_t signed_code(std::int64_t value, int bits);
std::int64_t signed_value(std::uint32_t code, int bits);

[[noreturn]] void fail_without_code(const Format& format, float value);
/// Throws `UserError` with the format's name if `has_code` is false; called for every element.
inline void check_has_code(const Format& format, bool has_code, float value) {
  if (!has_code) fail_without_code(format, value);
}

/// Packs codes without gaps, the first in the lowest bits of the first byte: first all elements, then, starting at a
/// new byte, the shared codes.
std::vector<std::byte> pack(const Codes& codes, const CodeLayout& layout);

/// Unpacks the codes of `element_count` elements. Throws `UserError` if `bytes` has the wrong size.
Codes unpack(std::span<const std::byte> bytes, const CodeLayout& layout,
             std::int64_t element_count);

}  // namespace hone
