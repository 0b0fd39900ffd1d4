#include "hone/ops/list.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y = the nearest value of a number format ("fake quantization"), in fp32. State tensors of the format follow x. The
// gradient is the straight-through estimator, or the format's own rule.
namespace hone::ops {
namespace {

Type type_of(const FormatStateDef& state, const Type& x, const Format& format) {
  Shape shape(state.sizes.begin(), state.sizes.end());
  if (!state.per_row) return {DType::f32, shape};
  std::int64_t rows = 1;
  for (std::int64_t axis = 0; axis + 1 < x.rank(); ++axis) {
    user_check(x.dim(axis).symbol == 0,
               "{} has a {} per row, but {} has no fixed rows; use another format for it",
               to_string(format), state.name, to_string(x));
    rows *= x.dim(axis).size;
  }
  shape.insert(shape.begin(), Dim(rows));
  return {DType::f32, shape};
}

const Format& format_in(const TypeContext& context) {
  const Attribute& attribute = *context.attributes.find("format");
  user_check(std::holds_alternative<Format>(attribute),
             "format must be a number format such as integer(width=8,frac=4)");
  return std::get<Format>(attribute);
}

// Checks that the inputs from `first` on are the states of a format for `x`.
void expect_states(const TypeContext& context, const Type& x, std::size_t first) {
  const Format& format = format_in(context);
  const std::vector<Type> states = state_types(format, x);
  user_check(context.inputs.size() == first + states.size(), "{} takes {} state tensors, got {}",
             to_string(format), states.size(), context.inputs.size() - first);
  for (std::size_t i = 0; i < states.size(); ++i) {
    user_check(context.inputs[first + i] == states[i], "state {} must be {}, got {}",
               states_of(format)[i].name, to_string(states[i]),
               to_string(context.inputs[first + i]));
  }
}

std::vector<Type> infer(const TypeContext& context) {
  format_in(context);
  expect_dtype(context.inputs[0], DType::f32, "x");
  expect_states(context, context.inputs[0], 1);
  return {context.inputs[0]};
}

std::vector<Tensor> states_from(const Call& call, std::size_t first) {
  std::vector<Tensor> state;
  for (std::size_t i = first; i < call.inputs.size(); ++i)
    state.push_back(reference::dense(call.input(i)));
  return state;
}

// Depends on the format: elements, blocks, rows or whole tensors share scales.
Trait trait_of(const TypeContext& context) {
  switch (locality_of(format_in(context), context.inputs[0].rank())) {
    case Locality::element:
      return Trait::element_wise;
    case Locality::row:
      return Trait::row_reduction;
    case Locality::tensor:
      break;
  }
  return Trait::other;
}

void forward(Call& call) {
  const Format& format = call.attributes.get<Format>("format");
  const std::vector<Tensor> state = states_from(call, 1);
  const Tensor x = reference::dense(call.input(0));
  format.def->quantize_reference({format, x.sizes(), x.values<float>(), state},
                                 call.output().values<float>());
}

std::vector<Value> gradient(GradientContext& c) {
  std::vector<Value> gradients(c.node.inputs().size());
  const Format& format = c.node.attributes().get<Format>("format");
  if (gradient_rule_of(format) == GradientRule::straight_through) {
    gradients[0] = c.output_gradient();
    return gradients;
  }
  std::vector<Value> inputs = {c.input(0), c.output_gradient()};
  inputs.insert(inputs.end(), c.node.inputs().begin() + 1, c.node.inputs().end());
  Node& node = c.add_node("quantize_gradient", inputs, {{"format", format}});
  const std::vector<FormatStateDef> states = states_of(format);
  gradients[0] = {&node, 0};
  int result = 1;
  for (std::size_t i = 0; i < states.size(); ++i)
    if (states[i].learned) gradients[i + 1] = {&node, result++};
  return gradients;
}

// dx, and the gradient of each learned state, by the format's rule
std::vector<Type> infer_gradient(const TypeContext& context) {
  const Format& format = format_in(context);
  const Type& x = context.inputs[0];
  expect_dtype(x, DType::f32, "x");
  user_check(context.inputs[1] == x, "dy must be like x, {}, got {}", to_string(x),
             to_string(context.inputs[1]));
  expect_states(context, x, 2);
  user_check(gradient_rule_of(format) == GradientRule::own, "gradients pass {} straight through",
             to_string(format));
  std::vector<Type> types = {x};
  const std::vector<FormatStateDef> states = states_of(format);
  for (std::size_t i = 0; i < states.size(); ++i)
    if (states[i].learned) types.push_back(context.inputs[2 + i]);
  return types;
}

void backward(Call& call) {
  const Format& format = call.attributes.get<Format>("format");
  const Tensor x = reference::dense(call.input(0)), dy = reference::dense(call.input(1));
  const std::vector<Tensor> state = states_from(call, 2);
  const std::vector<FormatStateDef> states = states_of(format);
  std::vector<Tensor> state_gradients(states.size());
  std::size_t result = 1;
  for (std::size_t i = 0; i < states.size(); ++i)
    if (states[i].learned) state_gradients[i] = call.output(result++);
  format.def->backward({format, x.sizes(), x.values<float>(), state}, call.pool(),
                       dy.values<float>(), call.output().values<float>(), state_gradients);
}

}  // namespace

std::vector<OpDef> quantize() {
  return {{.name = "quantize",
           .summary = "y = the nearest value of a number format",
           .inputs = {"x", {"state...", OperandRole::state}},
           .attributes = {{"format", {}}},
           .trait_of = trait_of,
           .in_place = 0,
           .infer = infer,
           .reference = forward,
           .gradient = gradient,
           .flops = one_per_element},
          {.name = "quantize_gradient",
           .summary = "dx and the gradients of learned states, by the format's own rule",
           .inputs = {"x", "dy", {"state...", OperandRole::state}},
           .attributes = {{"format", {}}},
           .infer = infer_gradient,
           .reference = backward,
           .flops = one_per_element}};
}

}  // namespace hone::ops

namespace hone {

std::vector<Type> state_types(const Format& format, const Type& x) {
  std::vector<Type> types;
  for (const FormatStateDef& state : states_of(format))
    types.push_back(ops::type_of(state, x, format));
  return types;
}

}  // namespace hone
