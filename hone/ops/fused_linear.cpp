#include "hone/ops/following_activation.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y[..., n] = activation(sum_k x[..., k] weight[n, k] + bias[n]) + residual[..., n]: a linear fused with the operations
// that follow it. Inference only.
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  const Type &x = context.inputs[0], &weight = context.inputs[1], &bias = context.inputs[2];
  activation_of(context.attributes);
  const DType dtype = expect_float(x, "x");
  for (const Type& input : context.inputs) expect_dtype(input, dtype, "input");
  expect_rank(weight, 2, "weight");
  user_check(x.rank() >= 2, "x must have at least 2 dimensions, got {}", to_string(x));
  expect_equal(x.dim(-1), weight.dim(1), "columns of x against those of the weight");
  expect_rank(bias, 1, "bias");
  expect_equal(bias.dim(0), weight.dim(0), "length of the bias");
  Type y{dtype, Shape(x.shape.begin(), x.shape.end() - 1)};
  y.shape.push_back(weight.dim(0));
  if (context.inputs.size() == 4)
    user_check(context.inputs[3] == y, "the residual must be {}, as the result, got {}",
               to_string(y), to_string(context.inputs[3]));
  return {y};
}

void forward(Call& call) {
  const reference::Rows x(call.input(0)), weight(call.input(1));
  const Tensor bias = reference::dense(call.input(2));
  const Tensor residual = call.has_input(3) ? reference::dense(call.input(3)) : Tensor();
  const auto activation = activation_of(call.attributes).function;
  Tensor& y = call.output();
  for (std::int64_t row = 0; row < x.count; ++row) {
    const std::span<float> out = reference::row_of(y, row);
    for (std::int64_t n = 0; n < weight.count; ++n) {
      double sum = static_cast<double>(bias.data<float>()[n]);
      for (std::size_t k = 0; k < x[row].size(); ++k)
        sum += static_cast<double>(x[row][k]) * static_cast<double>(weight[n][k]);
      sum = activation(sum);
      if (residual.defined())
        sum += static_cast<double>(residual.data<float>()[row * weight.count + n]);
      out[static_cast<std::size_t>(n)] = static_cast<float>(sum);
    }
  }
}

// The cost of linear, activation and addition as separate operations.
double flops(const TypeContext& context, const Bindings& bindings) {
  const double results = elements(infer(context)[0], bindings);
  const double columns = static_cast<double>(resolve(context.inputs[1].dim(1), bindings));
  const int steps = (activation_of(context.attributes).name == "none" ? 0 : 1) +
                    (context.inputs.size() == 4 ? 1 : 0);
  return results * (2 * columns + steps);
}

}  // namespace

std::vector<OpDef> fused_linear() {
  return {
      {.name = "fused_linear",
       .summary = "y (rows..., N) = activation(x (rows..., K) weight (N, K)^T + bias (N)) + "
                  "residual (rows..., N)",
       .inputs = {"x", {"weight", OperandRole::weight}, {"bias", OperandRole::bias}, "residual?"},
       .attributes = {{"activation", std::string("none")}},
       .trait = Trait::contraction,
       .infer = infer,
       .reference = forward,
       .flops = flops}};
}

}  // namespace hone::ops
