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

/// The part of EncoderConfig for convolutional networks. Members are named after ResNet's keys.
struct ImageConfig {
  std::int64_t num_channels = 3;
  std::int64_t image_size =
      224;  ///< height and width; hone's key: Hugging Face has it in preprocessor_config.json
  std::vector<std::int64_t> hidden_sizes = {256, 512, 1024, 2048};  ///< channels of each stage
  std::vector<std::int64_t> depths = {3, 4, 6, 3};                  ///< layers of each stage
  std::string layer_type = "bottleneck";                            ///< or "basic"
  bool downsample_in_first_stage = false;
  bool downsample_in_bottleneck = false;  ///< in its first convolution, not its second
};

/// The config.json of an encoder for sequence or image classification, independent of its key names. Members have the
/// names of BERT's keys and Hugging Face's defaults for BERT.
struct EncoderConfig {
  std::int64_t vocab_size = 30522;
  std::int64_t embedding_size = 0;  ///< width of token embeddings; 0: hidden_size
  std::int64_t hidden_size = 768;   ///< a multiple of num_attention_heads
  std::int64_t num_hidden_layers = 12;
  std::int64_t num_attention_heads = 12;
  std::int64_t intermediate_size = 3072;
  std::int64_t max_position_embeddings = 512;
  std::int64_t type_vocab_size = 2;
  std::string hidden_act = "gelu";  ///< one of activation_names()
  double hidden_dropout_prob = 0.1;
  double attention_probs_dropout_prob = 0.1;
  std::optional<double> classifier_dropout;  ///< empty: hidden_dropout_prob
  double initializer_range = 0.02;
  double layer_norm_eps = 1e-12;
  std::optional<std::int64_t> pad_token_id = 0;  ///< empty: no embedding row is for padding
  ImageConfig image = {};                        ///< for image models, which have no tokens
  bool sinusoidal_positions = false;             ///< new position embeddings are sines and cosines
  std::optional<Task> problem_type;              ///< empty: derived from the labels
  std::vector<std::string> labels = {"LABEL_0", "LABEL_1"};  ///< names, by class; at least one

  Json file = Json::object();  ///< the whole file as read, including unknown keys;
                               ///< empty for a new model

  std::int64_t num_labels() const { return static_cast<std::int64_t>(labels.size()); }
  std::int64_t embedding_width() const { return embedding_size > 0 ? embedding_size : hidden_size; }
  double classifier_dropout_prob() const {
    return classifier_dropout.value_or(hidden_dropout_prob);
  }
};

/// A key of the file and the member it sets. Numbers must be within [least, most].
template <typename Value>
struct ConfigKey {
  const char* key;
  Value EncoderConfig::*member;
  double least = 0;
  double most = 0;
};

/// A key that only configs of image models have.
template <typename Value>
struct ImageKey {
  const char* key;
  Value ImageConfig::*member;
};

/// A key that must have the one value that is supported.
struct FixedKey {
  const char* key;
  const char* expected;     ///< as JSON
  bool is_written = false;  ///< to every file; otherwise it is optional
};

/// The keys of an architecture's config.json.
struct ConfigKeys {
  std::string_view model_type;
  std::string_view class_name;  ///< of transformers' sequence classification model
  EncoderConfig defaults = {};  ///< the defaults of Hugging Face
  std::vector<ConfigKey<std::int64_t>> sizes;
  std::vector<ConfigKey<double>> numbers;
  std::vector<ConfigKey<bool>> switches = {};
  std::vector<ImageKey<std::int64_t>> image_sizes = {};
  std::vector<ImageKey<std::vector<std::int64_t>>> image_lists = {};
  std::vector<ImageKey<bool>> image_switches = {};
  const char* layer_type = nullptr;  ///< the key for "basic" or "bottleneck"; null: none
  const char* activation = "hidden_act";
  /// Used together with `pad_token_id`. Null: a model without tokens, which has neither key.
  const char* classifier_dropout = "classifier_dropout";
  std::vector<FixedKey> fixed;
  /// Additional checks of the architecture. May be null.
  void (*check)(const EncoderConfig& config, std::string_view where) = nullptr;

  bool reads_tokens() const { return classifier_dropout != nullptr; }
};

/// Returns the keys of BERT, which most later architectures share.
ConfigKeys bert_keys(std::string_view model_type, std::string_view class_name);

/// Returns the architecture of a config: its "model_type", or "bert" if that key is missing and BERT's size keys are
/// present (as in prajjwal1/bert-tiny). `where` (usually a path) starts the messages of `UserError`s.
std::string model_type(const Json& config, std::string_view where);

/// Reads and checks a config. Throws `UserError` with `where`, the key, the expected and the actual value for wrong
/// types, implausible sizes, contradictions, and unsupported features: decoders, cross attention, relative positions,
/// pruned heads.
EncoderConfig read_config(const ConfigKeys& keys, const Json& json, std::string_view where);

/// Returns warnings about class names in the `json` that `config` was read from: classes without a name, or a label2id
/// that contradicts id2label.
std::vector<std::string> label_map_warnings(const Json& json, const EncoderConfig& config,
                                            std::string_view where);

/// Returns `config.file` updated with the values of `config`, which is what Hugging Face needs to load the model as
/// `keys.class_name`.
Json to_json(const ConfigKeys& keys, const EncoderConfig& config);

}  // namespace hone
