#pragma once

#include <cstdint>

/// Classes and mappings of single code points, identical to those of Hugging Face's `tokenizers` library.
///
/// That library contains category tables of Unicode 8, but uses a much newer Unicode for lower case, letters and
/// numbers. A model trained with it has seen text through these tables. So utf8proc provides the data, and short
/// exception tables restore the differences.
namespace hone {

/// Returns whether BERT's cleaning removes `c`: categories Cc, Cf, Cs and Co except tab, newline and carriage return;
/// NUL; U+FFFD.
bool is_removed(char32_t c);

/// Returns the Unicode property White_Space.
bool is_white_space(char32_t c);

/// Returns whether `c` is a word of its own: categories P*, and all ASCII punctuation including "$", "+" and "~".
bool is_punctuation(char32_t c);

/// Returns whether `c` is in categories L*: letters of all scripts, including ideographs.
bool is_letter(char32_t c);

/// Returns whether `c` is in categories N*: digits, and numerals like Ⅷ, ² and ½.
bool is_number(char32_t c);

/// Returns whether `c` matches `\w` in Rust's regular expressions: letters, marks, decimal digits, letter numbers,
/// connectors such as "_", the two joiners, and letters in circles and squares.
bool is_word_character(char32_t c);

/// Returns whether `c` is an ideograph in the blocks that BERT surrounds with spaces. Excludes kana and hangul.
bool is_cjk_ideograph(char32_t c);

/// Returns whether `c` is in category Mn: accents after canonical decomposition.
bool is_nonspacing_mark(char32_t c);

/// Returns the canonical combining class; 0 for a starter.
int combining_class(char32_t c);

/// The longest canonical decomposition of a code point in Unicode 15 has 4 code points, the longest lower case 2.
struct ShortSequence {
  char32_t values[4];
  int size;
  const char32_t* begin() const { return values; }
  const char32_t* end() const { return values + size; }
};

/// Returns the full canonical decomposition (NFD of this code point alone).
ShortSequence decompose(char32_t c);

/// Returns the full lower case without context: the final sigma is not special, U+0130 becomes "i" and a dot above.
ShortSequence to_lower(char32_t c);

}  // namespace hone
