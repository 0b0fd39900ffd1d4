#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/frontends/huggingface/model_facts.h"
#include "hone/ir/graph.h"
#include "hone/tensor/tensor.h"

namespace hone {

/// What the front end knows of an architecture; a new one is a row of architecture.cpp.
struct Architecture {
  std::string_view model_type;
  std::string_view prefix;  ///< of the encoder's parameters; headless checkpoints leave it out
  std::vector<std::string_view> heads;  ///< parameters that may be missing begin like this
  std::vector<std::string_view>
      buffers;  ///< tensors of checkpoints that say nothing a graph needs to know
  /// Reads and checks a config.json; `where` opens the messages.
  ModelFacts (*facts)(const Json& config, std::string_view where);
  /// The config.json that other programs build the same model from: the facts' own with every key that tells of the model
  /// filled in.
  Json (*config)(const ModelFacts& facts);
  /// The graph in training mode, with the outputs `logits` and `loss`.
  Graph (*build)(const OpTable& ops, const ModelFacts& facts);
  /// A parameter as it is drawn before any training.
  Tensor (*initial_value)(const Node& parameter, const ModelFacts& facts, std::uint64_t seed);
};

/// Throws `UserError`, opening with `where`, for one that is not there.
const Architecture& find_architecture(std::string_view model_type, std::string_view where);

}  // namespace hone
