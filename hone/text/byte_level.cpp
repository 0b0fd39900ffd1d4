#include "hone/text/byte_level.h"

#include <fmt/format.h>

#include <array>

#include "hone/text/character.h"
#include "hone/text/normalizer.h"

namespace hone {
namespace {

constexpr bool is_visible(unsigned char byte) {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte != 0xad);
}

// Maps bytes to characters.
constexpr std::array<char32_t, 256> byte_characters() {
  std::array<char32_t, 256> characters{};
  char32_t hidden = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte)
    characters[byte] = is_visible(static_cast<unsigned char>(byte)) ? byte : hidden++;
  return characters;
}
constexpr std::array kCharacters = byte_characters();
static_assert(kCharacters['a'] == 'a' && kCharacters[' '] == U'Ġ' && kCharacters[0xad] == 0x143);

// Maps characters to bytes, or -1.
constexpr std::array<int, 0x144> character_bytes() {
  std::array<int, 0x144> bytes{};
  for (int& byte : bytes) byte = -1;
  for (unsigned byte = 0; byte < 256; ++byte) bytes[kCharacters[byte]] = static_cast<int>(byte);
  return bytes;
}
constexpr std::array kBytes = character_bytes();

enum class Kind : unsigned char { letter, number, space, other };

constexpr std::array<Kind, 0x80> ascii_kinds() {
  std::array<Kind, 0x80> kinds{};
  for (unsigned c = 0; c < kinds.size(); ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool number = c >= '0' && c <= '9', space = c == ' ' || (c >= '\t' && c <= '\r');
    kinds[c] = letter ? Kind::letter : number ? Kind::number : space ? Kind::space : Kind::other;
  }
  return kinds;
}
constexpr std::array kAsciiKinds = ascii_kinds();

struct Character {
  Kind kind;
  std::size_t bytes;
};

Character character_at(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x80) return {kAsciiKinds[byte], 1};
  const DecodedCharacter decoded = decode_first(text.substr(at));
  const char32_t c = decoded.value;
  const Kind kind = is_letter(c)        ? Kind::letter
                    : is_number(c)      ? Kind::number
                    : is_white_space(c) ? Kind::space
                                        : Kind::other;
  return {kind, decoded.bytes};
}

// Returns the end of a run of characters of one kind that continues at `at`.
std::size_t run_end(std::string_view text, std::size_t at, Kind kind) {
  while (at < text.size()) {
    const Character next = character_at(text, at);
    if (next.kind != kind) break;
    at += next.bytes;
  }
  return at;
}

// Returns the size of the contraction at the start of the text, or 0.
std::size_t contraction(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.starts_with(ending)) return ending.size();
  return 0;
}

}  // namespace

char32_t byte_character(unsigned char byte) { return kCharacters[byte]; }

std::optional<std::string> bytes_of(std::string_view token) {
  std::string bytes;
  while (!token.empty()) {
    const DecodedCharacter c = decode_first(token);
    const int byte = c.value < kBytes.size() ? kBytes[c.value] : -1;
    if (byte < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(byte));
    token.remove_prefix(c.bytes);
  }
  return bytes;
}

std::string shown_bytes(std::string_view bytes) {
  std::string shown;
  while (!bytes.empty()) {
    const DecodedCharacter c = decode_first(bytes);
    if (c.value == ' ') {
      shown += "␣";
    } else if (c.valid) {
      shown += bytes.substr(0, c.bytes);
    } else {
      for (const char byte : bytes.substr(0, c.bytes))
        shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    }
    bytes.remove_prefix(c.bytes);
  }
  return shown;
}

std::size_t word_end(std::string_view text, std::size_t begin) {
  if (text[begin] == '\'')
    if (const std::size_t bytes = contraction(text.substr(begin))) return begin + bytes;
  const Character first = character_at(text, begin);
  std::size_t at = begin + first.bytes;
  if (first.kind != Kind::space) return run_end(text, at, first.kind);
  std::size_t last = begin;  // last white space character
  while (at < text.size()) {
    const Character next = character_at(text, at);
    if (next.kind != Kind::space) {
      if (last > begin) return last;
      return text[begin] == ' ' ? run_end(text, at + next.bytes, next.kind) : at;
    }
    last = at;
    at += next.bytes;
  }
  return at;
}

}  // namespace hone
