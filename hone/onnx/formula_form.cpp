#include "hone/onnx/operations.h"
#include "hone/ops/of_formula.h"

namespace hone {
namespace {

std::string_view op_of(ScalarOp op) {
  switch (op) {
    case ScalarOp::add:
      return "Add";
    case ScalarOp::subtract:
      return "Sub";
    case ScalarOp::multiply:
      return "Mul";
    case ScalarOp::divide:
      return "Div";
    case ScalarOp::negate:
      return "Neg";
    case ScalarOp::absolute:
      return "Abs";
    case ScalarOp::square_root:
      return "Sqrt";
    case ScalarOp::exponential:
      return "Exp";
    case ScalarOp::error_function:
      return "Erf";
    case ScalarOp::hyperbolic_tangent:
      return "Tanh";
    case ScalarOp::operand:
    case ScalarOp::constant:
    case ScalarOp::select_less:
      break;
  }
  HONE_ASSERT(false, "a step of a formula that is no function: {}", static_cast<int>(op));
}

// Returns an operand as a number, with truth values as 0 and 1.
std::string operand(OnnxBuilder& to, Value value) {
  const std::string name = to.name_of(value);
  if (value.type().dtype != DType::boolean) return name;
  return to.cast(name, OnnxType::f32);
}

}  // namespace

std::string add_formula(OnnxBuilder& to, Node& node) {
  const FormulaSteps formula(formulas_of(node.op(), node.attributes(), node.inputs().size()));
  user_check(formula.results.size() == 1,
             "{}: ONNX export does not support operations with {} results", node.name(),
             formula.results.size());
  std::vector<std::string> names;
  for (const FormulaSteps::Step& step : formula.steps) {
    if (step.op == ScalarOp::operand) {
      names.push_back(operand(to, node.input(step.index)));
      continue;
    }
    if (step.op == ScalarOp::constant) {
      names.push_back(to.number(static_cast<float>(step.value)));
      continue;
    }
    std::vector<std::string> arguments;
    for (std::size_t i = 0; i < argument_count(step.op); ++i)
      arguments.push_back(names[step.arguments[i]]);
    if (step.op == ScalarOp::select_less) {
      const std::string less = to.add("Less", {arguments[0], arguments[1]});
      names.push_back(to.add("Where", {less, arguments[2], arguments[3]}));
    } else {
      names.push_back(to.add(op_of(step.op), std::move(arguments)));
    }
  }
  return names[formula.results[0]];
}

}  // namespace hone
