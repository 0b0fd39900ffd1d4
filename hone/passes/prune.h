#pragma once

#include <map>
#include <string>
#include <vector>

#include "hone/passes/kept_elements.h"
#include "hone/passes/pass.h"

/// Pruned weights. A mask is a parameter (role `mask`) beside its weight, and the operation `mask` what everything reads in
/// place of the weight:
///
///     %w.mask = parameter mask frozen : bool[3, 4]
///     %w.masked = mask(%w, %w.mask) : f32[3, 4]
///
/// So the graph alone keeps pruned weights zero: what training makes of one is masked, and its gradient is zero. Masks stand in
/// front of quantizers, `quantize(mask(w))`, whichever came first: scales are those of what is left, and products read
/// quantizers as they always do.
namespace hone {

struct PruneOptions {
  /// Globs over the names of operations that multiply with weights, such as linears. None: all but those whose results are
  /// the graph's outputs (the classifier).
  std::vector<std::string> target = {};
  PruneRule rule = {};
  /// `PrunedTensor::statistics`, by the name of the weight (hone/train/input_norms.h, observed_gradients.h, training_graph.h).
  std::map<std::string, Tensor> statistics = {};
  /// Of `movement`: masks that stay, by the name of the weight. What other masks have taken may return.
  std::map<std::string, Tensor> final_masks = {};
};

/// The operation, and whether a node is one.
inline constexpr std::string_view kMask = "mask";
bool is_mask(const Node& node);

/// The parameter whose values stand there, be they masked or not; null where there is none.
Node* stored_parameter(Value value);
/// The values that stand there, masked where they are. `value` must have a stored parameter.
Tensor stored_values(Value value, const ParameterStore& parameters);

/// The weight that an operation multiplies with, rounded, masked or as it is; nothing where it has none, or reads one as
/// something else.
Value product_weight(const Node& node);
/// What it is multiplied with.
Value product_input(const Node& product);

/// The operations that the targets name, in the graph's order. Throws `UserError` for a glob that names nothing.
std::vector<Node*> prunable_products(const Graph& graph, const std::vector<std::string>& target);
/// The weights that the targets read, in the graph's order, each once. Throws `UserError` for a glob that names nothing, and
/// for packed weights.
std::vector<Node*> prunable_weights(const Graph& graph, const std::vector<std::string>& target);

/// Chooses what is kept of these weights, and puts it into their masks, which are added where there are none. What a mask has
/// taken stays taken. Weights that go are 0 from here on, in `parameters` too; but those that `movement` takes may return
/// (`PruneOptions::final_masks`), and keep their values until `apply_masks`. Throws `UserError` as `prunable_weights` and
/// `kept_elements`, before anything changes. Returns whether anything changed.
bool prune(Graph& graph, ParameterStore& parameters, const PruneOptions& options);

/// The weights that have masks, in the graph's order.
std::vector<Node*> pruned_weights(const Graph& graph);
bool is_masked(const Node& weight);
/// The mask of such a weight: a parameter.
Node& mask_of(const Node& weight);
/// What everything reads in its place.
Value masked_value(const Node& weight);

/// Masks a parameter by `kept`, bool of its shape: adds the operation and its parameter where there is none. `put_mask` also
/// puts zeros into `parameters`.
void set_mask(Graph& graph, ParameterStore& parameters, Node& weight, const Tensor& kept);
void put_mask(Graph& graph, ParameterStore& parameters, Node& weight, const Tensor& kept);

/// `values`, fp32, with zeros where they are not `kept`, bool of their shape. Both are dense, on the CPU. A copy, unless they have these
/// zeros already: what is in a file stays there.
Tensor masked(const Tensor& values, const Tensor& kept);

/// Puts zeros into `parameters` where masks have them.
void apply_masks(const Graph& graph, ParameterStore& parameters);

/// The same, and takes the masks away: what the graph computes stays the same, and training may change all weights. Returns
/// whether there was one.
bool unprune(Graph& graph, ParameterStore& parameters);

/// Takes masks away and leaves all weights as they are. Returns whether there was one.
bool remove_masks(Graph& graph);

/// Their records, and options as they stand in that of `prune`.
PassDef prune_pass();
PassDef unprune_pass();
std::string prune_text(const PruneOptions& options);

}  // namespace hone
