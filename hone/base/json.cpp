#include "hone/base/json.h"

#include <array>
#include <cmath>

#include "hone/base/error.h"
#include "hone/base/git_lfs.h"
#include "hone/base/json_part.h"
#include "hone/base/printable.h"

namespace hone {

namespace {

constexpr int kMaxDepth = 100;
constexpr std::int64_t kMaxMembers = 20'000;

// Returns the parser's message without the exception name and the position, which is wrong for a part of a file.
// Shortens it, because it quotes the text.
std::string reason(std::string_view message) {
  constexpr std::size_t kShown = 300;
  if (message.starts_with("[json.exception")) message.remove_prefix(message.find("] ") + 2);
  if (message.starts_with("parse error at line ")) message.remove_prefix(message.find(": ") + 2);
  return shorten(message, kShown);
}

// The parser counts bytes from 1; at the end, the position is one past the last byte.
std::string place_of_error(std::string_view part, std::size_t byte, TextPosition begin) {
  const TextPosition at = position_after(part.substr(0, byte > 0 ? byte - 1 : 0), begin);
  return fmt::format("line {}, column {}", at.line, at.column);
}

// Malformed text may be misread here, but only after the position where the parser stops.
void check_structure(std::string_view text, std::int64_t most_members) {
  std::array<std::int64_t, kMaxDepth + 1>
      members{};  // of the current object or array at each depth
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      user_check(++depth <= kMaxDepth, "the JSON is nested deeper than {}", kMaxDepth);
      members[depth] = 0;
    } else if (c == ']' || c == '}') {
      depth -= depth > 0 ? 1 : 0;
    } else if (c == ':') {
      user_check(++members[depth] <= most_members, "an object has more than {} keys", most_members);
    }
  }
}

template <typename Value>
Value parse(std::string_view text, TextPosition begin) {
  try {
    return Value::parse(text);
  } catch (const typename Value::parse_error& error) {
    fail("{}: malformed JSON: {}", place_of_error(text, error.byte, begin), reason(error.what()));
  } catch (const typename Value::exception& error) {  // out_of_range, for 1e999, has no position
    fail("malformed JSON from line {} on: {}", begin.line, reason(error.what()));
  }
}

}  // namespace

TextPosition position_after(std::string_view text, TextPosition at) {
  for (const char c : text) at = position_after(c, at);
  return at;
}

Json parse_json(std::string_view text, std::string_view where) {
  return with_context(where, [&] {
    check_structure(text, kMaxMembers);
    return parse<Json>(text, {});
  });
}

Json parse_json_part(std::string_view part, TextPosition begin) {
  with_context(fmt::format("line {}", begin.line), [&] { check_structure(part, kMaxMembers); });
  return parse<Json>(part, begin);
}

LargeJson parse_large_json(std::string_view text) {
  check_structure(text, INT64_MAX);
  return parse<LargeJson>(text, {});
}

Json read_json(const fs::path& path) {
  const std::string text = read_file(path);
  refuse_git_lfs_pointer(path, text, "its contents");
  return parse_json(text, path.string());
}

std::string to_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_document(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

double number_or_nan(const Json& value) {
  return value.is_number() ? value.get<double>() : std::nan("");
}

}  // namespace hone
