#include "hone/base/printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone {
namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// Returns at most the last `characters` characters of UTF-8 text.
std::string_view last_characters(std::string_view text, std::size_t characters) {
  std::size_t begin = text.size();
  for (; begin > 0 && characters > 0; --characters) {
    std::size_t bytes = 1;
    while (bytes < 4 && bytes < begin && continues(text[begin - bytes])) ++bytes;
    begin -= bytes;
  }
  return text.substr(begin);
}

}  // namespace

std::string_view first_characters(std::string_view text, std::size_t characters) {
  std::size_t end = 0;
  for (; end < text.size() && characters > 0; --characters) {
    std::size_t bytes = 1;
    while (bytes < 4 && end + bytes < text.size() && continues(text[end + bytes])) ++bytes;
    end += bytes;
  }
  return text.substr(0, end);
}

std::string shorten(std::string_view text, std::size_t characters) {
  if (first_characters(text, characters).size() == text.size()) return std::string(text);
  const std::size_t last = (characters - 1) / 2;
  return fmt::format("{}…{}", first_characters(text, characters - 1 - last),
                     last_characters(text, last));
}

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !continues(byte); }));
}

std::string one_line(std::string_view text, std::size_t characters) {
  std::string line = shorten(text, characters);
  for (char& c : line)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  return line;
}

std::string shown_name(std::string_view name, std::size_t characters) {
  std::string shown;
  for (const char c : printable(shorten(name, characters)))
    shown += c == '\n' ? "\\n" : c == '\t' ? "\\t" : std::string(1, c);
  return shown;
}

std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // The control characters U+0080 to U+009F are two bytes in UTF-8.
    const bool second_half =
        byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (second_half) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[++i]));
    } else if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += text[i];
    }
  }
  return shown;
}

std::string printable_message(std::string_view message) {
  constexpr std::size_t kMaxCharacters = 3000;
  return printable(shorten(message, kMaxCharacters));
}

}  // namespace hone
