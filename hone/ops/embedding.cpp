#include <algorithm>

#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y[..., :] = table[ids[...], :];   ids (...), table (V, H)
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  expect_dtype(context.inputs[0], DType::i64, "ids");
  expect_dtype(context.inputs[1], DType::f32, "table");
  expect_rank(context.inputs[1], 2, "table");
  Type y{DType::f32, context.inputs[0].shape};
  y.shape.push_back(context.inputs[1].dim(1));
  return {y};
}

void forward(Call& call) {
  const Tensor ids = reference::dense(call.input(0));
  const reference::Rows table(call.input(1));
  Tensor& y = call.output();
  std::int64_t row = 0;
  for (const std::int64_t id : ids.values<std::int64_t>()) {
    user_check(id >= 0 && id < table.count, "id {} is outside the embedding table of {} rows", id,
               table.count);
    std::ranges::copy(table[id], reference::row_of(y, row++).begin());
  }
}

// dtable[v, :] = sum over the places where ids = v of dy
std::vector<Type> infer_gradient(const TypeContext& context) {
  expect_dtype(context.inputs[0], DType::i64, "ids");
  expect_dtype(context.inputs[1], DType::f32, "dy");
  user_check(std::holds_alternative<std::int64_t>(*context.attributes.find("rows")),
             "rows must be a whole number");
  return {
      {DType::f32, {Dim(context.attributes.get<std::int64_t>("rows")), context.inputs[1].dim(-1)}}};
}

void backward(Call& call) {
  const Tensor ids = reference::dense(call.input(0));
  const reference::Rows dy(call.input(1));
  Tensor& out = call.output();
  std::vector<double> sums(static_cast<std::size_t>(out.count()));
  std::int64_t row = 0;
  for (const std::int64_t id : ids.values<std::int64_t>()) {
    double* to = sums.data() + id * dy.length;
    for (const float value : dy[row++]) *to++ += static_cast<double>(value);
  }
  reference::store(sums, out);
}

}  // namespace

std::vector<OpDef> embedding() {
  return {{.name = "embedding",
           .summary = "y (..., H) = table[ids (...)], table (V, H)",
           .inputs = {"ids", "table"},
           .infer = infer,
           .reference = forward,
           .gradient = [](GradientContext& c) -> std::vector<Value> {
             const Attributes rows = {{"rows", c.input(1).type().dim(0).size}};
             return {{}, c.add("embedding_gradient", {c.input(0), c.output_gradient()}, rows)};
           }},
          {.name = "embedding_gradient",
           .summary = "dtable (rows, H): dy (..., H) summed by ids (...)",
           .inputs = {"ids", "dy"},
           .attributes = {{"rows", {}}},
           .infer = infer_gradient,
           .reference = backward,
           .flops = [](const TypeContext& c, const Bindings& bindings) {
             return elements(c.inputs[1], bindings);
           }}};
}

}  // namespace hone::ops
