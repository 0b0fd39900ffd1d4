#pragma once

#include <cstddef>
#include <cstdio>
#include <string_view>

/// What is known of the terminal that a stream goes to.
namespace hone {

/// Columns of the terminal behind `stream`: those of the environment's COLUMNS, where it is a positive number, else
/// those the terminal tells. 0: it is no terminal, and lines may have any length, so that programs find whole lines.
std::size_t terminal_columns(std::FILE* stream);

enum class ColourChoice { automatic, always, never };

/// Whether text for `stream` may be coloured: if left to choose, on a terminal, unless NO_COLOR is set and not empty
/// (no-color.org) or TERM is "dumb".
bool wants_colour(std::FILE* stream, ColourChoice choice);

/// Of `--color`: "auto", "always" or "never". Throws `UserError` for anything else.
ColourChoice parse_colour_choice(std::string_view text);

}  // namespace hone
