#include "hone/base/json.h"

#include <array>

#include "hone/base/error.h"

namespace hone {

namespace {

constexpr int kMaxDepth = 100;
constexpr std::int64_t kMaxMembers = 20'000;

// The parser's messages begin with the name of its exception, and quote the text, however long.
std::string shortened(std::string_view message) {
  constexpr std::size_t kShown = 300;
  if (message.starts_with("[json.exception")) message.remove_prefix(message.find("] ") + 2);
  return message.size() <= kShown ? std::string(message)
                                  : fmt::format("{} …", message.substr(0, kShown));
}

// Malformed text may be misread here, but only behind the place where the parser stops.
void check_structure(std::string_view text, std::int64_t most_members) {
  std::array<std::int64_t, kMaxDepth + 1> members{};  // of the object or array of each depth
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
Value parse(std::string_view text, std::int64_t most_members) {
  check_structure(text, most_members);
  try {
    return Value::parse(text);
  } catch (const typename Value::exception& error) {  // also out_of_range, for 1e999
    fail("malformed JSON: {}", shortened(error.what()));
  }
}

}  // namespace

Json parse_json(std::string_view text, std::string_view where) {
  return with_context(where, [&] { return parse<Json>(text, kMaxMembers); });
}

LargeJson parse_large_json(std::string_view text) { return parse<LargeJson>(text, INT64_MAX); }

Json read_json(const fs::path& path) { return parse_json(read_file(path), path.string()); }

std::string to_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_document(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hone
