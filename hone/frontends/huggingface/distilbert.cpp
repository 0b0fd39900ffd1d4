#include "hone/frontends/huggingface/distilbert.h"

namespace hone {
namespace {

ConfigKeys distilbert_keys() {
  ConfigKeys keys{
      .model_type = "distilbert",
      .class_name = "DistilBertForSequenceClassification",
      .sizes = {{"vocab_size", &EncoderConfig::vocab_size, 1, 1e8},
                {"dim", &EncoderConfig::hidden_size, 1, 65536},
                {"n_layers", &EncoderConfig::num_hidden_layers, 1, 1024},
                {"n_heads", &EncoderConfig::num_attention_heads, 1, 65536},
                {"hidden_dim", &EncoderConfig::intermediate_size, 1, 1 << 20},
                {"max_position_embeddings", &EncoderConfig::max_position_embeddings, 1, 1 << 24}},
      .numbers = {{"dropout", &EncoderConfig::hidden_dropout_prob, 0, 1},
                  {"attention_dropout", &EncoderConfig::attention_probs_dropout_prob, 0, 1},
                  {"initializer_range", &EncoderConfig::initializer_range, 0, 1000}},
      .switches = {{"sinusoidal_pos_embds", &EncoderConfig::sinusoidal_positions}},
      .activation = "activation",
      .classifier_dropout = "seq_classif_dropout",
      .fixed = {{"is_decoder", "false"},
                {"add_cross_attention", "false"},
                {"is_encoder_decoder", "false"},
                {"pruned_heads", "{}"}}};
  keys.defaults.num_hidden_layers = 6;
  keys.defaults.classifier_dropout = 0.2;
  return keys;
}

}  // namespace

Architecture distilbert() {
  return {.title = "DistilBERT",
          .keys = distilbert_keys(),
          .encoder = {.name = "distilbert",
                      .layers = "transformer.layer",
                      .layer = {.attention = "attention",
                                .query = "attention.q_lin",
                                .key = "attention.k_lin",
                                .value = "attention.v_lin",
                                .joined = "attention.out_lin",
                                .attended = {.dropout = "",
                                             .sum = "attention.add",
                                             .norm = "sa_layer_norm"},
                                .widened = "ffn.lin1",
                                .activation = "ffn.activation",
                                .narrowed = "ffn.lin2",
                                .fed_forward = {"ffn.dropout", "ffn.add", "output_layer_norm"}},
                      .token_types = false},
          .head = {.name = "pre_classifier",
                   .first_dropout = "",
                   .dense = "pre_classifier",
                   .activation = "relu",
                   .dropout = "dropout",
                   .classes = "classifier"},
          .fresh = {"pre_classifier.", "classifier."},
          .buffers = {"distilbert.embeddings.position_ids"}};
}

}  // namespace hone
