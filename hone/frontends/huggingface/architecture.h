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

/// Adds an architecture's inputs and operations. Returns the logits f32[B, labels].
using AddLogits = Value (*)(ModuleBuilder& builder, const Architecture& architecture,
                            const EncoderConfig& config, const GraphInputs& inputs);

/// Adds a text encoder and its head with the architecture's module names.
Value add_text_logits(ModuleBuilder& builder, const Architecture& architecture,
                      const EncoderConfig& config, const GraphInputs& inputs);

/// Describes an architecture: its config.json, the modules of its graph, and the other tensors of its checkpoints. A
/// new one takes one file and a row in architecture.cpp.
struct Architecture {
  std::string_view title;  ///< display name: "DistilBERT"
  ConfigKeys keys;
  AddLogits add_logits = add_text_logits;
  EncoderModules encoder;  ///< headless checkpoints omit its name in parameter names
  HeadModules head;
  std::vector<std::string_view> fresh;  ///< prefixes of parameters that may be missing
  /// A parameter that every checkpoint has; its name after that of the encoder.
  std::string_view landmark = "embeddings.word_embeddings.weight";
  /// Tensors of checkpoints that the graph does not need: names, or patterns such as "*.num_batches_tracked".
  std::vector<std::string_view> buffers;
  /// The tokenizer class of transformers if tokenizer_config.json names none.
  std::string_view tokenizer_class = "BertTokenizer";

  std::string_view model_type() const { return keys.model_type; }
  bool of_images() const { return !keys.reads_tokens(); }
};

/// Throws `UserError`, starting with `where` and listing the supported ones, for an unknown model_type.
const Architecture& find_architecture(std::string_view model_type, std::string_view where);

/// Returns the facts that a config contains. Throws like `read_config`.
ModelFacts facts_of(const Architecture& architecture, const Json& config, std::string_view where);
/// Returns the facts of a newly made config.
ModelFacts facts_of(const Architecture& architecture, const EncoderConfig& config);

/// Returns the config of the facts' file, with the facts' labels.
EncoderConfig config_of(const ModelFacts& facts);

/// Builds the architecture's model for sequence or image classification with the results of Hugging Face, in training
/// mode: every config probability above 0 becomes a `dropout` with the input `random_key` i64[]. For inference, run
/// `remove_dropout`. Nodes have the module paths of Hugging Face, parameters the names of its checkpoints.
///
/// The outputs are `logits` f32[B, labels] and, with labels, `loss`, that of the task.
Graph build_graph(const OpTable& ops, const Architecture& architecture, const EncoderConfig& config,
                  const GraphInputs& inputs);

/// Returns the initial value of such a graph's parameter: N(0, initializer_range), depending on `seed` and its name;
/// biases are 0, gains 1, embedding rows for padding 0, and sinusoidal positions are computed. In image models,
/// convolution weights are N(0, 2 / (outputs KH KW)) (He et al., 2015, as in Hugging Face), linear weights N(0, 1 / (3
/// columns)), running means 0 and running variances 1.
Tensor initial_value(const Node& parameter, const Architecture& architecture,
                     const EncoderConfig& config, std::uint64_t seed, ThreadPool& pool);

}  // namespace hone
