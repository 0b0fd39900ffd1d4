#include <algorithm>
#include <limits>

#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// The term added to attention scores: 0 where mask (B, S) is set, else the lowest float; y (B, 1, 1, S)
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  const Type& mask = context.inputs[0];
  expect_dtype(mask, DType::i64, "mask");
  expect_rank(mask, 2, "mask");
  return {{DType::f32, {mask.dim(0), 1, 1, mask.dim(1)}}};
}

void forward(Call& call) {
  const Tensor mask = reference::dense(call.input(0));
  std::ranges::transform(
      mask.values<std::int64_t>(), call.output().data<float>(),
      [](std::int64_t keep) { return keep != 0 ? 0.0f : std::numeric_limits<float>::lowest(); });
}

}  // namespace

std::vector<OpDef> attention_mask() {
  return {{.name = "attention_mask",
           .summary = "y (B, 1, 1, S) = 0 where mask (B, S) is set, else the lowest float",
           .inputs = {"mask"},
           .infer = infer,
           .reference = forward}};
}

}  // namespace hone::ops
