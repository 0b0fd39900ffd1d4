#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "hone/passes/pass.h"

namespace hone {

/// The input with token ids.
inline constexpr std::string_view kTokens = "input_ids";

/// Returns the parameters that this input indexes, quantized or not. Throws `UserError` if there are none, and for a
/// table that is read through another operation: codes, a mask.
std::vector<Node*> token_tables(const Graph& graph);

/// Keeps the first `rows` rows of the tables that the input `input_ids` indexes, so that token ids must be below.
/// Requires a verified graph. Throws `UserError`, before anything changes, if no table of weights is indexed or it is
/// read through another operation (codes, a mask), for a number of rows below 1 or above the present one, and if the
/// padding row would be removed. Returns whether the graph changed.
bool trim_vocabulary(Graph& graph, ParameterStore& parameters, std::int64_t rows);

PassDef trim_vocabulary_pass();

}  // namespace hone
