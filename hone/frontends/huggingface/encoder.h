#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hone/frontends/huggingface/config.h"
#include "hone/frontends/huggingface/model_facts.h"
#include "hone/frontends/huggingface/module_builder.h"
#include "hone/metrics/task.h"

/// The encoder of "Attention is all you need" (Vaswani et al., 2017) as BERT (Devlin et al., 2019) and those made after it
/// have it: embeddings, then layers of self-attention and feed-forward, each of them added to what it read and normalised.
///
///     x = LayerNorm(words + types + positions)
///     x = LayerNorm(x + W_o softmax(Q K^T / sqrt(D)) V),  Q, K, V = W_q x, W_k x, W_v x in N heads of size D
///     x = LayerNorm(x + W_2 activation(W_1 x))
///
/// What architectures differ in are values: how modules are called in checkpoints, and which there are.
namespace hone {

/// Where a module's result is added to what it read. Names stand below that of the layer.
struct ResidualModules {
  std::string_view dropout;  ///< of the result; empty: there is none
  std::string_view sum;
  std::string_view norm;
};

/// The modules of a layer, by their names below its own.
struct LayerModules {
  std::string_view attention = "attention.self";  ///< its scores and their softmax stand below
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
  std::string_view name;  ///< of all of it, in front of every other: "bert"
  std::string_view layers = "encoder.layer";
  LayerModules layer = {};
  bool token_types = true;  ///< tokens have types, with embeddings of their own
  /// Where there is one type alone, tokens are of it, and none are given.
  bool lone_type_implied = false;
  /// Positions count the tokens that are no padding, from pad_token_id + 1 on; all padding is at pad_token_id. Else the
  /// first token of a row is at 0.
  bool positions_behind_padding = false;
  /// From embeddings to layers where their sizes differ; empty: they may not.
  std::string_view projection = {};
};

/// Which inputs a graph has besides `input_ids` i64[B, S].
struct GraphInputs {
  bool attention_mask =
      true;  ///< i64[B, S], 1 for text, 0 for padding; without it everything is text
  bool token_type_ids =
      true;  ///< i64[B, S], for an encoder that reads them; without them all are 0
  /// The task whose labels are given, see `labels_type`; with them there is a second output, `loss` f32[].
  std::optional<Task> labels = {};
};

/// What a model with this encoder can be given.
InputLimits input_limits(const EncoderModules& modules, const EncoderConfig& config);

/// The parameter that holds the embeddings of tokens.
std::string word_table(const EncoderModules& modules);

/// The parameter that holds the embeddings of positions.
std::string position_table(const EncoderModules& modules);

/// Adds the inputs and the encoder; returns the hidden states f32[B, S, H].
Value add_encoder(ModuleBuilder& builder, const EncoderModules& modules,
                  const EncoderConfig& config, const GraphInputs& inputs);

}  // namespace hone
