#include "hone/ir/quoted.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>

#include "hone/base/error.h"

namespace hone {

bool is_word_character(char character) {
  return std::isalnum(static_cast<unsigned char>(character)) != 0 ||
         std::string_view("_.-/").find(character) != std::string_view::npos;
}

std::string quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\')
      quoted += {'\\', character};
    else if (code < 0x20 || code == 0x7f)
      quoted += fmt::format("\\x{:02x}", code);
    else
      quoted += character;
  }
  return quoted + '"';
}

std::string take_quoted(std::string_view& from) {
  std::string text;
  std::size_t at = 1;
  const auto more = [&](std::size_t characters) {
    user_check(at + characters <= from.size(), "a quoted text has no closing quote");
  };
  for (more(1); from[at] != '"'; more(1)) {
    if (from[at] != '\\') {
      text += from[at++];
      continue;
    }
    more(2);
    const char escape = from[at + 1];
    at += 2;
    if (escape == '"' || escape == '\\') {
      text += escape;
      continue;
    }
    user_check(escape == 'x', "expected \\\", \\\\ or \\xNN in a quoted text, got '\\{}'", escape);
    more(2);
    unsigned code = 0;
    const char* const end = from.data() + at + 2;
    const auto parsed = std::from_chars(from.data() + at, end, code, 16);
    user_check(parsed.ec == std::errc{} && parsed.ptr == end,
               "expected two hexadecimal digits after \\x in a quoted text");
    text += static_cast<char>(code);
    at += 2;
  }
  from.remove_prefix(at + 1);
  return text;
}

}  // namespace hone
