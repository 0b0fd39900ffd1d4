#include "hone/kernels/scalar/activation.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y = x where |x| >= least, else 0: pruned activations. `least` is a state, one number; gradients go where values go.
namespace hone::ops {
namespace {

std::vector<Type> infer_state(const TypeContext& context, std::size_t state) {
  const Type& x = context.inputs[0];
  expect_dtype(x, DType::f32, "x");
  const Type& least = context.inputs[state];
  user_check((least == Type{DType::f32, {}}), "least must be f32[], got {}", to_string(least));
  return {x};
}

// to = from where |x| >= least, else 0.
void choose(Call& call, const Tensor& x, const Tensor& from, float least) {
  const std::span<const float> values = x.values<float>(), taken = from.values<float>();
  const std::span<float> to = call.output().values<float>();
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = scalar::threshold_gradient(values[i], taken[i], least);
}

}  // namespace

std::vector<OpDef> threshold() {
  return {
      {.name = "threshold",
       .summary = "y = x where |x| >= least, else 0",
       .inputs = {"x", {"least", OperandRole::state}},
       .trait = Trait::element_wise,
       .in_place = 0,
       .infer = [](const TypeContext& context) { return infer_state(context, 1); },
       .reference =
           [](Call& call) {
             const Tensor x = reference::dense(call.input(0));
             choose(call, x, x, *call.input(1).data<float>());
           },
       .gradient = [](GradientContext& c) -> std::vector<Value> {
         return {c.add("threshold_gradient", {c.input(0), c.output_gradient(), c.input(1)}), {}};
       },
       .flops = one_per_element},
      {.name = "threshold_gradient",
       .summary = "dx = dy where |x| >= least, else 0",
       .inputs = {"x", "dy", {"least", OperandRole::state}},
       .trait = Trait::element_wise,
       .in_place = 1,
       .infer =
           [](const TypeContext& context) {
             user_check(context.inputs[0] == context.inputs[1], "dy must be like x, {}, got {}",
                        to_string(context.inputs[0]), to_string(context.inputs[1]));
             return infer_state(context, 2);
           },
       .reference =
           [](Call& call) {
             const Tensor x = reference::dense(call.input(0)), dy = reference::dense(call.input(1));
             choose(call, x, dy, *call.input(2).data<float>());
           },
       .flops = one_per_element}};
}

}  // namespace hone::ops
