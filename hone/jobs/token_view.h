#pragma once

#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/data/data_set.h"
#include "hone/text/tokenizer.h"

/// The tokens of one text, for display.
namespace hone {

struct TokenView {
  std::string split = {};  ///< the split: "train"
  std::int64_t row = 0;    ///< in the split, from 1
  Example example = {};
  std::vector<std::int32_t> input_ids = {};
  std::vector<std::string> tokens = {};         ///< of these ids, as in the vocabulary
  std::vector<std::string> shown = {};          ///< the same in readable form
  std::int64_t cut_tokens = 0;                  ///< removed by truncation
  std::vector<std::string> unknown_words = {};  ///< of the whole text, normalized, in order

  const std::string& text() const { return example.text; }
  const std::optional<std::string>& text_pair() const { return example.text_pair; }
};
const Fields& fields_of(const TokenView*);

/// `max_length` and `truncation`: see `Tokenizer::encode`.
TokenView view_tokens(const Tokenizer& tokenizer, const Example& example, std::size_t max_length,
                      std::optional<Truncation> truncation = {});

/// Formats the tokens with their ids below, in lines of at most `columns` columns if the tokens allow it (0:
/// unlimited):
///
///     train 3: A fine film 🎬
///       [CLS]     a  fine  film  [UNK]  [SEP]
///           2  1037  2986  2143      1      3
///       6 tokens; unknown: 🎬
///
/// Byte-level tokens are shown as the text that they encode, a space as "␣", bytes within a character as \xf0.
std::string to_text(const TokenView& view, std::size_t columns);

}  // namespace hone
