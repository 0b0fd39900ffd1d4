#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hone/base/error.h"
#include "hone/text/normalizer.h"

/// Validates and repairs UTF-8.
namespace hone {

/// Returns whether the text is well-formed UTF-8 (Unicode 15, section 3.9).
bool is_utf8(std::string_view text);

inline constexpr std::string_view kNotUtf8 =
    "the text is not UTF-8; name its encoding by `encoding`, e.g. latin-1, or omit `strict_utf8` "
    "to replace invalid bytes by U+FFFD";

/// Returns "3 ill-formed bytes were read as U+FFFD; ...".
std::string not_utf8_warning(std::int64_t replaced);

/// Throws a `UserError` that begins with `where()` unless the text is UTF-8.
template <typename Where>
void check_utf8(std::string_view text, const Where& where) {
  if (!is_utf8(text)) fail("{}: {}", where(), kNotUtf8);
}

/// Decodes the last code point of well-formed `text`, which is not empty.
DecodedCharacter decode_last(std::string_view text);

/// Returns the size in bytes of the white space at the end of well-formed `text`.
std::size_t trailing_space_size(std::string_view text);

/// Returns the text in Unicode normalization form NFC, in which "é" is one code point; ill-formed text is returned
/// unchanged.
std::string composed(std::string_view text);

/// Replaces each ill-formed sequence by U+FFFD; adds their number to `replaced`.
std::string repair_utf8(std::string_view text, std::int64_t& replaced);

}  // namespace hone
