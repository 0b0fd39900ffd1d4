#include "hone/text/utf8.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "hone/base/text.h"
#include "hone/text/character.h"

namespace hone {
namespace {

// Returns the size of the ASCII prefix.
std::size_t ascii_prefix(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  std::size_t i = 0;
  for (; i + sizeof(std::uint64_t) <= text.size(); i += sizeof(std::uint64_t)) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + i, sizeof bytes);
    if ((bytes & kHighBits) != 0) break;
  }
  while (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80) ++i;
  return i;
}

// Returns the size of the non-ASCII prefix.
std::size_t other_prefix(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size() && static_cast<unsigned char>(text[i]) >= 0x80) ++i;
  return i;
}

}  // namespace

bool is_utf8(std::string_view text) {
  CodePoints points;
  for (;;) {
    text.remove_prefix(ascii_prefix(text));
    if (text.empty()) return true;
    points.clear();
    const std::size_t size = other_prefix(text);
    if (decode_utf8(text.substr(0, size), points) > 0) return false;
    text.remove_prefix(size);
  }
}

DecodedCharacter decode_last(std::string_view text) {
  std::size_t last = text.size() - 1;
  while (last > 0 && (static_cast<unsigned char>(text[last]) & 0xc0) == 0x80) --last;
  return decode_first(text.substr(last));
}

std::size_t trailing_space_size(std::string_view text) {
  const std::size_t size = text.size();
  while (!text.empty()) {
    const DecodedCharacter c = decode_last(text);
    if (!is_white_space(c.value)) break;
    text.remove_suffix(c.bytes);
  }
  return size - text.size();
}

std::string not_utf8_warning(std::int64_t replaced) {
  return fmt::format(
      "{} {} read as U+FFFD; the texts are not UTF-8: name their encoding by `encoding`, e.g. "
      "latin-1",
      counted_text(replaced, "ill-formed byte"), replaced == 1 ? "was" : "were");
}

std::string composed(std::string_view text) {
  utf8proc_uint8_t* result = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), std::ssize(text),
                   &result, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(result, &std::free);
  if (size < 0) return std::string(text);
  return {reinterpret_cast<const char*>(result), static_cast<std::size_t>(size)};
}

std::string repair_utf8(std::string_view text, std::int64_t& replaced) {
  CodePoints points;
  replaced += decode_utf8(text, points);
  std::string result;
  for (const char32_t c : points) append_utf8(c, result);
  return result;
}

}  // namespace hone
