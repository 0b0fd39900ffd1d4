#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/file.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/frontends/huggingface/module_list.h"

/// Sentence embeddings: a vector for a text, made of the hidden states of its tokens behind an encoder, as the folders of
/// sentence-transformers say (Reimers and Gurevych, "Sentence-BERT: Sentence embeddings using Siamese BERT-networks", 2019).
///
///     const SentenceModules modules = read_sentence_modules("all-MiniLM-L6-v2");
///     const Model model = load_model(modules.encoder.folder, ops, formats, seed, {}, HeadFit::unused);
///     const Graph graph = embedding_graph(model, modules);
namespace hone {

/// What becomes of the hidden states of a text's tokens, padding aside.
enum class Pooling {
  cls,           ///< the first one's
  max,           ///< the largest, feature by feature
  mean,          ///< their mean
  mean_sqrt_len  ///< their sum over the root of their number
};

/// Where a folder says that texts are cut.
struct TokenLimit {
  std::int64_t tokens = 0;  ///< special ones included
  std::string source =
      {};  ///< the key and its file: "max_seq_length of m/sentence_bert_config.json"
};

/// The encoder of a folder, whether a head or a pooling stands behind it, and what is done to its texts.
struct SentenceEncoder {
  fs::path folder = {};   ///< with its config.json and weights
  bool is_listed = true;  ///< in a modules.json
  std::optional<TokenLimit> limit = {};
  bool lowercase = false;  ///< of texts, whatever the tokenizer does
};

/// Reads what there is of modules.json, sentence_bert_config.json and the model_max_length of tokenizer_config.json: of a
/// folder of sentence-transformers, where the encoder may stand below it, or of any other. Throws `UserError` with the
/// path for files that are none.
SentenceEncoder read_sentence_encoder(const fs::path& folder);
/// The same of files that are read by `read`.
SentenceEncoder read_sentence_encoder(const fs::path& folder, const JsonReader& read);

/// What modules.json lists, and what stands in the files that it names.
struct SentenceModules {
  SentenceEncoder encoder = {};
  /// At least one; the vectors of several are joined in this order.
  std::vector<Pooling> pooling = {Pooling::mean};
  std::optional<std::int64_t> token_width = {};  ///< of the hidden states, where that is said
  bool normalize = false;                        ///< vectors get the length 1
  std::string prompt = {};                       ///< stands in front of every text
  /// Only so many numbers of a vector are kept, the first ones (`truncate_dim`); none: all.
  std::optional<std::int64_t> kept_width = {};
};

/// Reads the same, 1_Pooling/config.json and config_sentence_transformers.json. Throws `UserError` with the path for modules
/// other than Transformer, Pooling and Normalize in this order, for poolings that we do not know, and for files that are
/// none.
SentenceModules read_sentence_modules(const fs::path& folder);
/// The same of files that are read by `read`.
SentenceModules read_sentence_modules(const fs::path& folder, const JsonReader& read);

/// "mean", "cls+max": as the files name them.
std::string to_string(const std::vector<Pooling>& pooling);

/// The graph for embeddings: the model's encoder, with quantizers where it has them, pooled; in training mode (see
/// `remove_dropout`). Output `embedding` f32[B, W]; with `hidden_states` also `last_hidden_state` f32[B, S, H]. Throws
/// `UserError` where the width of the hidden states is another than the modules say, and for a graph that is not built of an
/// encoder and a head.
Graph embedding_graph(const Model& model, const SentenceModules& modules,
                      bool hidden_states = false);

}  // namespace hone
