#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Converts texts in other encodings to UTF-8 by the C library (`iconv`).
namespace hone {

/// Returns whether the encoding called `name` is supported: the names of iconv and Python, in any case, such as
/// latin-1, windows-1252, utf-16 or shift_jis.
bool is_text_encoding(const std::string& name);

/// Returns the encoding of a byte order mark at the front, "UTF-16" or "UTF-32"; "" without one, and for that of UTF-8,
/// which readers skip.
std::string encoding_of_mark(std::string_view bytes);

/// Converts the bytes to UTF-8, with U+FFFD for each sequence that is malformed in `encoding`; adds the number of these
/// to `replaced`. UTF-16 and UTF-32 without a byte order mark are read in the machine's byte order. Throws `UserError`
/// for an unsupported encoding.
std::string to_utf8(std::string_view bytes, const std::string& encoding, std::int64_t& replaced);

}  // namespace hone
