#pragma once

#include <string>
#include <vector>

#include "hone/frontends/huggingface/sentence_modules.h"
#include "hone/models/text_limit.h"

namespace hone {

/// A model that gives texts vectors.
struct EmbeddingModel {
  TextModel
      source;  ///< its tokenizer writes small where the modules ask for it; its head is not used
  SentenceModules modules;
};

/// Opens the model called `name` (see open_model) for the embeddings of texts: a folder of sentence-transformers, or any
/// other, whose tokens' mean is taken then. A classification head may be there or not. Throws as `open_model` and
/// `read_sentence_modules` do.
EmbeddingModel open_embedding_model(const std::string& name, Context& context, std::uint64_t seed);

/// Where its texts are cut: `max_seq_length` if positive, else what its folder says, but never more than its positions.
TextLimit text_limit(const TextCut& cut, const EmbeddingModel& model);

/// What the vectors are, for people: their pooling and who chose it, a prompt that stands in front of the texts.
std::vector<std::string> embedding_notes(const EmbeddingModel& model);

}  // namespace hone
