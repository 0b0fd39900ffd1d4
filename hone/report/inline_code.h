#pragma once

#include <string_view>
#include <vector>

/// The one mark that prose has: code in backticks, as in "Repeat with `hone bench`". A terminal shows the backticks; pages and
/// Markdown show code.
namespace hone {

/// A part of a sentence.
struct InlinePart {
  std::string_view text;  ///< of code without its backticks
  bool is_code = false;
};

/// The parts of a text, in their order; none is empty. A backtick without another one in its line is text, as are two in a row.
std::vector<InlinePart> inline_parts(std::string_view text);

}  // namespace hone
