#pragma once

#include <string>
#include <vector>

#include "hone/ir/graph.h"

namespace hone {

/// Completes the record of an element-wise operation with one result, from its name, summary, inputs and formula.
/// Missing fields are derived:
///
/// - `infer`: values of one type, and truth values, with broadcasting
/// - `reference`: the formula in double, rounded once
/// - `gradient`: the derivatives of the formula, as `elementwise` operations
/// - `flops`: one per element
///
/// An activation of your own is
///
///     of_formula({.name = "quick_gelu",
///                 .summary = "y = x sigmoid(1.702 x)",
///                 .inputs = {"x"},
///                 .formula = [](const Attributes&, std::span<const Formula> in) {
///                   return std::vector{in[0] / (1 + exp(-1.702 * in[0]))};
///                 }})
OpDef of_formula(OpDef def);

/// Returns the type that the inputs broadcast to. Throws `UserError`.
Type broadcast_values(const TypeContext& context);

/// Returns the formulas of an operation with this number of operands, one per result.
std::vector<Formula> formulas_of(const OpDef& op, const Attributes& attributes,
                                 std::size_t operand_count);

/// Operands and attribute of an `elementwise` operation.
struct Elementwise {
  std::vector<Value> operands;
  std::string formula;
};

/// Returns the `elementwise` operation that computes `formulas` of `operands`, without unused and repeated operands.
Elementwise elementwise_of(std::span<const Formula> formulas, std::span<const Value> operands);

}  // namespace hone
