#pragma once

#include <set>
#include <string>
#include <vector>

#include "hone/formats/plan.h"
#include "hone/passes/pass.h"

namespace hone {

/// Returns the role of input `index` of an operation in a plan, quantized or not: the role that the operation gives
/// it (role.h), or, for a parameter read as a plain input, that of the parameter. None for types other than f32, for
/// states and masks, and for operations of adapters, which stay in full precision.
std::optional<Operand> operand_of(const Node& node, std::size_t index);

/// Returns whether an operation has such an operand; an f32 result counts as an output.
bool has_operand(const Node& node, Operand operand);

/// The quantizing operation, and the operation that plans and recipes apply to by default.
inline constexpr std::string_view kQuantizer = "quantize", kDefaultLayer = "linear";
bool is_quantizer(const Node& node);
/// The operation that replaces the quantizer of a packed parameter (pack.h).
inline constexpr std::string_view kUnpack = "unpack";
bool is_unpacked(const Node& node);

/// Operations that plans and recipes apply to unless they name others: linears and convolutions.
inline constexpr std::string_view kDefaultLayers[] = {kDefaultLayer, "conv2d"};
bool is_default_layer(const Node& node);

/// Returns the plan that assigns the same formats to every operation `op`, or if that is empty to every usual layer.
QuantizationPlan uniform_plan(const Graph& graph, const LayerFormats& formats,
                              std::string_view op = {});

/// Inserts `quantize(…; format)` before (for outputs: after) the operands that the plan assigns formats to. A tensor
/// that several operations read in the same format is quantized once. The state of a format becomes parameters named
/// "<quantizer>.<state>", trainable if it is learned; calibration sets their values.
///
/// Quantizers are named "<node>.input_quantizer" (for a second input "<node>.input_quantizer.1"),
/// "<parameter>.quantizer", "<node>.output_quantizer". Requires a verified graph; works on inference and training
/// graphs, and on quantized ones if the plan is for other layers or operands. Throws `UserError`, before anything
/// changes, for a missing layer, for an operand that is already quantized, for a layer without such an operand, and
/// for formats with state per row on tensors without a fixed number of rows. Returns whether the graph changed.
bool quantize(Graph& graph, const QuantizationPlan& plan);

/// Returns the texts of passes `quantize(…)` that apply the plan to an unquantized graph; layers with equal formats
/// share one.
std::vector<std::string> quantize_passes(const Graph& graph, const QuantizationPlan& plan);

/// Returns whether anything is quantized, including packed weights.
bool has_quantizers(const Graph& graph);
std::set<std::string> quantizer_names(const Graph& graph);

/// Names of the arithmetic of a graph in results.
inline constexpr std::string_view kFloat = "fp32", kSimulated = "simulated", kPacked = "packed",
                                  kNative = "native";
/// Returns kPacked if weights are stored as codes and sums are in fp32; kSimulated if values are rounded but still
/// take fp32 bytes; kFloat if nothing is quantized. Whether products of packed weights compute with codes (kNative)
/// depends on the session: `arithmetic_of_run`.
std::string_view arithmetic_of(const Graph& graph);

/// Returns the plan of the graph's quantizers and packed weights, in the graph's order.
QuantizationPlan current_plan(const Graph& graph);

/// Replaces every `quantize(x, …)` by `x` (packed weights stay) and removes the states that nothing else reads.
/// Quantizers named in `kept` stay. Returns whether there was one.
bool remove_quantizers(Graph& graph, const std::set<std::string>& kept = {});

PassDef quantize_pass();
PassDef remove_quantizers_pass();

}  // namespace hone
