#pragma once

#include <string>
#include <vector>

#include "hone/ir/graph.h"

namespace hone {

/// The record of an element-wise operation of one result that gives its name, summary, inputs and formula. What it leaves out
/// follows:
///
/// - `infer`: values of one type and truth values, which broadcast
/// - `reference`: the formula in double, rounded once
/// - `gradient`: the formula's derivatives, as operations `elementwise`
/// - `flops`: one for each element
///
/// A user's own activation is
///
///     of_formula({.name = "quick_gelu",
///                 .summary = "y = x sigmoid(1.702 x)",
///                 .inputs = {"x"},
///                 .formula = [](const Attributes&, std::span<const Formula> in) {
///                   return std::vector{in[0] / (1 + exp(-1.702 * in[0]))};
///                 }})
OpDef of_formula(OpDef def);

/// The type of values that the inputs broadcast to. Throws `UserError`.
Type broadcast_values(const TypeContext& context);

/// What an operation with a formula makes of so many operands, a formula for each result.
std::vector<Formula> formulas_of(const OpDef& op, const Attributes& attributes,
                                 std::size_t operand_count);

/// Operands and attribute of an operation `elementwise`.
struct Elementwise {
  std::vector<Value> operands;
  std::string formula;
};

/// That computes `formulas` of `operands`, without those that none of them reads, and those that stand there twice once.
Elementwise elementwise_of(std::span<const Formula> formulas, std::span<const Value> operands);

}  // namespace hone
