#pragma once

#include <cstdint>

/// Classes and mappings of single code points, exactly as the `tokenizers` library of Hugging Face
/// sees them.
///
/// That library carries category tables of Unicode 8, and of a much newer Unicode the lower case and
/// what is a letter or a number; a model trained with it has seen text through these tables. So
/// utf8proc gives the answer, and short exception tables restore the difference.
namespace hone {

/// Removed by BERT's cleaning: categories Cc, Cf, Cs and Co except tab, newline and carriage
/// return; NUL; U+FFFD.
bool is_removed(char32_t c);

/// The Unicode property White_Space.
bool is_white_space(char32_t c);

/// A word of its own: the categories P* and every ASCII mark, "$", "+" and "~" included.
bool is_punctuation(char32_t c);

/// Categories L*: letters of all scripts, ideographs among them.
bool is_letter(char32_t c);

/// Categories N*: digits, but also numerals like Ⅷ, ² and ½.
bool is_number(char32_t c);

/// What "\\w" matches in the regular expressions of Rust: letters, marks, decimal digits, letter
/// numbers, connectors such as "_", the two joiners, and letters in circles and squares.
bool is_word_character(char32_t c);

/// An ideograph of the blocks that BERT sets apart by spaces. Neither kana nor hangul.
bool is_cjk_ideograph(char32_t c);

/// Category Mn: what is left of an accent after canonical decomposition.
bool is_nonspacing_mark(char32_t c);

/// The canonical combining class; 0 for a starter.
int combining_class(char32_t c);

/// Longest canonical decomposition of one code point in Unicode 15 is 4 code points; one lower case
/// is at most 2.
struct ShortSequence {
  char32_t values[4];
  int size;
  const char32_t* begin() const { return values; }
  const char32_t* end() const { return values + size; }
};

/// Full canonical decomposition (NFD of this code point alone).
ShortSequence decompose(char32_t c);

/// Full lower case without context: the final sigma is not special, U+0130 becomes "i" and a dot
/// above.
ShortSequence to_lower(char32_t c);

}  // namespace hone
