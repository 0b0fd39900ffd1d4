#include "hone/data/json_slices.h"

#include <algorithm>

#include "hone/base/error.h"

namespace hone {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Returns the size in bytes of the string at the front, quotes included; 0: it is not closed.
std::size_t string_size(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return 0;
}

// The same for an array or object.
std::size_t nested_size(std::string_view text) {
  std::int64_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      const std::size_t size = string_size(text.substr(i));
      if (size == 0) return 0;
      i += size - 1;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if ((c == ']' || c == '}') && --depth == 0) {
      return i + 1;
    }
  }
  return 0;
}

// The same for a number or a word.
std::size_t word_size(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size() && !is_space(text[size]) &&
         std::string_view(",:]}[{\"").find(text[size]) == std::string_view::npos)
    ++size;
  return size;
}

std::size_t value_size(std::string_view text) {
  if (text.starts_with('"')) return string_size(text);
  if (text.starts_with('[') || text.starts_with('{')) return nested_size(text);
  return word_size(text);
}

// Calls `read` with the rest of an array or object before each of its values; white space may occur anywhere.
template <typename Read>
void read_between(std::string_view nested, char end, const JsonText& file, const Read& read) {
  const std::string_view expected = end == ']' ? "expected ',' or ']'" : "expected ',' or '}'";
  std::string_view rest = nested.substr(1);
  skip_space(rest);
  if (rest.starts_with(end)) {
    rest.remove_prefix(1);
  } else {
    for (;;) {
      read(rest);
      skip_space(rest);
      if (rest.empty() || (rest.front() != ',' && rest.front() != end))
        file.refuse(rest.data(), expected);
      const bool last = rest.front() == end;
      rest.remove_prefix(1);
      if (last) break;
    }
  }
  skip_space(rest);
  if (!rest.empty()) file.refuse(rest.data(), "there is text after the end of the value");
}

}  // namespace

TextPosition JsonText::place_of(const char* piece) const {
  return position_after(text_.substr(0, static_cast<std::size_t>(piece - text_.data())), {});
}

void JsonText::refuse(const char* piece, std::string_view expected) const {
  const TextPosition at = place_of(piece);
  fail("line {}, column {}: malformed JSON: {}", at.line, at.column, expected);
}

void skip_space(std::string_view& rest) {
  while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
}

std::string_view cut_value(std::string_view& rest, const JsonText& file) {
  skip_space(rest);
  const std::size_t size = value_size(rest);
  if (size == 0)
    file.refuse(rest.data(), !rest.empty() && std::string_view("\"[{").find(rest.front()) !=
                                                  std::string_view::npos
                                 ? "a value that begins here is not closed; is the file cut off?"
                                 : "expected a value");
  const std::string_view value = rest.substr(0, size);
  rest.remove_prefix(size);
  return value;
}

std::vector<std::string_view> elements_of(std::string_view array, const JsonText& file) {
  std::vector<std::string_view> elements;
  read_between(array, ']', file,
               [&](std::string_view& rest) { elements.push_back(cut_value(rest, file)); });
  return elements;
}

void read_members(std::string_view object, const JsonText& file, std::vector<JsonMember>& members) {
  members.clear();
  read_between(object, '}', file, [&](std::string_view& rest) {
    skip_space(rest);
    if (!rest.starts_with('"')) file.refuse(rest.data(), "expected a key in quotes");
    const std::string_view key = cut_value(rest, file);
    skip_space(rest);
    if (!rest.starts_with(':')) file.refuse(rest.data(), "expected ':'");
    rest.remove_prefix(1);
    members.emplace_back(key, cut_value(rest, file));
  });
}

std::string string_of(std::string_view quoted, const JsonText& file) {
  const std::string_view inside = quoted.substr(1, quoted.size() - 2);
  if (inside.find('\\') == std::string_view::npos) return std::string(inside);
  // Finding the place is slow, and most strings are well-formed.
  try {
    return parse_json_part(quoted, {}).get<std::string>();
  } catch (const UserError&) {
    return parse_json_part(quoted, file.place_of(quoted.data())).get<std::string>();
  }
}

}  // namespace hone
