#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/json_part.h"

/// Cuts values of a JSON file out as text, so that only the requested ones are parsed. The text between values is
/// validated here; the text inside them by their parser.
namespace hone {

/// The text of a file, for locating its pieces.
class JsonText {
 public:
  explicit JsonText(std::string_view text) : text_(text) {}

  std::string_view text() const { return text_; }
  TextPosition place_of(const char* piece) const;
  /// Throws `UserError`: "line 3, column 5: malformed JSON: expected ',' or '}'".
  [[noreturn]] void refuse(const char* piece, std::string_view expected) const;

 private:
  std::string_view text_;
};

/// Removes white space from the front.
void skip_space(std::string_view& rest);

/// Removes the first value, with white space in front of it, from `rest` and returns it. Throws
/// `UserError` for none, and for a string, array or object that is not closed.
std::string_view cut_value(std::string_view& rest, const JsonText& file);

/// Returns the elements of `array`, which begins with '['.
std::vector<std::string_view> elements_of(std::string_view array, const JsonText& file);

/// A key, with its quotes, and its value.
using JsonMember = std::pair<std::string_view, std::string_view>;

/// Replaces `members` by those of `object`, which begins with '{', in their order.
void read_members(std::string_view object, const JsonText& file, std::vector<JsonMember>& members);

/// Returns the text of a quoted string, usually a key.
std::string string_of(std::string_view quoted, const JsonText& file);

}  // namespace hone
