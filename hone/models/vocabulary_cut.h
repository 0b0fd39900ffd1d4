#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/data/encoded_set.h"
#include "hone/models/model_source.h"

/// Removes the vocabulary entries that a model's texts do not need: embeddings are most of a small model, and most rows
/// are never read.
namespace hone {

/// The tokens to keep.
struct VocabularyCut {
  std::vector<std::int32_t> kept;  ///< old ids in ascending order; the new id is the index
  std::int64_t before = 0;         ///< number of tokens before
  std::int64_t lasting = 0;        ///< always kept: special tokens, single characters
  std::int64_t used = 0;           ///< occur in the texts
};

/// Selects the tokens to keep: the lasting ones (see text/trim_tokenizer.h), those that the config names, those in
/// `texts`, and the tokens that these are merged from. A positive `keep` is the total number: it is filled up with the
/// most frequent tokens, ties by lower id. Throws `UserError` if `keep` is less than the required tokens, or more than
/// there are.
VocabularyCut cut_vocabulary(const TextModel& source, const EncodedSet& texts, std::int64_t keep);

/// Returns the model with only these tokens in the embeddings, the tokenizer and the ids of its config. The history
/// records it as the pass `trim_vocabulary`. Throws `UserError` like that pass.
TextModel cut(const TextModel& source, const VocabularyCut& cut, const Session& session);

/// Writes such a model with its other files into an existing folder; the tokenizer's files are based on those of
/// `source`, the original model.
void write_cut_model(const TextModel& source, const TextModel& model, const VocabularyCut& cut,
                     const fs::path& folder);

/// A text that is tokenized differently after the cut.
struct RespelledText {
  std::int64_t row = 0;
  std::string before = {};  ///< the first removed token
  std::string after = {};   ///< its replacement, separated by spaces
};

/// Returns the texts that the two tokenizers tokenize differently, in order; both encoded the same texts.
std::vector<RespelledText> respelled_texts(const Tokenizer& before, const EncodedSet& texts,
                                           const Tokenizer& after, const EncodedSet& again);

}  // namespace hone
