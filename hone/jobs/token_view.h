#pragma once

#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/data/data_set.h"
#include "hone/text/tokenizer.h"

/// What a tokenizer makes of one text, to be looked at.
namespace hone {

struct TokenView {
  std::string part = {};  ///< of the data: "train"
  std::int64_t row = 0;   ///< in the part, from 1
  Example example = {};
  std::vector<std::int32_t> input_ids = {};
  std::vector<std::string> tokens = {};         ///< of these ids, as they stand in the vocabulary
  std::vector<std::string> shown = {};          ///< the same as people read them
  std::int64_t cut_tokens = 0;                  ///< that did not fit
  std::vector<std::string> unknown_words = {};  ///< normalized, in order, of the whole text
};

/// `max_length` and `truncation` as in `Tokenizer::encode`.
TokenView view_tokens(const Tokenizer& tokenizer, const Example& example, std::size_t max_length,
                      std::optional<Truncation> truncation = {});

/// The tokens with their ids below them, in lines of at most `columns` columns of a terminal where the tokens allow it (0:
/// of any length):
///
///     train 3: A fine film 🎬
///       [CLS]     a  fine  film  [UNK]  [SEP]
///           2  1037  2986  2143      1      3
///       6 tokens; unknown: 🎬
///
/// Pieces of bytes are shown as the text they spell, a space as "␣", bytes within a character as \xf0.
std::string to_text(const TokenView& view, std::size_t columns);
Json to_json(const TokenView& view);

}  // namespace hone
