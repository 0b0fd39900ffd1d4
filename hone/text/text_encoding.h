#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Texts in other encodings than UTF-8, converted by the C library (`iconv`).
namespace hone {

/// Returns whether texts in the encoding called `name` can be read: the names of iconv and of
/// Python, in any case, such as latin-1, windows-1252, utf-16 or shift_jis.
bool is_text_encoding(const std::string& name);

/// Returns the encoding that a byte order mark at the front names, "UTF-16" or "UTF-32"; "" without
/// one, and for that of UTF-8, which readers skip.
std::string encoding_of_mark(std::string_view bytes);

/// Returns the bytes as UTF-8, with U+FFFD for every part that is malformed in `encoding`; adds the
/// number of these to `replaced`. UTF-16 and UTF-32 without a byte order mark are read in the
/// machine's byte order. Throws `UserError` for an encoding that is not supported.
std::string to_utf8(std::string_view bytes, const std::string& encoding, std::int64_t& replaced);

}  // namespace hone
