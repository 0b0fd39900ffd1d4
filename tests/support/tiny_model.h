#pragma once

#include <string>
#include <vector>

#include "hone/base/random.h"
#include "hone/data/encoded_set.h"
#include "hone/frontends/huggingface/bert.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/passes/quantize.h"
#include "hone/runtime/library.h"

/// A small classifier and texts for it.
namespace hone::testing {

/// Returns the builtin tables, shared by all tests of a program.
inline const Library& builtin() {
  static const Library library = builtin_library();
  return library;
}

/// Returns a config with 2 layers, 2 heads, hidden size 32, 40 tokens, 24 positions and dropout. The weights are large
/// enough for logits that differ between texts.
inline EncoderConfig tiny_config() {
  EncoderConfig config;
  config.vocab_size = 40;
  config.hidden_size = 32;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 2;
  config.intermediate_size = 64;
  config.max_position_embeddings = 24;
  config.initializer_range = 0.2;
  return config;
}

inline Model tiny_model() {
  return new_model(facts_of(bert(), tiny_config()), builtin().ops, /*seed=*/5);
}

/// Returns the plan that sets the format of everything that a graph's linears read.
inline QuantizationPlan plan_of(const Graph& graph, std::string_view format) {
  return uniform_plan(graph, LayerFormats::reads(parse_format(format, builtin().formats)));
}
/// Inserts quantizers of one format before everything that a model's linears read, without recording a pass.
inline void put_quantizers(Model& model, std::string_view format) {
  quantize(model.graph, plan_of(unquantized_graph(model), format));
  follow_graph(model);
}

/// Returns `count` texts of 1 to 20 words between 2 [CLS] and 3 [SEP]. The label is 1 if the first word's id is even.
/// Padding is 0.
inline EncodedSet tiny_texts(std::int64_t count, std::uint64_t seed = 1) {
  RandomSequence random(seed, stream_of("tiny texts"));
  EncodedSet set;
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<std::int32_t> ids = {2};
    const std::uint64_t words = 1 + random.below(20);
    for (std::uint64_t k = 0; k < words; ++k)
      ids.push_back(4 + static_cast<std::int32_t>(random.below(36)));
    ids.push_back(3);
    set.labels.push_back(ids[1] % 2 == 0 ? 1 : 0);
    set.ids.push_back(std::move(ids));
  }
  return set;
}

/// Returns the values of a tensor of floats on the host.
inline std::vector<float> floats_of(const Tensor& tensor) {
  const Tensor host = tensor.on(cpu());
  const Tensor dense = host.contiguous() ? host : host.contiguous_copy();
  const auto values = dense.values<float>();
  return {values.begin(), values.end()};
}

/// Returns the names of the parameters whose values differ between two stores with the same names.
inline std::vector<std::string> changed_parameters(const ParameterStore& a,
                                                   const ParameterStore& b) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : a.tensors())
    if (floats_of(tensor) != floats_of(b.at(name))) names.push_back(name);
  return names;
}

}  // namespace hone::testing
