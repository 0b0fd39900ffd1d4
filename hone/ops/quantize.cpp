#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y = the nearest value of a number format ("fake quantization"), in fp32. The gradient passes
// straight through (Bengio, Leonard and Courville, "Estimating or propagating gradients", 2013).
// State tensors of the format follow x.
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  const Attribute& attribute = *context.attributes.find("format");
  user_check(std::holds_alternative<Format>(attribute),
             "format must be a number format such as integer(width=8,frac=4)");
  const Format& format = std::get<Format>(attribute);
  const auto states =
      format.def->state == nullptr ? std::vector<FormatStateDef>{} : format.def->state(format);
  user_check(context.inputs.size() == 1 + states.size(), "{} takes {} state tensors, got {}",
             to_string(format), states.size(), context.inputs.size() - 1);
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Type expected{DType::f32, Shape(states[i].sizes.begin(), states[i].sizes.end())};
    user_check(context.inputs[i + 1] == expected, "state {} must be {}, got {}", states[i].name,
               to_string(expected), to_string(context.inputs[i + 1]));
  }
  expect_dtype(context.inputs[0], DType::f32, "x");
  return {context.inputs[0]};
}

void forward(Call& call) {
  const Format& format = call.attributes.get<Format>("format");
  std::vector<Tensor> state;
  for (std::size_t i = 1; i < call.inputs.size(); ++i) state.push_back(call.input(i));
  const Tensor x = reference::dense(call.input(0));
  format.def->quantize_reference(format, x.values<float>(), state, call.output().values<float>());
}

std::vector<Value> gradient(GradientContext& c) {
  std::vector<Value> gradients(c.node.inputs().size());
  gradients[0] = c.output_gradient();
  return gradients;
}

}  // namespace

std::vector<OpDef> quantize() {
  return {{.name = "quantize",
           .summary = "y = the nearest value of a number format",
           .inputs = {"x", "state..."},
           .attributes = {{"format", {}}},
           .trait = Trait::element_wise,
           .infer = infer,
           .reference = forward,
           .gradient = gradient,
           .flops = one_per_element}};
}

}  // namespace hone::ops
