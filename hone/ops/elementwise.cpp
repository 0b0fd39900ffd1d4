#include "hone/ops/of_formula.h"
#include "hone/ops/rules.h"

// Formulas of elements, as text (hone/ir/formula.h): "x0 + x1; tanh(x0 + x1)" has two results. Gradients of formulas
// and fused element-wise operations (passes/fuse_elementwise.h) are such operations.
namespace hone::ops {
namespace {

std::vector<Formula> formula(const Attributes& attributes, std::span<const Formula> operands) {
  std::vector<Formula> parsed = with_context(
      "`formula`", [&] { return parse_formulas(attributes.get<std::string>("formula")); });
  for (const FormulaSteps::Step& step : FormulaSteps(parsed).steps)
    user_check(step.op != ScalarOp::operand || step.index < operands.size(),
               "formula reads x{} of {} operands", step.index, operands.size());
  return substitute(parsed, operands);
}

std::vector<Formula> formulas_of(const TypeContext& context) {
  std::vector<Formula> operands;
  for (std::size_t i = 0; i < context.inputs.size(); ++i) operands.push_back(Formula::operand(i));
  return formula(context.attributes, operands);
}

std::vector<Type> infer(const TypeContext& context) {
  return std::vector<Type>(formulas_of(context).size(), broadcast_values(context));
}

double flops(const TypeContext& context, const Bindings& bindings) {
  return elements(broadcast_values(context), bindings) *
         static_cast<double>(FormulaSteps(formulas_of(context)).operation_count());
}

}  // namespace

std::vector<OpDef> elementwise() {
  return {of_formula({.name = "elementwise",
                      .summary = "formulas of elements: \"x0 + x1; tanh(x0)\"; shapes broadcast",
                      .inputs = {"operands..."},
                      .attributes = {{"formula", {}}},
                      .in_place = 0,
                      .infer = infer,
                      .formula = formula,
                      .flops = flops})};
}

}  // namespace hone::ops
