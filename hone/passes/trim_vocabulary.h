#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "hone/passes/pass.h"

namespace hone {

/// The input that holds numbers of tokens.
inline constexpr std::string_view kTokens = "input_ids";

/// The parameters that it looks up, quantized or not. Throws `UserError` where there are none, and for a table that something else
/// stands before: codes, a mask.
std::vector<Node*> token_tables(const Graph& graph);

/// Keeps the first `rows` of the tables that the input `input_ids` looks up, so that numbers of tokens lie below. Requires a
/// verified graph. Throws `UserError`, before anything changes, where no table of weights is looked up or it has something
/// beside it (codes, a mask), for fewer rows than 1 or more than there are, and where the row of padding would go.
/// Returns whether the graph changed.
bool trim_vocabulary(Graph& graph, ParameterStore& parameters, std::int64_t rows);

/// Its record.
PassDef trim_vocabulary_pass();

}  // namespace hone
