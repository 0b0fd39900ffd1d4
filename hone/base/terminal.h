#pragma once

#include <cstddef>
#include <cstdio>
#include <string_view>

/// Properties of the terminal of a stream.
namespace hone {

/// Returns the columns of the terminal of `stream`: the environment's COLUMNS if it is a positive number, else those of
/// the terminal. 0: not a terminal; lines may have any length, so that programs can parse them.
std::size_t terminal_columns(std::FILE* stream);

enum class ColourChoice { automatic, always, never };

/// Returns whether text for `stream` may be colored. Automatic: on a terminal, unless NO_COLOR is set and not empty
/// (no-color.org) or TERM is "dumb".
bool wants_colour(std::FILE* stream, ColourChoice choice);

/// Parses `--color`: "auto", "always" or "never". Throws `UserError` for anything else.
ColourChoice parse_colour_choice(std::string_view text);

}  // namespace hone
