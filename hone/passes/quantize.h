#pragma once

#include <string>
#include <vector>

#include "hone/ir/graph.h"

namespace hone {

/// Puts `quantize(…; format)` in front of every tensor that a `linear` reads: its input, its weight and its bias.
/// A tensor read by several linears is quantized once. The state of a format becomes parameters called
/// "<quantizer>.<state>", not trainable, whose values calibration provides.
///
/// Quantizers are called "<linear>.input_quantizer", "<parameter>.quantizer". Requires a verified graph without
/// quantizers; works on inference and training graphs alike. Returns whether the graph changed.
bool quantize(Graph& graph, const Format& format);

/// The names of the linears whose operands pass through quantizers.
std::vector<std::string> quantized_modules(const Graph& graph);

}  // namespace hone
