#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "hone/base/fields.h"

namespace hone {

/// Which tokens of a text are kept when it has too many.
enum class Truncation {
  head,  ///< the first ones: `truncation_side` "right" of Hugging Face
  tail,  ///< the last ones: `truncation_side` "left"
  /// The first quarter of those that are kept, rounded down, from the beginning, the others from the end. After the first 128
  /// and last 382 of 510 in Sun et al. 2019, "How to Fine-Tune BERT for Text Classification?", arXiv:1905.05583.
  head_tail
};

std::span<const EnumWord> enum_words(Truncation);
/// "head", "tail", "head_tail".
std::string to_string(Truncation truncation);
/// Throws `UserError` for any other name.
Truncation parse_truncation(std::string_view name);

/// Behind a number of tokens which ones they are: " (the last ones)"; empty for the first ones.
std::string_view kept_tokens_text(Truncation truncation);

/// Of `count` tokens that are kept, how many are the first ones of the text; the others are its last ones.
std::size_t kept_from_beginning(Truncation truncation, std::size_t count);

}  // namespace hone
