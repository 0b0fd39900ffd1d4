#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hone/frontends/huggingface/config.h"
#include "hone/frontends/huggingface/model_facts.h"
#include "hone/frontends/huggingface/module_builder.h"
#include "hone/metrics/task.h"

/// The encoder of "Attention is all you need" (Vaswani et al., 2017) in the variant of BERT (Devlin et al., 2019) and
/// its successors: embeddings, then layers of self-attention and feed-forward, each added to its input and normalized.
///
///     x = LayerNorm(words + types + positions)
///     x = LayerNorm(x + W_o softmax(Q K^T / sqrt(D)) V),  Q, K, V = W_q x, W_k x, W_v x in N heads of size D
///     x = LayerNorm(x + W_2 activation(W_1 x))
///
/// Architectures differ only in values: the module names in checkpoints, and which modules exist.
namespace hone {

/// The modules that add a result to the input it was computed from. Names are relative to the layer.
struct ResidualModules {
  std::string_view dropout;  ///< of the result; empty: none
  std::string_view sum;
  std::string_view norm;
};

/// The modules of a layer, by names relative to the layer.
struct LayerModules {
  std::string_view attention = "attention.self";  ///< parent of the scores and their softmax
  std::string_view query = "attention.self.query";
  std::string_view key = "attention.self.key";
  std::string_view value = "attention.self.value";
  std::string_view joined = "attention.output.dense";  ///< W_o
  ResidualModules attended = {"attention.output.dropout", "attention.output.add",
                              "attention.output.LayerNorm"};
  std::string_view widened = "intermediate.dense";  ///< W_1
  std::string_view activation = "intermediate.intermediate_act_fn";
  std::string_view narrowed = "output.dense";  ///< W_2
  ResidualModules fed_forward = {"output.dropout", "output.add", "output.LayerNorm"};
};

/// The modules of an encoder.
struct EncoderModules {
  std::string_view name;  ///< prefix of all other names: "bert"
  std::string_view layers = "encoder.layer";
  LayerModules layer = {};
  bool token_types = true;  ///< tokens have types, with their own embeddings
  /// If there is only one type, all tokens have it and no types are given.
  bool single_type_implied = false;
  /// Positions count the tokens that are not padding, starting at pad_token_id + 1; all padding is at pad_token_id.
  /// Otherwise the first token of a row is at 0.
  bool positions_skip_padding = false;
  /// From embeddings to layers of another size; empty: both must have the same size.
  std::string_view projection = {};
};

/// The inputs of a graph besides `input_ids` i64[B, S].
struct GraphInputs {
  bool attention_mask =
      true;  ///< i64[B, S], 1 for text, 0 for padding; without it, everything is text
  bool token_type_ids = true;  ///< i64[B, S], for encoders with token types; without it, all are 0
  /// The task of the input `labels`, see `labels_type`; adds the output `loss` f32[].
  std::optional<Task> labels = {};
};

/// Returns the input limits of a model with this encoder.
InputLimits input_limits(const EncoderModules& modules, const EncoderConfig& config);

/// Returns the name of the token embedding table.
std::string word_table(const EncoderModules& modules);

/// Returns the name of the position embedding table.
std::string position_table(const EncoderModules& modules);

/// Adds the inputs and the encoder. Returns the hidden states f32[B, S, H].
Value add_encoder(ModuleBuilder& builder, const EncoderModules& modules,
                  const EncoderConfig& config, const GraphInputs& inputs);

}  // namespace hone
