#pragma once

#include <string>
#include <vector>

#include "hone/frontends/huggingface/sentence_modules.h"
#include "hone/models/text_limit.h"

namespace hone {

/// A model that computes embeddings of texts.
struct EmbeddingModel {
  TextModel source;  ///< its tokenizer lowercases if the modules require it; its head is not used
  SentenceModules modules;
};

/// Opens the model called `name` (see open_model) for text embeddings: a folder of sentence-transformers, or any other,
/// with mean pooling. A classification head is optional. Throws like `open_model` and `read_sentence_modules`.
EmbeddingModel open_embedding_model(const std::string& name, Context& context, std::uint64_t seed);

/// Returns the maximum length of texts: `max_seq_length` if positive, else the folder's limit, but never more than the
/// model's positions.
TextLimit text_limit(const TextCut& cut, const EmbeddingModel& model);

/// Describes the vectors for the user: the pooling and its source, and a prompt that precedes the texts.
std::vector<std::string> embedding_notes(const EmbeddingModel& model);

}  // namespace hone
