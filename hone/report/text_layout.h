#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Text for terminals: how wide it is, and how it is made to fit.
namespace hone {

/// What text is written for. The defaults suit files and pipes.
struct TextStyle {
  std::size_t columns = 0;  ///< no line gets longer; 0: lines may have any length
  bool colour = false;      ///< by escape sequences that terminals know
};

/// What a colour means: the reader's eye finds it, and the words beside it say the same.
enum class Tone {
  plain,
  good,     ///< green: kept
  bad,      ///< red: lost
  unclear,  ///< yellow: cannot tell
  quiet,    ///< dim: headers
};

/// The text in the colour of `tone`, if `style` has colours.
std::string toned(std::string text, Tone tone, const TextStyle& style);

/// Columns of a terminal that the text takes: wide characters two, combining ones and escape sequences for colours none.
std::size_t display_width(std::string_view text);

/// The text in at most `columns` columns: where it is longer, "…" stands for its middle. Of a name, which has no spaces,
/// more of the end is kept than of the beginning: "bert.enc…attention.self.query".
std::string shortened(std::string_view text, std::size_t columns);

/// All texts in at most `columns` columns, of the same number of columns at their beginning (see `shortened`), by which
/// those stay apart that differ: "int(bits=8…namic)" and "int(bits=4…namic)". Nothing where no beginning does that.
std::optional<std::vector<std::string>> shortened_apart(const std::vector<std::string>& texts,
                                                        std::size_t columns);

/// Whether the space at this place is part of a figure, so that no line ends there: "4,000", "62.5%", "n = 36".
bool is_within_figure(std::string_view text, std::size_t space);

/// The lines of one line that is broken at spaces, but not within figures, so that none is wider than `columns`, but for
/// words that are; lines after the first begin with the spaces the first begins with. `columns` 0: the line itself.
std::vector<std::string> broken_line(std::string_view line, std::size_t columns);

/// The parts with two spaces between them, on as many lines as it takes, those after the first indented; a part is
/// broken only where it is wider than a line. `columns` 0: one line.
std::string stacked(const std::vector<std::string>& parts, std::size_t columns);

/// Text of several lines, each broken as above. A line that is a command ("  hone train …") is broken so that a shell
/// reads it as one: with a backslash at the end of its lines, and not within quotes or between an option and its value.
std::string fitted(std::string_view text, std::size_t columns);

}  // namespace hone
