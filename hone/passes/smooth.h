#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "hone/ir/graph.h"
#include "hone/tensor/parameter_store.h"

/// Smooth scales (Xiao et al., SmoothQuant, 2022, arXiv:2211.10438, section 4): input channels of linears are divided
/// by s_j and the columns of their weights multiplied by it. This changes no product and moves the difficulty of
/// rounding from inputs to weights. Scales are powers of two, so results are bit-identical, except for underflow and
/// overflow.
namespace hone {

/// Linears that read one value, and the place where its channels are divided.
struct SmoothGroup {
  std::string value;                 ///< the node that computes their input
  std::vector<std::string> linears;  ///< that read it as their input
  std::vector<std::string> columns;  ///< their weights, whose columns are multiplied
  /// Parameters whose rows or elements are divided: gain and bias of a normalization, or weight and bias of the
  /// linear that computes the values of an attention, because the operations in between keep channels separate. Empty
  /// if something else reads the value, too: then a product by 1 / s is inserted before the linears. This works for
  /// any value, and takes only about 0.6 of the time of a second normalization with gain / s and bias / s (1,024 rows
  /// of 768, two threads).
  std::vector<std::string> rows;
  std::string writer;  ///< the linear that has these rows; empty: none

  bool free() const { return !rows.empty(); }
};

/// Returns the groups that can be smoothed for these linears of an unquantized graph in training mode: inputs
/// computed by a normalization, or by a linear followed by operations that keep channels separate (an attention, a
/// relu, dropout). Weights with other readers stay unchanged.
std::vector<SmoothGroup> smooth_groups(const Graph& graph, const std::set<std::string>& linears);

/// Returns the name of the linears' input after the group is smoothed.
std::string smoothed_value(const SmoothGroup& group);

/// Divides the channels of a group's value by powers of two, `scales` (K), and multiplies the columns of the weights
/// by them. The graph changes only if the group is not free: a `mul` by the parameter "VALUE.smoothing", named
/// "VALUE.smoothed". Requires a verified graph.
void smooth(Graph& graph, ParameterStore& parameters, const SmoothGroup& group,
            std::span<const float> scales);

/// Removes the products that `smooth` inserted and multiplies the columns of the weights by their factors instead,
/// which is exact for powers of two. Products read by quantizers or by linears with quantized weights stay. Returns
/// whether the graph changed.
bool unsmooth(Graph& graph, ParameterStore& parameters);
/// Changes only the graph.
bool unsmooth(Graph& graph);
/// Returns the names of the readers of such products: linears, in a graph without quantizers.
std::vector<std::string> smoothed_linears(const Graph& graph);

}  // namespace hone
