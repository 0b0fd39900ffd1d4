#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/passes/pass.h"

/// Whole layers of an encoder, which go, or stay: Fan, Grave and Joulin, "Reducing Transformer Depth on Demand with Structured
/// Dropout" (arXiv 1909.11556); Sanh et al., "DistilBERT" (arXiv 1910.01108), which begins with every other layer of BERT.
namespace hone {

/// Layers as paths number them: "bert.encoder.layer", of which 12.
struct LayerStack {
  std::string path;
  std::int64_t count = 0;
};

/// The layers of the graph: the shortest path with numbers 0, 1, … and parameters below it. Throws `UserError` where there are
/// none.
LayerStack layer_stack(const Graph& graph);

/// Which layers stay where so many of `count` do: "evenly", the first and the last among them (of 12, 6: 0, 2, 4, 7, 9, 11),
/// "first" or "last". Throws `UserError` unless 1 <= kept < count, and for another word.
std::vector<std::int64_t> kept_layers(std::int64_t count, std::int64_t kept,
                                      std::string_view which);

/// Lets the layers with these numbers go: what reads one reads what that read, its parameters go, and those behind it take its
/// number in all names. Requires a verified graph. Throws `UserError`, before anything changes, for a number that is no layer
/// or stands twice, where no layer would be left, and for a layer that reads or makes more than one value of their type.
/// Returns whether the graph changed.
bool drop_layers(Graph& graph, ParameterStore& parameters, const std::vector<std::int64_t>& layers);

/// Its record.
PassDef drop_layers_pass();

}  // namespace hone
