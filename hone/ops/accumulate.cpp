#include <algorithm>

#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// sum = sum + x in place, over the batches of one step. If `first` is not 0, sum = x, whatever it contained.
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  const Type &sum = context.inputs[0], &x = context.inputs[1];
  for (const Type& operand : {sum, x}) expect_dtype(operand, DType::f32, "sum and x");
  user_check(sum == x, "sum and x must have one shape, got {} and {}", to_string(sum),
             to_string(x));
  expect_dtype(context.inputs[2], DType::i64, "first");
  expect_rank(context.inputs[2], 0, "first");
  return {sum};
}

void forward(Call& call) {
  const bool first = *call.input(2).data<std::int64_t>() != 0;
  const Tensor dense = reference::dense(call.input(1));
  const std::span<const float> x = dense.values<float>();
  const std::span<float> sum = call.input(0).values<float>();
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = first ? x[i] : sum[i] + x[i];
  call.set_output(0, call.input(0));
}

}  // namespace

std::vector<OpDef> accumulate() {
  return {{.name = "accumulate",
           .summary = "sum after x is added to it, in place; x itself where `first` is not 0",
           .inputs = {{"sum", OperandRole::state}, "x", "first"},
           .trait = Trait::update,
           .aliases = {0},
           .infer = infer,
           .reference = forward,
           .flops = one_per_element}};
}

}  // namespace hone::ops
