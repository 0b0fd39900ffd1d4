#pragma once

#include <string_view>
#include <vector>

#include "hone/frontends/huggingface/classification_head.h"
#include "hone/frontends/huggingface/config.h"
#include "hone/frontends/huggingface/encoder.h"
#include "hone/frontends/huggingface/model_facts.h"
#include "hone/tensor/tensor.h"

namespace hone {

/// What the front end knows of an architecture: its config.json, the modules of its graph, and what stands beside them in
/// checkpoints. A new one is a file, and a row of architecture.cpp.
struct Architecture {
  std::string_view title;  ///< as people write it: "DistilBERT"
  ConfigKeys keys;
  EncoderModules encoder;  ///< headless checkpoints leave its name out of those of parameters
  HeadModules head;
  std::vector<std::string_view> fresh;  ///< parameters that may be missing begin like this
  std::vector<std::string_view>
      buffers;  ///< tensors of checkpoints that say nothing a graph needs to know
  /// Of transformers: what reads the tokenizer's files where tokenizer_config.json names no class.
  std::string_view tokenizer_class = "BertTokenizer";

  std::string_view model_type() const { return keys.model_type; }
};

/// Throws `UserError`, opening with `where` and listing those that there are, for one that is not there.
const Architecture& find_architecture(std::string_view model_type, std::string_view where);

/// What a config says that the rest of the program asks for. Throws as `read_config`.
ModelFacts facts_of(const Architecture& architecture, const Json& config, std::string_view where);
/// The same of a config that was made here.
ModelFacts facts_of(const Architecture& architecture, const EncoderConfig& config);

/// The config of the facts' file, with the facts' labels.
EncoderConfig config_of(const ModelFacts& facts);

/// The model of the architecture for the classification of sequences as Hugging Face computes it, in training mode: with a
/// `dropout` where the config has a probability above 0, drawing from the input `random_key` i64[]. For inference run
/// `remove_dropout`. Nodes carry the module paths of Hugging Face, parameters the names of its checkpoints.
///
/// Output `logits` f32[B, labels], and `loss`, that of the task, where there are labels.
Graph build_graph(const OpTable& ops, const Architecture& architecture, const EncoderConfig& config,
                  const GraphInputs& inputs);

/// A parameter of such a graph before any training: N(0, initializer_range), drawn by `seed` and its name; biases are 0,
/// gains 1, rows of embeddings for padding 0, and sinusoidal positions are what they are.
Tensor initial_value(const Node& parameter, const Architecture& architecture,
                     const EncoderConfig& config, std::uint64_t seed, ThreadPool& pool);

}  // namespace hone
