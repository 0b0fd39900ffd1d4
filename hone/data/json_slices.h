#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/json_part.h"

/// Values of a JSON file that are cut out as text, so that only what is asked for is parsed. What
/// is inside of a value is for its parser to judge; what stands between values is checked here.
namespace hone {

/// A file's text, to say where in it a piece begins.
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

/// Returns the text of a string with its quotes; a key, usually.
std::string string_of(std::string_view quoted, const JsonText& file);

}  // namespace hone
