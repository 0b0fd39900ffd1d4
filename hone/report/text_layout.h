#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Width and layout of text for terminals.
namespace hone {

/// The target of a text. The defaults suit files and pipes.
struct TextStyle {
  std::size_t columns = 0;  ///< maximum length of lines; 0: unlimited
  bool colour = false;      ///< by terminal escape sequences
};

/// The meaning of a color. It guides the eye; the text always says the same.
enum class Tone {
  plain,
  good,     ///< green: within limits
  bad,      ///< red: beyond limits
  unclear,  ///< yellow: inconclusive
  quiet,    ///< dim: headers
};

/// Returns the text in the color of `tone`, if `style` has colors.
std::string toned(std::string text, Tone tone, const TextStyle& style);

/// Returns the columns of a terminal that the text occupies: two for wide characters, none for combining ones and
/// escape sequences for colors.
std::size_t display_width(std::string_view text);

/// Shortens the text to at most `columns` columns by replacing its middle with "…". Keeps more of the end than of the
/// beginning of a name without spaces: "bert.enc…attention.self.query".
std::string shortened(std::string_view text, std::size_t columns);

/// Shortens all texts to at most `columns` columns, keeping the same number of columns at their beginning (see
/// `shortened`), so that different ones remain different: "int(bits=8…namic)" and "int(bits=4…namic)". None if no
/// beginning achieves that.
std::optional<std::vector<std::string>> shortened_apart(const std::vector<std::string>& texts,
                                                        std::size_t columns);

/// Whether the space at this position belongs to a number, so that no line may end there: "4,000", "62.5%", "n = 36".
bool is_within_number(std::string_view text, std::size_t space);

/// Breaks a line at spaces, but not within numbers, so that no line is wider than `columns`, except for longer words.
/// Further lines begin with as many spaces as the first one. `columns` 0: returns the line itself.
std::vector<std::string> wrapped_line(std::string_view line, std::size_t columns);

/// Joins the parts with two spaces, on as many lines as necessary; further lines are indented. Breaks a part only if it
/// is wider than a line. `columns` 0: one line.
std::string stacked(const std::vector<std::string>& parts, std::size_t columns);

/// Breaks each line of a text like `wrapped_line`. A command ("  hone train …") is broken so that a shell reads it as
/// one: with a backslash at the end of its lines, and not within quotes or between an option and its value.
std::string wrapped_text(std::string_view text, std::size_t columns);

}  // namespace hone
