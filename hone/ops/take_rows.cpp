#include <algorithm>
#include <functional>

#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y[b, 0, :] = x[0, rows[b], :]: one token of each text, from texts stored back to back; x (1, T, C), y (B, 1, C).
namespace hone::ops {
namespace {

void expect_rows(const Type& rows) {
  expect_dtype(rows, DType::i64, "rows");
  expect_rank(rows, 1, "rows");
}

Type rows_of(const Type& x, const Type& rows) { return {x.dtype, {rows.dim(0), 1, x.dim(2)}}; }

std::vector<Type> infer(const TypeContext& context) {
  const Type &x = context.inputs[0], &rows = context.inputs[1];
  expect_float(x, "x");
  expect_rank(x, 3, "x");
  expect_equal(x.dim(0), Dim(1), "texts of x");
  expect_rows(rows);
  return {rows_of(x, rows)};
}

// Calls body(row of x, row of y).
template <typename Body>
void for_each_row(const Tensor& rows, std::int64_t count, Body&& body) {
  const Tensor dense = reference::dense(rows);
  std::int64_t to = 0;
  for (const std::int64_t row : dense.values<std::int64_t>()) {
    user_check(row >= 0 && row < count, "row {} is outside of x, which has {}", row, count);
    body(row, to++);
  }
}

void forward(Call& call) {
  const reference::Rows x(call.input(0));
  for_each_row(call.input(1), x.count, [&](std::int64_t from, std::int64_t to) {
    std::ranges::copy(x[from], reference::row_of(call.output(), to).begin());
  });
}

std::vector<Type> infer_gradient(const TypeContext& context) {
  const Type &rows = context.inputs[0], &dy = context.inputs[1];
  expect_rows(rows);
  const DType dtype = expect_float(dy, "dy");
  const Attribute& shape = *context.attributes.find("shape");
  user_check(std::holds_alternative<Shape>(shape) && std::get<Shape>(shape).size() == 3,
             "shape must be a list such as [1, T, 4]");
  const Type dx{dtype, std::get<Shape>(shape)};
  const Type expected = rows_of(dx, rows);
  user_check(dy == expected, "dy: expected {}, got {}", to_string(expected), to_string(dy));
  return {dx};
}

void backward(Call& call) {
  const reference::Rows dy(call.input(1));
  Tensor& dx = call.output();
  std::ranges::fill(dx.values<float>(), 0.0f);
  for_each_row(call.input(0), dx.size(1), [&](std::int64_t to, std::int64_t from) {
    const std::span<float> sum = reference::row_of(dx, to);
    std::ranges::transform(sum, dy[from], sum.begin(), std::plus<>());
  });
}

}  // namespace

std::vector<OpDef> take_rows() {
  return {{.name = "take_rows",
           .summary = "y (B, 1, C) = x (1, T, C) at rows (B)",
           .inputs = {"x", "rows"},
           .trait = Trait::gather,
           .infer = infer,
           .reference = forward,
           .gradient = [](GradientContext& c) -> std::vector<Value> {
             return {c.add("take_rows_gradient", {c.input(1), c.output_gradient()},
                           {{"shape", c.input(0).type().shape}}),
                     {}};
           }},
          {.name = "take_rows_gradient",
           .summary = "dx (1, T, C): dy (B, 1, C) added at rows (B), zero elsewhere",
           .inputs = {"rows", "dy"},
           .attributes = {{"shape", {}}},
           .infer = infer_gradient,
           .reference = backward}};
}

}  // namespace hone::ops
