#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// BERT's text normalization on code points, step by step: clean, set ideographs apart, strip
/// accents, lower case.
///
/// The tokenizer calls it for runs of text that are not pure ASCII; ASCII takes a shorter way with
/// the same answer.
namespace hone {

/// What a tokenizer does to text before it looks for words. The defaults are those of the uncased
/// models.
struct Normalization {
  bool clean_text = true;     ///< remove control characters, turn white space into spaces
  bool split_cjk = true;      ///< put a space on either side of every ideograph
  bool strip_accents = true;  ///< decompose canonically, then drop nonspacing marks
  bool lowercase = true;
  friend bool operator==(const Normalization&, const Normalization&) = default;
};

using CodePoints = std::vector<char32_t>;

/// What UTF-8 begins with.
struct DecodedCharacter {
  char32_t value;     ///< U+FFFD for an ill-formed part
  std::size_t bytes;  ///< of the text, from 1
  bool valid;
};
/// The first code point of `text`, which is not empty, or its ill-formed part there (maximal
/// subpart, Unicode 15, section 3.9).
DecodedCharacter decode_first(std::string_view text);

/// Appends the code points of UTF-8 `text`. Every ill-formed part becomes one
/// U+FFFD. Returns how many there were.
std::int64_t decode_utf8(std::string_view text, CodePoints& out);

/// Appends one code point as UTF-8.
void append_utf8(char32_t c, std::string& out);

/// Appends `in` without the characters of `is_removed`, white space as U+0020.
void clean_text(const CodePoints& in, CodePoints& out);
/// Appends `in` with a space before and after every ideograph.
void split_cjk(const CodePoints& in, CodePoints& out);
/// Appends the canonical decomposition of `in`, in canonical order, without nonspacing marks.
void strip_accents(const CodePoints& in, CodePoints& out);
/// Appends the lower case of `in`.
void lowercase(const CodePoints& in, CodePoints& out);

/// Applies the steps that `normalization` asks for, in the order above. `scratch` only saves
/// allocations.
void normalize(const Normalization& normalization, CodePoints& text, CodePoints& scratch);

/// The same from UTF-8 to UTF-8.
std::string normalize(const Normalization& normalization, std::string_view text);

}  // namespace hone
