#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/passes/pass.h"

/// Removes whole layers of an encoder: Fan, Grave and Joulin, "Reducing Transformer Depth on Demand with Structured
/// Dropout" (arXiv 1909.11556); Sanh et al., "DistilBERT" (arXiv 1910.01108), which starts from every other layer of
/// BERT.
namespace hone {

/// A stack of numbered layers, such as the 12 layers of "bert.encoder.layer".
struct LayerStack {
  std::string path;
  std::int64_t count = 0;
};

/// Returns the layers of the graph: the shortest path that has parameters below numbers 0, 1, …. Throws `UserError`
/// if there are none.
LayerStack layer_stack(const Graph& graph);

/// Returns which `kept` of `count` layers to keep: "evenly", including the first and the last (of 12, 6: 0, 2, 4, 7,
/// 9, 11), "first" or "last". Throws `UserError` unless 1 <= kept < count, and for any other value of `which`.
std::vector<std::int64_t> kept_layers(std::int64_t count, std::int64_t kept,
                                      std::string_view which);

/// Removes the layers with these numbers: readers of a layer's output read its input instead, its parameters are
/// removed, and later layers are renumbered in all names. Requires a verified graph. Throws `UserError`, before
/// anything changes, for a number that is no layer or is repeated, if no layer would remain, and for a layer that
/// reads or returns more than one value of their type. Returns whether the graph changed.
bool drop_layers(Graph& graph, ParameterStore& parameters, const std::vector<std::int64_t>& layers);

PassDef drop_layers_pass();

}  // namespace hone
