#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/json.h"
#include "hone/base/thread_pool.h"
#include "hone/ir/graph.h"
#include "hone/tensor/parameter_store.h"

namespace hone {

/// Layers with the same quantization of weights and inputs.
struct CodedLayers {
  std::string format;                   ///< the package's name of the layout
  Json weights;                         ///< the package's quantization arguments
  Json inputs;                          ///< the same; null if inputs are not rounded
  std::vector<std::string> names = {};  ///< module paths
};

/// A model as the Python package compressed-tensors describes it.
struct CompressedTensorsModel {
  TensorMap tensors;             ///< of the checkpoint
  std::set<std::string> float8;  ///< names of tensors whose bytes are fp8, see `write_safetensors`
  std::vector<CodedLayers> groups;
  Json quantization_config;          ///< for config.json
  bool in_bfloat16 = false;          ///< transformers computes in bfloat16 only
  std::set<std::string> notes = {};  ///< sentences on what the result does not express of the graph
};

/// The module names of an encoder and its head.
struct ModuleNames {
  std::string_view encoder;            ///< omitted in AutoModel's names: "bert"
  std::vector<std::string_view> head;  ///< prefixes of parameter names: "classifier."
};

/// Converts a graph with packed weights (passes/pack.h), without LoRA. Linear layers of the encoder are stored as codes
/// (`coded_weight`), everything else as its fp32 values. Weights are shared with `parameters`. If no layer has codes,
/// there are no groups and no config, and the notes give the reason.
CompressedTensorsModel to_compressed_tensors(const Graph& graph, const ParameterStore& parameters,
                                             const ModuleNames& modules, ThreadPool& pool);

}  // namespace hone
