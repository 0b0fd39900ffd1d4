#pragma once

#include <string_view>
#include <vector>

#include "hone/frontends/huggingface/classification_head.h"
#include "hone/frontends/huggingface/config.h"
#include "hone/frontends/huggingface/encoder.h"
#include "hone/frontends/huggingface/model_facts.h"
#include "hone/tensor/tensor.h"

namespace hone {

struct Architecture;

/// Adds an architecture's inputs and operations; returns the logits f32[B, labels].
using AddLogits = Value (*)(ModuleBuilder& builder, const Architecture& architecture,
                            const EncoderConfig& config, const GraphInputs& inputs);

/// An encoder of texts and its head, by the modules that the architecture names.
Value add_text_logits(ModuleBuilder& builder, const Architecture& architecture,
                      const EncoderConfig& config, const GraphInputs& inputs);

/// What the front end knows of an architecture: its config.json, the modules of its graph, and what stands beside them in
/// checkpoints. A new one is a file, and a row of architecture.cpp.
struct Architecture {
  std::string_view title;  ///< as people write it: "DistilBERT"
  ConfigKeys keys;
  AddLogits add_logits = add_text_logits;
  EncoderModules encoder;  ///< headless checkpoints leave its name out of those of parameters
  HeadModules head;
  std::vector<std::string_view> fresh;  ///< parameters that may be missing begin like this
  /// A parameter that every checkpoint has, by its name below that of the encoder.
  std::string_view landmark = "embeddings.word_embeddings.weight";
  /// Tensors of checkpoints that say nothing a graph needs to know: names, or patterns such as "*.num_batches_tracked".
  std::vector<std::string_view> buffers;
  /// Of transformers: what reads the tokenizer's files where tokenizer_config.json names no class.
  std::string_view tokenizer_class = "BertTokenizer";

  std::string_view model_type() const { return keys.model_type; }
  bool of_images() const { return !keys.knows_tokens(); }
};

/// Throws `UserError`, opening with `where` and listing those that there are, for one that is not there.
const Architecture& find_architecture(std::string_view model_type, std::string_view where);

/// What a config says that the rest of the program asks for. Throws as `read_config`.
ModelFacts facts_of(const Architecture& architecture, const Json& config, std::string_view where);
/// The same of a config that was made here.
ModelFacts facts_of(const Architecture& architecture, const EncoderConfig& config);

/// The config of the facts' file, with the facts' labels.
EncoderConfig config_of(const ModelFacts& facts);

/// The model of the architecture for the classification of sequences or images as Hugging Face computes it, in training mode: with a
/// `dropout` where the config has a probability above 0, drawing from the input `random_key` i64[]. For inference run
/// `remove_dropout`. Nodes carry the module paths of Hugging Face, parameters the names of its checkpoints.
///
/// Output `logits` f32[B, labels], and `loss`, that of the task, where there are labels.
Graph build_graph(const OpTable& ops, const Architecture& architecture, const EncoderConfig& config,
                  const GraphInputs& inputs);

/// A parameter of such a graph before any training: N(0, initializer_range), drawn by `seed` and its name; biases are 0,
/// gains 1, rows of embeddings for padding 0, and sinusoidal positions are what they are. Of a model of images weights are
/// N(0, 2 / (outputs KH KW)) where they are of convolutions (He et al., 2015, as Hugging Face draws them) and N(0, 1 / (3 columns)) where
/// of linears, running means 0 and variances 1.
Tensor initial_value(const Node& parameter, const Architecture& architecture,
                     const EncoderConfig& config, std::uint64_t seed, ThreadPool& pool);

}  // namespace hone
