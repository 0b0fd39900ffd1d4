#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Text that may hold anything, names from files above all, made fit to be shown.
namespace hone {

/// The first characters of UTF-8 text, at most so many. A stray byte counts as one, so that the
/// result has at most four bytes a character.
std::string_view first_characters(std::string_view text, std::size_t characters);

/// The text if it has at most `characters` characters (from 1 on), else its beginning and its end with "…"
/// between them, so many together: "bert.encoder.la…uery.weight".
std::string shorten(std::string_view text, std::size_t characters);

/// How many characters of UTF-8 a text has, as the functions above count them where it is well-formed.
std::size_t character_count(std::string_view text);

/// A text in one line of at most `characters` characters: line ends and tabs are spaces, and it is `shorten`ed.
std::string one_line(std::string_view text, std::size_t characters);

/// A name from a file, or a label, as people see it: in one line, with control characters as \n, \x1b and the like, and of
/// long ones so many characters.
std::string shown_name(std::string_view name, std::size_t characters = 100);

/// Text for a terminal: control characters, which names from files may hold, as \x1b and the like; only line ends and
/// tabs stay.
std::string printable(std::string_view text);

/// A message for a terminal: printable, and of one that holds something endless the beginning and the end.
std::string printable_message(std::string_view message);

}  // namespace hone
