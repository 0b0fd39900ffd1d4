#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hone/frontends/huggingface/model_facts.h"

/// The config.json of a Hugging Face model.
namespace hone {

/// BERT for the classification of sequences. The defaults are Hugging Face's; names are those of
/// the keys.
struct BertConfig {
  std::int64_t vocab_size = 30522;
  std::int64_t hidden_size = 768;  ///< a multiple of num_attention_heads
  std::int64_t num_hidden_layers = 12;
  std::int64_t num_attention_heads = 12;
  std::int64_t intermediate_size = 3072;
  std::int64_t max_position_embeddings = 512;
  std::int64_t type_vocab_size = 2;
  std::string hidden_act =
      "gelu";  ///< any string; whoever builds the graph knows which activations there are
  double hidden_dropout_prob = 0.1;
  double attention_probs_dropout_prob = 0.1;
  std::optional<double> classifier_dropout;  ///< none: hidden_dropout_prob
  double initializer_range = 0.02;
  double layer_norm_eps = 1e-12;
  std::optional<std::int64_t> pad_token_id = 0;  ///< none: no row of the embeddings is for padding
  /// "regression", "single_label_classification", "multi_label_classification" or none: decided by
  /// the labels.
  std::optional<std::string> problem_type;
  std::vector<std::string> labels = {"LABEL_0", "LABEL_1"};  ///< names, by class; at least one

  Json file = Json::object();  ///< the whole file as it was read, keys unknown to us included;
                               ///< empty for a new model

  std::int64_t num_labels() const { return static_cast<std::int64_t>(labels.size()); }
  double classifier_dropout_prob() const {
    return classifier_dropout.value_or(hidden_dropout_prob);
  }
};

/// The architecture the config is of: its "model_type", or "bert" where that key is missing and the
/// keys of BERT's shape are there (as in prajjwal1/bert-tiny). `where` (a path, usually) opens the
/// messages of the `UserError`s.
std::string model_type(const Json& config, std::string_view where);

/// Reads and checks a BERT config. Throws `UserError` naming `where`, the key, what was expected
/// and what came for wrong types, implausible sizes, contradictions, and what we do not do:
/// decoders, cross attention, relative positions, pruned heads.
BertConfig bert_config(const Json& config, std::string_view where);

/// `config.file` with all fields of `config` put in: what Hugging Face needs to load the model as a
/// BertForSequenceClassification.
Json to_json(const BertConfig& config);

/// What a BERT config says that the rest of the program asks for. Throws as `bert_config`.
ModelFacts bert_facts(const Json& config, std::string_view where);
/// The same of a config that was made here.
ModelFacts bert_facts(const BertConfig& config);

/// The config of the facts' file, with the facts' labels.
BertConfig bert_config(const ModelFacts& facts);

}  // namespace hone
