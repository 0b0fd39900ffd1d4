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

/// Layers whose weights and inputs are quantized alike.
struct CodedLayers {
  std::string format;                   ///< the package's name of the layout
  Json weights;                         ///< the package's arguments of a quantization
  Json inputs;                          ///< the same; null where inputs are not rounded
  std::vector<std::string> names = {};  ///< module paths
};

/// A model as the Python package compressed-tensors describes it.
struct CompressedTensorsModel {
  TensorMap tensors;             ///< of the checkpoint
  std::set<std::string> float8;  ///< those whose bytes are fp8, see `write_safetensors`
  std::vector<CodedLayers> groups;
  Json quantization_config;          ///< for config.json
  bool in_bfloat16 = false;          ///< transformers computes in bfloat16 alone
  std::set<std::string> notes = {};  ///< sentences: what is not expressed of the graph
};

/// Which modules belong to an encoder and which to its head.
struct ModuleNames {
  std::string_view encoder;            ///< AutoModel leaves it out of names: "bert"
  std::vector<std::string_view> head;  ///< how names of parameters begin: "classifier."
};

/// The model of a graph with packed weights (passes/pack.h), without LoRA. Linear layers of the encoder are stored as codes
/// (`coded_weight`), and everything else as the fp32 values it takes. Weights are shared with `parameters`. Where no layer has
/// codes there are no groups and no config, and the notes say why.
CompressedTensorsModel to_compressed_tensors(const Graph& graph, const ParameterStore& parameters,
                                             const ModuleNames& modules, ThreadPool& pool);

}  // namespace hone
