#pragma once

#include <string>
#include <string_view>

/// Names and strings in graph text.
namespace hone {

/// Returns whether a name may contain this character without quotes: letters, digits and `_ . - /`.
bool is_word_character(char character);

/// Returns the text between double quotes, with \" for a quote, \\ for a backslash and \xNN for control characters. All
/// other bytes are copied.
std::string quoted(std::string_view text);

/// Reads the quoted text at the start of `from` and removes it from there. Throws `UserError` for a missing end quote
/// and for other escapes.
std::string take_quoted(std::string_view& from);

}  // namespace hone
