#pragma once

#include <string>
#include <string_view>

#include "hone/onnx/onnx_builder.h"

namespace hone {

/// The export of an operation to ONNX: adds nodes and returns the name of the result. Null: not supported.
using OnnxForm = std::string (*)(OnnxBuilder& to, Node& node);

/// Returns the export function of an operation: its row in the table, or that for formulas if it has one.
OnnxForm find_onnx_form(const OpDef& op);

/// Adds the nodes that compute the formula of an element-wise operation with one result.
std::string add_formula(OnnxBuilder& to, Node& node);

}  // namespace hone
