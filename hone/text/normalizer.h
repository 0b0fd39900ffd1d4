#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// BERT's text normalization on code points, step by step: clean, separate ideographs, strip accents, lower case.
///
/// The tokenizer uses it for runs of text that are not pure ASCII; ASCII has a fast path with the same result.
namespace hone {

/// Normalization of text before it is split into words. The defaults are those of the uncased models.
struct Normalization {
  bool clean_text = true;     ///< remove control characters, turn white space into spaces
  bool split_cjk = true;      ///< put a space on either side of every ideograph
  bool strip_accents = true;  ///< decompose canonically, then drop nonspacing marks
  bool lowercase = true;
  friend bool operator==(const Normalization&, const Normalization&) = default;
};

using CodePoints = std::vector<char32_t>;

/// The first code point of UTF-8.
struct DecodedCharacter {
  char32_t value;     ///< U+FFFD for an ill-formed sequence
  std::size_t bytes;  ///< at least 1
  bool valid;
};
/// Decodes the first code point of `text`, which is not empty, or the ill-formed sequence there (maximal subpart,
/// Unicode 15, section 3.9).
DecodedCharacter decode_first(std::string_view text);

/// Appends the code points of UTF-8 `text`, with U+FFFD for each ill-formed sequence. Returns the number of these.
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

/// Applies the steps that `normalization` enables, in the order above. `scratch` only saves allocations.
void normalize(const Normalization& normalization, CodePoints& text, CodePoints& scratch);

/// The same for UTF-8 text.
std::string normalize(const Normalization& normalization, std::string_view text);

}  // namespace hone
