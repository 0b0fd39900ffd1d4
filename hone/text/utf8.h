#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hone/base/error.h"
#include "hone/text/normalizer.h"

/// Whether bytes are UTF-8, and what to do when they are not.
namespace hone {

/// Whether the text is well-formed UTF-8 (Unicode 15, section 3.9).
bool is_utf8(std::string_view text);

inline constexpr std::string_view kNotUtf8 =
    "the text is not UTF-8; name its encoding by `encoding`, e.g. latin-1, or leave `strict_utf8` "
    "out "
    "to "
    "read U+FFFD in the place of what is wrong";

/// Returns "3 ill-formed bytes were read as U+FFFD; ...".
std::string not_utf8_warning(std::int64_t replaced);

/// Throws a `UserError` that opens with `where()` unless the text is UTF-8.
template <typename Where>
void check_utf8(std::string_view text, const Where& where) {
  if (!is_utf8(text)) fail("{}: {}", where(), kNotUtf8);
}

/// The last code point of well-formed `text`, which is not empty.
DecodedCharacter decode_last(std::string_view text);

/// Bytes of white space at the end of well-formed `text`.
std::size_t space_at_end(std::string_view text);

/// The text in Unicode's form NFC, in which "é" is one code point however it is written; as it is
/// where it is not well-formed.
std::string composed(std::string_view text);

/// The text with U+FFFD for every ill-formed part; adds their count to `replaced`.
std::string repair_utf8(std::string_view text, std::int64_t& replaced);

}  // namespace hone
