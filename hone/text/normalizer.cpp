#include "hone/text/normalizer.h"

#include <algorithm>

#include "hone/text/character.h"

namespace hone {
namespace {

// One row of the table of well-formed UTF-8 (Unicode 15, table 3-7): lead bytes, continuation bytes
// that follow, and the allowed first continuation byte, which rules out overlong forms, surrogates
// and values above U+10FFFF.
struct LeadBytes {
  unsigned char first, last;
  int continuations;
  unsigned char second_low, second_high;
};
constexpr LeadBytes kLeadBytes[] = {
    {0xc2, 0xdf, 1, 0x80, 0xbf}, {0xe0, 0xe0, 2, 0xa0, 0xbf}, {0xe1, 0xec, 2, 0x80, 0xbf},
    {0xed, 0xed, 2, 0x80, 0x9f}, {0xee, 0xef, 2, 0x80, 0xbf}, {0xf0, 0xf0, 3, 0x90, 0xbf},
    {0xf1, 0xf3, 3, 0x80, 0xbf}, {0xf4, 0xf4, 3, 0x80, 0x8f},
};

// Returns the code point at the front of `text`, or the length of the ill-formed sequence there. `text` begins with a
// byte >= 0x80.
DecodedCharacter decode_beyond_ascii(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const LeadBytes* lead = std::find_if(
      std::begin(kLeadBytes), std::end(kLeadBytes),
      [&](const LeadBytes& row) { return row.first <= byte(0) && byte(0) <= row.last; });
  if (lead == std::end(kLeadBytes)) return {0xfffd, 1, false};
  char32_t value = byte(0) & (0x3fu >> lead->continuations);
  unsigned char low = lead->second_low;
  unsigned char high = lead->second_high;
  for (std::size_t i = 1; i <= static_cast<std::size_t>(lead->continuations); ++i) {
    if (i >= text.size() || byte(i) < low || byte(i) > high) return {0xfffd, i, false};
    value = value << 6 | (byte(i) & 0x3fu);
    low = 0x80;
    high = 0xbf;
  }
  return {value, static_cast<std::size_t>(lead->continuations) + 1, true};
}

}  // namespace

DecodedCharacter decode_first(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  return first < 0x80 ? DecodedCharacter{first, 1, true} : decode_beyond_ascii(text);
}

std::int64_t decode_utf8(std::string_view text, CodePoints& out) {
  std::int64_t replaced = 0;
  while (!text.empty()) {
    const DecodedCharacter decoded = decode_first(text);
    out.push_back(decoded.value);
    replaced += !decoded.valid;
    text.remove_prefix(decoded.bytes);
  }
  return replaced;
}

void append_utf8(char32_t c, std::string& out) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xc0 | c >> 6);
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3f));
  } else {
    put(0xf0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3f));
    put(0x80 | (c >> 6 & 0x3f));
  }
  put(0x80 | (c & 0x3f));
}

void clean_text(const CodePoints& in, CodePoints& out) {
  for (const char32_t c : in) {
    if (!is_removed(c)) out.push_back(is_white_space(c) ? U' ' : c);
  }
}

void split_cjk(const CodePoints& in, CodePoints& out) {
  for (const char32_t c : in) {
    if (is_cjk_ideograph(c)) {
      out.insert(out.end(), {U' ', c, U' '});
    } else {
      out.push_back(c);
    }
  }
}

void strip_accents(const CodePoints& in, CodePoints& out) {
  // Sorts marks between two starters stably by combining class. A dropped mark matters only if it is a starter, which
  // ends such a stretch.
  std::size_t stretch = out.size();
  for (const char32_t c : in) {
    for (const char32_t part : decompose(c)) {
      const int order = combining_class(part);
      if (!is_nonspacing_mark(part)) {
        std::size_t at = out.size();
        while (order != 0 && at > stretch && combining_class(out[at - 1]) > order) --at;
        out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), part);
      }
      if (order == 0) stretch = out.size();
    }
  }
}

void lowercase(const CodePoints& in, CodePoints& out) {
  for (const char32_t c : in) {
    const ShortSequence lower = to_lower(c);
    out.insert(out.end(), lower.begin(), lower.end());
  }
}

void normalize(const Normalization& normalization, CodePoints& text, CodePoints& scratch) {
  const auto apply = [&](bool wanted, void (*step)(const CodePoints&, CodePoints&)) {
    if (!wanted) return;
    scratch.clear();
    step(text, scratch);
    text.swap(scratch);
  };
  apply(normalization.clean_text, clean_text);
  apply(normalization.split_cjk, split_cjk);
  apply(normalization.strip_accents, strip_accents);
  apply(normalization.lowercase, lowercase);
}

std::string normalize(const Normalization& normalization, std::string_view text) {
  CodePoints points;
  CodePoints scratch;
  decode_utf8(text, points);
  normalize(normalization, points, scratch);
  std::string result;
  for (const char32_t c : points) append_utf8(c, result);
  return result;
}

}  // namespace hone
