#include <numeric>

#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y[..., m, n] = sum_k a[..., m, k] b[..., k, n];   leading dimensions broadcast
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  const Type& a = context.inputs[0];
  const Type& b = context.inputs[1];
  const DType dtype = expect_float(a, "a");
  expect_dtype(b, dtype, "b");
  user_check(a.rank() >= 2 && b.rank() >= 2,
             "a and b must be matrices or stacks of them, got {} and {}", to_string(a),
             to_string(b));
  expect_equal(b.dim(-2), a.dim(-1), "rows of b against columns of a");
  Shape shape = broadcast(Shape(a.shape.begin(), a.shape.end() - 2),
                          Shape(b.shape.begin(), b.shape.end() - 2));
  shape.push_back(a.dim(-2));
  shape.push_back(b.dim(-1));
  return {{dtype, shape}};
}

void forward(Call& call) {
  const Tensor& a = call.input(0);
  const Tensor& b = call.input(1);
  Tensor& y = call.output();
  // The sum runs over the last axis of a and the second-to-last axis of b, so each has stride 0 along the other's axis
  // of y.
  Sizes a_strides = reference::broadcast_strides(a, y.sizes());
  Sizes b_strides = reference::broadcast_strides(b, y.sizes());
  const std::int64_t a_step = a.strides().back();
  const std::int64_t b_step = b.strides()[b.strides().size() - 2];
  a_strides.back() = 0;
  a_strides[a_strides.size() - 2] = a.strides()[a.strides().size() - 2];
  b_strides[b_strides.size() - 2] = 0;
  b_strides.back() = b.strides().back();
  const float* a_data = a.data<float>();
  const float* b_data = b.data<float>();
  float* out = y.data<float>();
  for_each_element<2>(y.sizes(), {&a_strides, &b_strides}, [&](const auto& at) {
    double sum = 0;
    for (std::int64_t k = 0; k < a.size(-1); ++k) {
      sum += static_cast<double>(a_data[at[0] + k * a_step]) *
             static_cast<double>(b_data[at[1] + k * b_step]);
    }
    *out++ = static_cast<float>(sum);
  });
}

Value transposed(const GradientContext& c, Value value) {
  Shape axes(static_cast<std::size_t>(value.type().rank()));
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = Dim(static_cast<std::int64_t>(i));
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return c.add("transpose", {value}, {{"axes", axes}});
}

std::vector<Value> gradient(GradientContext& c) {
  const Value dy = c.output_gradient();
  return {c.add("matmul", {dy, transposed(c, c.input(1))}),
          c.add("matmul", {transposed(c, c.input(0)), dy})};
}

double flops(const TypeContext& context, const Bindings& bindings) {
  return 2 * elements(infer(context)[0], bindings) *
         static_cast<double>(resolve(context.inputs[0].dim(-1), bindings));
}

}  // namespace

std::vector<OpDef> matmul() {
  return {{.name = "matmul",
           .summary = "y (..., M, N) = a (..., M, K) b (..., K, N), leading dimensions broadcast",
           .inputs = {"a", "b"},
           .trait = Trait::contraction,
           .infer = infer,
           .reference = forward,
           .gradient = gradient,
           .flops = flops}};
}

}  // namespace hone::ops
