#pragma once

#include <set>
#include <string>
#include <vector>

#include "hone/formats/plan.h"
#include "hone/passes/pass.h"

namespace hone {

/// What input `index` of an operation is to a plan, quantized or not: the role that the operation gives it (role.h); where
/// that is a plain input and a parameter stands there, the parameter's own. None for what is not f32, for states and masks, and
/// for operations of adapters, which stay in full precision.
std::optional<Operand> operand_of(const Node& node, std::size_t index);

/// Whether an operation has such an operand; an output is one where it is f32.
bool has_operand(const Node& node, Operand operand);

/// The operation that rounds, and the one that plans and recipes speak of unless they name another.
inline constexpr std::string_view kQuantizer = "quantize", kUsualLayer = "linear";
bool is_quantizer(const Node& node);
/// What stands where the quantizer of a packed parameter was (pack.h).
inline constexpr std::string_view kUnpack = "unpack";
bool is_unpacked(const Node& node);

/// What plans and recipes are of where they name no operations: linears and convolutions.
inline constexpr std::string_view kUsualLayers[] = {kUsualLayer, "conv2d"};
bool is_usual_layer(const Node& node);

/// The plan that gives every operation called `op`, or where that is empty every usual layer, the same formats.
QuantizationPlan uniform_plan(const Graph& graph, const LayerFormats& formats,
                              std::string_view op = {});

/// Puts `quantize(…; format)` in front of (for outputs: behind) the operands that the plan gives
/// formats. A tensor that several operations read in the same format is quantized once. The state
/// of a format becomes parameters called "<quantizer>.<state>", trainable where it is learned; their
/// values come from calibration.
///
/// Quantizers are called "<node>.input_quantizer" (of a second input "<node>.input_quantizer.1"), "<parameter>.quantizer",
/// "<node>.output_quantizer". Requires a verified graph; works on inference and training graphs alike, and on
/// quantized ones where other layers or operands are meant. Throws `UserError`, before anything changes, for a layer that the
/// graph does not have, for an operand that is quantized already, for one that has no operand of that kind, and for formats with state per row on
/// tensors without fixed rows. Returns whether the graph changed.
bool quantize(Graph& graph, const QuantizationPlan& plan);

/// The passes `quantize(…)`, as they print and parse, that do to an unquantized graph what the plan does: layers of one
/// format together.
std::vector<std::string> quantize_passes(const Graph& graph, const QuantizationPlan& plan);

/// Whether anything is quantized, packed weights included.
bool has_quantizers(const Graph& graph);
/// The names of their nodes.
std::set<std::string> quantizer_names(const Graph& graph);

/// How a graph computes, as results name it.
inline constexpr std::string_view kFloat = "fp32", kSimulated = "simulated", kPacked = "packed",
                                  kNative = "native";
/// kPacked: weights are kept in the codes of their formats, and sums are in fp32; kSimulated: values are rounded, their bytes
/// are not fewer; kFloat: nothing is quantized. Whether products of packed weights are of codes (kNative), who runs them
/// knows: `arithmetic_of_run`.
std::string_view arithmetic_of(const Graph& graph);

/// The plan whose quantizers and packed weights stand in the graph, in the graph's order.
QuantizationPlan standing_plan(const Graph& graph);

/// Replaces every `quantize(x, …)` by `x` (packed weights stay as they are) and removes the states that nothing else reads; those called as in `kept` stay.
/// Returns whether there was one.
bool remove_quantizers(Graph& graph, const std::set<std::string>& kept = {});

/// Their records.
PassDef quantize_pass();
PassDef remove_quantizers_pass();

}  // namespace hone
