#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/json.h"
#include "hone/metrics/task.h"

/// The config.json of a Hugging Face model.
namespace hone {

/// The part of EncoderConfig that is of networks of convolutions alone: members have the names of ResNet's keys.
struct ImageConfig {
  std::int64_t num_channels = 3;
  std::int64_t image_size =
      224;  ///< height and width; ours: Hugging Face has it in preprocessor_config.json
  std::vector<std::int64_t> hidden_sizes = {256, 512, 1024, 2048};  ///< channels of each stage
  std::vector<std::int64_t> depths = {3, 4, 6, 3};                  ///< layers of each stage
  std::string layer_type = "bottleneck";                            ///< or "basic"
  bool downsample_in_first_stage = false;
  bool downsample_in_bottleneck = false;  ///< by its first convolution, not its second
};

/// What the config.json of an encoder for the classification of sequences or of images says, whatever its keys are called there: members
/// have the names of BERT's keys, and the defaults that Hugging Face has for BERT.
struct EncoderConfig {
  std::int64_t vocab_size = 30522;
  std::int64_t embedding_size = 0;  ///< of tokens in front of the layers; 0: hidden_size
  std::int64_t hidden_size = 768;   ///< a multiple of num_attention_heads
  std::int64_t num_hidden_layers = 12;
  std::int64_t num_attention_heads = 12;
  std::int64_t intermediate_size = 3072;
  std::int64_t max_position_embeddings = 512;
  std::int64_t type_vocab_size = 2;
  std::string hidden_act = "gelu";  ///< one of activation_names()
  double hidden_dropout_prob = 0.1;
  double attention_probs_dropout_prob = 0.1;
  std::optional<double> classifier_dropout;  ///< none: hidden_dropout_prob
  double initializer_range = 0.02;
  double layer_norm_eps = 1e-12;
  std::optional<std::int64_t> pad_token_id = 0;  ///< none: no row of the embeddings is for padding
  ImageConfig image = {};                        ///< of a model of images, which knows no tokens
  bool sinusoidal_positions = false;  ///< fresh embeddings of positions are sines and cosines
  std::optional<Task> problem_type;   ///< none: decided by the labels
  std::vector<std::string> labels = {"LABEL_0", "LABEL_1"};  ///< names, by class; at least one

  Json file = Json::object();  ///< the whole file as it was read, keys unknown to us included;
                               ///< empty for a new model

  std::int64_t num_labels() const { return static_cast<std::int64_t>(labels.size()); }
  std::int64_t embedding_width() const { return embedding_size > 0 ? embedding_size : hidden_size; }
  double classifier_dropout_prob() const {
    return classifier_dropout.value_or(hidden_dropout_prob);
  }
};

/// A key of the file and what it says. Numbers must lie in [least, most].
template <typename Value>
struct ConfigKey {
  const char* key;
  Value EncoderConfig::*member;
  double least = 0;
  double most = 0;
};

/// A key that is in a config of images alone.
template <typename Value>
struct ImageKey {
  const char* key;
  Value ImageConfig::*member;
};

/// A key that is refused unless it says the one thing we do.
struct FixedKey {
  const char* key;
  const char* expected;     ///< as JSON
  bool is_written = false;  ///< into every file; else it may be left out
};

/// What an architecture's config.json is made of.
struct ConfigKeys {
  std::string_view model_type;
  std::string_view class_name;  ///< of transformers' model for the classification of sequences
  EncoderConfig defaults = {};  ///< those of Hugging Face
  std::vector<ConfigKey<std::int64_t>> sizes;
  std::vector<ConfigKey<double>> numbers;
  std::vector<ConfigKey<bool>> switches = {};
  std::vector<ImageKey<std::int64_t>> image_sizes = {};
  std::vector<ImageKey<std::vector<std::int64_t>>> image_lists = {};
  std::vector<ImageKey<bool>> image_switches = {};
  const char* layer_type =
      nullptr;  ///< the key that says "basic" or "bottleneck"; null: there is none
  const char* activation = "hidden_act";
  /// With `pad_token_id` beside it; null: a model that knows no tokens, and has neither.
  const char* classifier_dropout = "classifier_dropout";
  std::vector<FixedKey> fixed;
  /// What must hold between them beyond what holds for all. May be null.
  void (*check)(const EncoderConfig& config, std::string_view where) = nullptr;

  bool knows_tokens() const { return classifier_dropout != nullptr; }
};

/// The keys of BERT, which most that came after it have too.
ConfigKeys bert_keys(std::string_view model_type, std::string_view class_name);

/// The architecture the config is of: its "model_type", or "bert" where that key is missing and the
/// keys of BERT's shape are there (as in prajjwal1/bert-tiny). `where` (a path, usually) opens the
/// messages of the `UserError`s.
std::string model_type(const Json& config, std::string_view where);

/// Reads and checks a config. Throws `UserError` naming `where`, the key, what was expected
/// and what came for wrong types, implausible sizes, contradictions, and what we do not do:
/// decoders, cross attention, relative positions, pruned heads.
EncoderConfig read_config(const ConfigKeys& keys, const Json& json, std::string_view where);

/// What is doubtful about the names of classes in the `json` that `config` was read from: numbers without a name, a label2id
/// that contradicts id2label.
std::vector<std::string> label_map_warnings(const Json& json, const EncoderConfig& config,
                                            std::string_view where);

/// `config.file` with all that `config` says put in: what Hugging Face needs to load the model as one of
/// `keys.class_name`.
Json to_json(const ConfigKeys& keys, const EncoderConfig& config);

}  // namespace hone
