#pragma once

#include <string_view>
#include <vector>

/// Code in backticks, the only markup in prose, as in "Repeat with `hone bench`". A terminal shows the backticks; pages
/// and Markdown show code.
namespace hone {

/// A part of a sentence.
struct InlinePart {
  std::string_view text;  ///< code is without its backticks
  bool is_code = false;
};

/// Splits a text into its parts, none of them empty. A backtick without another one in its line is text, as are two in
/// a row.
std::vector<InlinePart> inline_parts(std::string_view text);

}  // namespace hone
