#include <algorithm>
#include <cmath>

#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y[..., c] = exp(x[..., c] - max(x)) / sum_j exp(x[..., j] - max(x))
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  user_check(context.inputs[0].rank() >= 1, "softmax needs an axis to run over");
  return same_as_first(context);
}

void forward(Call& call) {
  const reference::Rows x(call.input(0));
  Tensor& y = call.output();
  for (std::int64_t row = 0; row < x.count; ++row) {
    const double maximum = static_cast<double>(std::ranges::max(x[row]));
    double sum = 0;
    for (const float value : x[row]) sum += std::exp(static_cast<double>(value) - maximum);
    std::ranges::transform(x[row], reference::row_of(y, row).begin(), [&](float value) {
      return static_cast<float>(std::exp(static_cast<double>(value) - maximum) / sum);
    });
  }
}

// dx = y (dy - sum(y dy))
void backward(Call& call) {
  const reference::Rows y(call.input(0));
  const reference::Rows dy(call.input(1));
  Tensor& dx = call.output();
  for (std::int64_t row = 0; row < y.count; ++row) {
    double product = 0;
    for (std::size_t c = 0; c < y[row].size(); ++c)
      product += static_cast<double>(y[row][c]) * static_cast<double>(dy[row][c]);
    for (std::size_t c = 0; c < y[row].size(); ++c) {
      reference::row_of(dx, row)[c] = static_cast<float>(
          static_cast<double>(y[row][c]) * (static_cast<double>(dy[row][c]) - product));
    }
  }
}

double flops(const TypeContext& context, const Bindings& bindings) {
  return 4 * elements(context.inputs[0], bindings);
}

}  // namespace

std::vector<OpDef> softmax() {
  return {{.name = "softmax",
           .summary = "y = exp(x - max) / sum exp(x - max) over the last axis",
           .inputs = {"x"},
           .trait = Trait::row_reduction,
           .in_place = 0,
           .infer = infer,
           .reference = forward,
           .gradient = [](GradientContext& c) -> std::vector<Value> {
             return {c.add("softmax_gradient", {c.result(), c.output_gradient()})};
           },
           .flops = flops},
          {.name = "softmax_gradient",
           .summary = "dx = y (dy - sum(y dy)) over the last axis",
           .inputs = {"y", "dy"},
           .trait = Trait::row_reduction,
           .in_place = 1,
           .infer = infer,
           .reference = backward,
           .flops = flops}};
}

}  // namespace hone::ops
