#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "hone/ir/graph.h"
#include "hone/tensor/parameter_store.h"

/// Smooth scales (Xiao et al., SmoothQuant, 2022, arXiv:2211.10438, section 4): channels of what linears read are divided by
/// s_j and the columns of their weights multiplied by it, which changes no product and moves what is hard to round from inputs
/// to weights. Scales are powers of two, so nothing is rounded by it: every answer keeps its bits, short of under- and overflow.
namespace hone {

/// Linears that read one value, and where its channels are divided.
struct SmoothGroup {
  std::string value;                 ///< the node that gives what they read
  std::vector<std::string> linears;  ///< that read it as their input
  std::vector<std::string> columns;  ///< their weights, whose columns are multiplied
  /// Parameters whose rows, or elements, are divided: gain and bias of a normalization, or weight and bias of the linear that
  /// gives the values of an attention, for what lies between it and the value keeps channels apart. Empty: something else
  /// reads the value too, and a product by 1 / s is put in front of the linears. That takes time, but only some 0.6 of that of
  /// a second normalization with gain / s and bias / s (1,024 rows of 768, two threads), and suits any value.
  std::vector<std::string> rows;
  std::string writer;  ///< the linear whose rows these are; empty: none

  bool free() const { return !rows.empty(); }
};

/// What can be smoothed for these linears of an unquantized graph in training mode: what comes from a normalization, and what
/// comes from a linear by way of operations that keep channels apart (an attention, a relu, dropout). Weights that something
/// else reads too stay as they are.
std::vector<SmoothGroup> smooth_groups(const Graph& graph, const std::set<std::string>& linears);

/// The name of what the linears read when the group is smoothed.
std::string smoothed_value(const SmoothGroup& group);

/// Divides the channels of a group's value by powers of two, `scales` (K), and multiplies the columns of the weights by them.
/// The graph changes only where the group is not free: a `mul` by the parameter "VALUE.smoothing" called "VALUE.smoothed".
/// Requires a verified graph.
void smooth(Graph& graph, ParameterStore& parameters, const SmoothGroup& group,
            std::span<const float> scales);

/// Removes the products that `smooth` puts in front of linears and multiplies the columns of their weights by the factors instead, exactly,
/// as these are powers of two. Products that quantizers or linears with quantized weights read stay. Returns whether the graph changed.
bool unsmooth(Graph& graph, ParameterStore& parameters);
/// The same to the graph alone.
bool unsmooth(Graph& graph);
/// The names of what reads such products: linears, in a graph without quantizers.
std::vector<std::string> smoothed_linears(const Graph& graph);

}  // namespace hone
