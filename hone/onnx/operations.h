#pragma once

#include <string>
#include <string_view>

#include "hone/onnx/onnx_builder.h"

namespace hone {

/// How an operation is written in ONNX: adds nodes and returns the name of its result. Null: it has no form.
using OnnxForm = std::string (*)(OnnxBuilder& to, Node& node);

/// The form of the operation of that name: its row in the table, or its formula's, where it has one.
OnnxForm find_onnx_form(const OpDef& op);

/// The nodes that compute the formula of an element-wise operation with one result.
std::string add_formula(OnnxBuilder& to, Node& node);

}  // namespace hone
