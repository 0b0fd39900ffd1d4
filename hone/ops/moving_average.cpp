#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// average = (1 - momentum) average + momentum x, in place: the running statistics of batch norms.
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  const Type &average = context.inputs[0], &x = context.inputs[1];
  for (const Type& operand : {average, x}) expect_dtype(operand, DType::f32, "average and x");
  user_check(average == x, "average and x must have one shape, got {} and {}", to_string(average),
             to_string(x));
  const double momentum = context.attributes.get<double>("momentum");
  user_check(momentum >= 0 && momentum <= 1, "momentum must be from 0 to 1, got {}", momentum);
  return {average};
}

void forward(Call& call) {
  const Tensor dense = reference::dense(call.input(1));
  const std::span<const float> x = dense.values<float>();
  const std::span<float> average = call.input(0).values<float>();
  const double momentum = call.attributes.get<double>("momentum");
  for (std::size_t i = 0; i < average.size(); ++i)
    average[i] = static_cast<float>((1 - momentum) * static_cast<double>(average[i]) +
                                    momentum * static_cast<double>(x[i]));
  call.set_output(0, call.input(0));
}

}  // namespace

std::vector<OpDef> moving_average() {
  return {{.name = "moving_average",
           .summary = "average after (1 - momentum) average + momentum x, in place",
           .inputs = {{"average", OperandRole::state}, "x"},
           .attributes = {{"momentum", 0.1}},
           .trait = Trait::update,
           .aliases = {0},
           .infer = infer,
           .reference = forward,
           .flops = one_per_element}};
}

}  // namespace hone::ops
