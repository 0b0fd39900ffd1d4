#pragma once

#include <string>
#include <vector>

#include "hone/passes/pass.h"

/// Pruned activations: what a product reads is 0 where its magnitude is below a number of its own, which is a parameter (a
/// buffer, calibrated once) beside the operation `threshold`:
///
///     %layer.threshold.least = parameter buffer frozen : f32[]
///     %layer.threshold = threshold(%x, %layer.threshold.least) : f32[B, S, 4]
namespace hone {

/// The operation, and whether a node is one.
inline constexpr std::string_view kThreshold = "threshold";
bool is_threshold(const Node& node);
/// The parameter that it compares magnitudes with.
Node& least_of(const Node& threshold);

/// Puts a threshold in front of the inputs of the products that the targets name, as in `PruneOptions::target`; what several of
/// them read has one, called by the first, with whose layer it goes. It stands in front of a quantizer where only such products read that. Their numbers come from
/// calibration (hone/train/input_thresholds.h). Throws `UserError`, before anything changes, for a glob that names nothing and
/// for inputs that have a threshold already. Returns the names of the operations.
std::vector<std::string> prune_inputs(Graph& graph, const std::vector<std::string>& target);

/// The thresholds of a graph, in its order.
std::vector<Node*> input_thresholds(const Graph& graph);

/// Its record, which gives all of them one number, and the target as options stand in it.
PassDef prune_inputs_pass();
std::string prune_inputs_text(const std::vector<std::string>& target);

/// Lets everything read what thresholds read, and removes them. Returns whether there was one.
bool remove_thresholds(Graph& graph);

}  // namespace hone
