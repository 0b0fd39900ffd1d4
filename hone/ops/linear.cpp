#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y[..., n] = sum_k x[..., k] weight[n, k] + bias[n];   x (rows..., K), weight (N, K), bias (N)
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  const Type& x = context.inputs[0];
  const Type& weight = context.inputs[1];
  const DType dtype = expect_float(x, "x");
  for (const Type& input : context.inputs) expect_dtype(input, dtype, "input");
  expect_rank(weight, 2, "weight");
  user_check(x.rank() >= 2, "x must have at least 2 dimensions, got {}", to_string(x));
  expect_equal(x.dim(-1), weight.dim(1), "columns of x against those of the weight");
  if (context.inputs.size() == 3) {
    expect_rank(context.inputs[2], 1, "bias");
    expect_equal(context.inputs[2].dim(0), weight.dim(0), "length of the bias");
  }
  Shape shape(x.shape.begin(), x.shape.end() - 1);
  shape.push_back(weight.dim(0));
  return {{dtype, shape}};
}

void forward(Call& call) {
  const reference::Rows x(call.input(0));
  const reference::Rows weight(call.input(1));
  const Tensor bias = call.has_input(2) ? reference::dense(call.input(2)) : Tensor();
  Tensor& y = call.output();
  for (std::int64_t row = 0; row < x.count; ++row) {
    const std::span<float> out = reference::row_of(y, row);
    for (std::int64_t n = 0; n < weight.count; ++n) {
      double sum = bias.defined() ? static_cast<double>(bias.data<float>()[n]) : 0;
      for (std::size_t k = 0; k < x[row].size(); ++k)
        sum += static_cast<double>(x[row][k]) * static_cast<double>(weight[n][k]);
      out[static_cast<std::size_t>(n)] = static_cast<float>(sum);
    }
  }
}

std::vector<Value> gradient(GradientContext& c) {
  const Value dy = c.output_gradient();
  std::vector<Value> gradients = {c.add("matmul", {dy, c.input(1)}),
                                  c.add("linear_weight_gradient", {c.input(0), dy})};
  if (c.has_input(2))
    gradients.push_back(c.add("sum_to", {dy}, {{"shape", c.input(2).type().shape}}));
  return gradients;
}

double flops(const TypeContext& context, const Bindings& bindings) {
  return 2 * elements(context.inputs[0], bindings) *
         static_cast<double>(resolve(context.inputs[1].dim(0), bindings));
}

// dweight[n, k] = sum over all rows of dy[..., n] x[..., k]
std::vector<Type> infer_weight_gradient(const TypeContext& context) {
  const Type& x = context.inputs[0];
  const Type& dy = context.inputs[1];
  const DType dtype = expect_float(x, "x");
  expect_dtype(dy, dtype, "dy");
  user_check(x.rank() == dy.rank() && x.rank() >= 1 &&
                 std::equal(x.shape.begin(), x.shape.end() - 1, dy.shape.begin()),
             "x and dy must have the same rows, got {} and {}", to_string(x), to_string(dy));
  return {{dtype, {dy.dim(-1), x.dim(-1)}}};
}

void weight_gradient(Call& call) {
  const reference::Rows x(call.input(0));
  const reference::Rows dy(call.input(1));
  std::vector<double> sums(static_cast<std::size_t>(x.length * dy.length));
  for (std::int64_t row = 0; row < x.count; ++row) {
    std::size_t at = 0;
    for (const float d : dy[row])
      for (const float value : x[row])
        sums[at++] += static_cast<double>(d) * static_cast<double>(value);
  }
  reference::store(sums, call.output());
}

double weight_gradient_flops(const TypeContext& context, const Bindings& bindings) {
  return 2 * elements(context.inputs[0], bindings) *
         static_cast<double>(resolve(context.inputs[1].dim(-1), bindings));
}

}  // namespace

std::vector<OpDef> linear() {
  return {{.name = "linear",
           .summary = "y (rows..., N) = x (rows..., K) weight (N, K)^T + bias (N)",
           .inputs = {"x", {"weight", OperandRole::weight}, {"bias?", OperandRole::bias}},
           .trait = Trait::contraction,
           .infer = infer,
           .reference = forward,
           .gradient = gradient,
           .flops = flops},
          {.name = "linear_weight_gradient",
           .summary = "dweight (N, K) = sum over rows of dy (..., N)^T x (..., K)",
           .inputs = {"x", "dy"},
           .trait = Trait::contraction,
           .infer = infer_weight_gradient,
           .reference = weight_gradient,
           .flops = weight_gradient_flops}};
}

}  // namespace hone::ops
