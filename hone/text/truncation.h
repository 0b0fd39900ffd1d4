#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "hone/base/fields.h"

namespace hone {

/// The tokens to keep of a text that has too many.
enum class Truncation {
  head,  ///< the first ones: Hugging Face's `truncation_side` "right"
  tail,  ///< the last ones: `truncation_side` "left"
  /// A quarter of the kept tokens, rounded down, from the beginning, the rest from the end. Follows the first 128 and
  /// last 382 of 510 in Sun et al. 2019, "How to Fine-Tune BERT for Text Classification?", arXiv:1905.05583.
  head_tail
};

std::span<const EnumName> enum_names(Truncation);
/// Returns "head", "tail" or "head_tail".
std::string to_string(Truncation truncation);
/// Parses a name. Throws `UserError` for any other.
Truncation parse_truncation(std::string_view name);

/// Returns text that follows a number of tokens: " (the last ones)"; "" for the first ones.
std::string_view kept_tokens_text(Truncation truncation);

/// Returns how many of `count` kept tokens are the first ones of the text; the others are its last ones.
std::size_t head_token_count(Truncation truncation, std::size_t count);

}  // namespace hone
