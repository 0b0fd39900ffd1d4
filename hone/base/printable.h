#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Makes arbitrary text, such as names from files, safe to display.
namespace hone {

/// Returns at most the first `characters` characters of UTF-8 text. A stray byte counts as one, so that the result has
/// at most four bytes per character.
std::string_view first_characters(std::string_view text, std::size_t characters);

/// Returns the text if it has at most `characters` characters (at least 1), else its beginning and end joined by "…" to
/// that length: "bert.encoder.la…uery.weight".
std::string shorten(std::string_view text, std::size_t characters);

/// Returns the number of characters of UTF-8, as the functions above count well-formed text.
std::size_t character_count(std::string_view text);

/// Returns a text in one line of at most `characters` characters: shortened, with spaces for line ends and tabs.
std::string one_line(std::string_view text, std::size_t characters);

/// Returns a displayable name or label: in one line, shortened, with control characters as \n, \x1b and the like.
std::string shown_name(std::string_view name, std::size_t characters = 100);

/// Returns text for a terminal: control characters, which names from files may contain, as \x1b and the like; only line
/// ends and tabs stay.
std::string printable(std::string_view text);

/// Returns a printable message; a very long one is shortened to its beginning and end.
std::string printable_message(std::string_view message);

}  // namespace hone
