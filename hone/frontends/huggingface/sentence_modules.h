#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/file.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/frontends/huggingface/module_list.h"

/// Sentence embeddings: a vector for a text, computed from the hidden states of its tokens as configured in the folders
/// of sentence-transformers (Reimers and Gurevych, "Sentence-BERT: Sentence embeddings using Siamese BERT-networks",
/// 2019).
///
///     const SentenceModules modules = read_sentence_modules("all-MiniLM-L6-v2");
///     const Model model = load_model(modules.encoder.folder, ops, formats, seed, {}, HeadFit::unused);
///     const Graph graph = embedding_graph(model, modules);
namespace hone {

/// How the hidden states of a text's tokens, without padding, become one vector.
enum class Pooling {
  cls,           ///< that of the first token
  max,           ///< the maximum of each feature
  mean,          ///< their mean
  mean_sqrt_len  ///< their sum divided by the square root of their number
};

/// The maximum length of texts that a folder sets.
struct TokenLimit {
  std::int64_t tokens = 0;  ///< including special tokens
  std::string source =
      {};  ///< the key and its file: "max_seq_length of m/sentence_bert_config.json"
};

/// The encoder of a folder, with a head or a pooling, and the preprocessing of its texts.
struct SentenceEncoder {
  fs::path folder = {};   ///< with its config.json and weights
  bool is_listed = true;  ///< in a modules.json
  std::optional<TokenLimit> limit = {};
  bool lowercase = false;  ///< texts are lowercased, whatever the tokenizer does
};

/// Reads modules.json, sentence_bert_config.json and the model_max_length of tokenizer_config.json, as far as they
/// exist. In a folder of sentence-transformers, the encoder may be in a subfolder. Throws `UserError` with the path for
/// invalid files.
SentenceEncoder read_sentence_encoder(const fs::path& folder);
/// The same, with files read by `read`.
SentenceEncoder read_sentence_encoder(const fs::path& folder, const JsonReader& read);

/// The modules of modules.json, with the settings in their files.
struct SentenceModules {
  SentenceEncoder encoder = {};
  /// At least one; several vectors are concatenated in this order.
  std::vector<Pooling> pooling = {Pooling::mean};
  std::optional<std::int64_t> token_width = {};  ///< of the hidden states, if given
  bool normalize = false;                        ///< vectors are scaled to length 1
  std::string prompt = {};                       ///< precedes every text
  /// The number of leading numbers of a vector that are kept (`truncate_dim`); empty: all.
  std::optional<std::int64_t> kept_width = {};
};

/// Reads the same files, 1_Pooling/config.json and config_sentence_transformers.json. Throws `UserError` with the path
/// for modules other than Transformer, Pooling and Normalize in this order, for unsupported poolings, and for invalid
/// files.
SentenceModules read_sentence_modules(const fs::path& folder);
/// The same, with files read by `read`.
SentenceModules read_sentence_modules(const fs::path& folder, const JsonReader& read);

/// "mean", "cls+max": the names in the files.
std::string to_string(const std::vector<Pooling>& pooling);

/// Returns the graph for embeddings: the model's encoder, with its quantizers, and the pooling, in training mode (see
/// `remove_dropout`). Output `embedding` f32[B, W]; with `hidden_states` also `last_hidden_state` f32[B, S, H]. Throws
/// `UserError` if the modules expect hidden states of another width, and for a graph that does not consist of an
/// encoder and a head.
Graph embedding_graph(const Model& model, const SentenceModules& modules,
                      bool hidden_states = false);

}  // namespace hone
