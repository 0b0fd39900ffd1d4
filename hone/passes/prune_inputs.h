#pragma once

#include <string>
#include <vector>

#include "hone/passes/pass.h"

/// Pruned activations: inputs of products are 0 where their magnitude is below a threshold, a parameter (a buffer,
/// calibrated once) next to the operation `threshold`:
///
///     %layer.threshold.least = parameter buffer frozen : f32[]
///     %layer.threshold = threshold(%x, %layer.threshold.least) : f32[B, S, 4]
namespace hone {

inline constexpr std::string_view kThreshold = "threshold";
bool is_threshold(const Node& node);
/// Returns the parameter that it compares magnitudes with.
Node& threshold_parameter(const Node& threshold);

/// Inserts a threshold before the inputs of the products that the targets match, as in `PruneOptions::target`.
/// Products that read one value share a threshold, which is named after the first and thus belongs to its layer. It
/// comes before a quantizer if only such products read the quantizer. Calibration sets the values
/// (hone/train/input_thresholds.h). Throws `UserError`, before anything changes, for a glob that matches nothing and
/// for inputs that already have a threshold. Returns the names of the operations.
std::vector<std::string> prune_inputs(Graph& graph, const std::vector<std::string>& target);

std::vector<Node*> input_thresholds(const Graph& graph);

/// The record, which sets all thresholds to one value, and the text of the target as an option.
PassDef prune_inputs_pass();
std::string prune_inputs_text(const std::vector<std::string>& target);

/// Removes thresholds; their readers read their inputs instead. Returns whether there was one.
bool remove_thresholds(Graph& graph);

}  // namespace hone
