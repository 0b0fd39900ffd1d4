#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/data/encoded_set.h"
#include "hone/models/model_source.h"

/// A model with the tokens that its texts need: embeddings are most of a small model, and most of their rows are never read.
namespace hone {

/// Which tokens stay.
struct VocabularyCut {
  std::vector<std::int32_t> kept;  ///< their ids before, rising; the id of each is its place here
  std::int64_t before = 0;         ///< tokens
  std::int64_t lasting = 0;  ///< that stay whatever texts hold: special ones, single characters
  std::int64_t used = 0;     ///< that stand in the texts
};

/// What stays of the tokens of a model: the lasting ones (see text/trim_tokenizer.h) and those that its config names, those that
/// stand in `texts`, and what they are made through. With `keep` above 0 so many in all: of the others the most frequent, of
/// equally frequent ones the first. Throws `UserError` for fewer than must stay, and for more than there are.
VocabularyCut cut_vocabulary(const TextModel& source, const EncodedSet& texts, std::int64_t keep);

/// The model with these tokens: rows of embeddings, the tokenizer, and ids in its config. History tells it as the pass
/// `trim_vocabulary`. Throws `UserError` as that.
TextModel cut(const TextModel& source, const VocabularyCut& cut, const Session& session);

/// Writes such a model, and what stands beside it, into an existing folder; the tokenizer as `source`, that it was cut from,
/// has it in its files.
void write_cut_model(const TextModel& source, const TextModel& model, const VocabularyCut& cut,
                     const fs::path& folder);

/// A text that is other tokens after the cut.
struct RespelledText {
  std::int64_t row = 0;
  std::string before = {};  ///< the first token that went
  std::string after = {};   ///< what stands there now, apart by spaces
};

/// The texts that are other tokens to the second tokenizer than to the first, in order; both have read the same texts.
std::vector<RespelledText> respelled_texts(const Tokenizer& before, const EncodedSet& texts,
                                           const Tokenizer& after, const EncodedSet& again);

}  // namespace hone
