#pragma once

#include <string>
#include <string_view>

/// How names and texts stand in graph text.
namespace hone {

/// Letters, digits and `_ . - /`: a name of these alone stands as it is.
bool is_word_character(char character);

/// Between double quotes, with \" for a quote, \\ for a backslash and \xNN for control characters; all other bytes stand
/// as they are.
std::string quoted(std::string_view text);

/// The text that begins at the first character of `from`, a quote; what is read is taken away. Throws `UserError` for a
/// text that does not end and for other escapes.
std::string take_quoted(std::string_view& from);

}  // namespace hone
