#include "hone/kernels/scalar/activation.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y = x where it is kept, else 0: pruned weights. What is not kept is 0 whatever training makes of x, and has no gradient.
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  const Type &x = context.inputs[0], &kept = context.inputs[1];
  expect_dtype(x, DType::f32, "x");
  expect_dtype(kept, DType::boolean, "kept");
  user_check(kept.shape == x.shape, "kept must have the shape of x, {}, got {}", to_string(x),
             to_string(kept));
  return {x};
}

void forward(Call& call) {
  const Tensor x = reference::dense(call.input(0)), kept = reference::dense(call.input(1));
  const std::span<const float> from = x.values<float>();
  const std::span<float> to = call.output().values<float>();
  const bool* const is_kept = kept.data<bool>();
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = scalar::mask(from[i], is_kept[i]);
}

}  // namespace

std::vector<OpDef> mask() {
  return {{.name = "mask",
           .summary = "y = x where it is kept, else 0",
           .inputs = {"x", {"kept", OperandRole::state}},
           .trait = Trait::element_wise,
           .in_place = 0,
           .infer = infer,
           .reference = forward,
           .gradient = [](GradientContext& c) -> std::vector<Value> {
             return {c.add("mask", {c.output_gradient(), c.input(1)}), {}};
           },
           .flops = one_per_element}};
}

}  // namespace hone::ops
