#pragma once

#include <map>
#include <string>
#include <vector>

#include "hone/passes/kept_elements.h"
#include "hone/passes/pass.h"

/// Pruned weights. A mask is a parameter (role `mask`) next to its weight; the operation `mask` replaces the weight
/// for all readers:
///
///     %w.mask = parameter mask frozen : bool[3, 4]
///     %w.masked = mask(%w, %w.mask) : f32[3, 4]
///
/// So the graph itself keeps pruned weights zero: training cannot change them, since they are masked and their
/// gradient is zero. Masks come before quantizers, `quantize(mask(w))`, whichever was added first: scales are those
/// of the remaining weights, and products read quantizers as usual.
namespace hone {

struct PruneOptions {
  /// Globs over the names of operations that multiply with weights, such as linears. Empty: all except those that
  /// compute the graph's outputs (the classifier).
  std::vector<std::string> target = {};
  PruneRule rule = {};
  /// `PrunedTensor::statistics`, by the name of the weight (hone/train/input_norms.h, observed_gradients.h,
  /// training_graph.h).
  std::map<std::string, Tensor> statistics = {};
  /// For `movement`: masks that stay, by the name of the weight. Weights removed by other masks may return.
  std::map<std::string, Tensor> final_masks = {};
};

inline constexpr std::string_view kMask = "mask";
bool is_mask(const Node& node);

/// Returns the parameter behind a value, masked or not; null if there is none.
Node* stored_parameter(Value value);
/// Returns the parameter's values, with the mask applied. `value` must have a stored parameter.
Tensor stored_values(Value value, const ParameterStore& parameters);

/// Returns the weight that an operation multiplies with, after its mask and before its quantizer; empty if it has
/// none, or reads it through another operation.
Value product_weight(const Node& node);
/// Returns the input that is multiplied with the weight.
Value product_input(const Node& product);

/// Returns the operations that the targets match, in the graph's order. Throws `UserError` for a glob that matches
/// nothing.
std::vector<Node*> prunable_products(const Graph& graph, const std::vector<std::string>& target);
/// Returns the weights that the targets read, in the graph's order, without duplicates. Throws `UserError` for a glob
/// that matches nothing, and for packed weights.
std::vector<Node*> prunable_weights(const Graph& graph, const std::vector<std::string>& target);

/// Chooses which elements of these weights to keep, and stores them in masks, which are added if missing. Elements
/// removed by a mask stay removed. Removed weights become 0 in `parameters`, too, except with `movement`: there they
/// may return (`PruneOptions::final_masks`), and keep their values until `apply_masks`. Throws `UserError` as
/// `prunable_weights` and `kept_elements`, before anything changes. Returns whether anything changed.
bool prune(Graph& graph, ParameterStore& parameters, const PruneOptions& options);

/// Returns the weights that have masks, in the graph's order.
std::vector<Node*> pruned_weights(const Graph& graph);
bool is_masked(const Node& weight);
/// Returns the mask of such a weight, a parameter.
Node& mask_of(const Node& weight);
/// Returns the masked value, which all readers read.
Value masked_value(const Node& weight);

/// Masks a parameter by `kept`, bool of its shape; adds the operation and the mask if missing. `insert_mask` also zeroes
/// the values in `parameters`.
void set_mask(Graph& graph, ParameterStore& parameters, Node& weight, const Tensor& kept);
void insert_mask(Graph& graph, ParameterStore& parameters, Node& weight, const Tensor& kept);

/// Returns `values`, fp32, with zeros where `kept`, bool of their shape, is false. Both are dense, on the CPU.
/// Returns `values` itself, which may be file-backed, if they have these zeros already; else a copy.
Tensor masked(const Tensor& values, const Tensor& kept);

/// Zeroes the masked values in `parameters`.
void apply_masks(const Graph& graph, ParameterStore& parameters);

/// Applies and removes the masks: the graph computes the same, and training may change all weights. Returns whether
/// there was one.
bool unprune(Graph& graph, ParameterStore& parameters);

/// Removes masks and leaves all weights unchanged. Returns whether there was one.
bool remove_masks(Graph& graph);

/// Records of the passes, and the text of options in the form of `prune`.
PassDef prune_pass();
PassDef unprune_pass();
std::string prune_text(const PruneOptions& options);

}  // namespace hone
