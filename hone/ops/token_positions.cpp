#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// RoBERTa's token positions: padding + 1, padding + 2, … for the tokens of a text, skipping padding, whose position is
// `padding` (Liu et al., "RoBERTa: A robustly optimized BERT pretraining approach", 2019; the formula is that of its
// code).
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  expect_dtype(context.inputs[0], DType::i64, "ids");
  expect_rank(context.inputs[0], 2, "ids");
  const std::int64_t padding = context.attributes.get<std::int64_t>("padding");
  user_check(padding >= 0, "padding must be at least 0, got {}", padding);
  return {context.inputs[0]};
}

void forward(Call& call) {
  const Tensor ids = reference::dense(call.input(0));
  const std::int64_t padding = call.attributes.get<std::int64_t>("padding");
  const std::int64_t length = ids.size(1);
  const std::span<const std::int64_t> id = ids.values<std::int64_t>();
  const std::span<std::int64_t> y = call.output().values<std::int64_t>();
  std::int64_t position = padding;
  for (std::size_t i = 0; i < id.size(); ++i) {
    if (static_cast<std::int64_t>(i) % length == 0) position = padding;
    y[i] = id[i] == padding ? padding : ++position;
  }
}

}  // namespace

std::vector<OpDef> token_positions() {
  return {{.name = "token_positions",
           .summary = "y (B, S) = padding + how many of ids (B, S) up to here are not padding; "
                      "padding where they are",
           .inputs = {"ids"},
           .attributes = {{"padding", {}}},
           .infer = infer,
           .reference = forward}};
}

}  // namespace hone::ops
