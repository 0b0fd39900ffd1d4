#include <algorithm>
#include <cmath>

#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y[..., c] = x[..., c] / max(norm, eps),  norm = sqrt(sum_c x[..., c]²): rows scaled to length 1.
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  user_check(context.inputs[0].rank() >= 1, "normalize needs an axis to run over");
  const double eps = context.attributes.get<double>("eps");
  user_check(eps > 0, "eps must be above 0, got {}", eps);
  return same_as_first(context);
}

double product(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t c = 0; c < a.size(); ++c)
    sum += static_cast<double>(a[c]) * static_cast<double>(b[c]);
  return sum;
}

void forward(Call& call) {
  const reference::Rows x(call.input(0));
  const double eps = call.attributes.get<double>("eps");
  Tensor& y = call.output();
  for (std::int64_t row = 0; row < x.count; ++row) {
    const double length = std::max(std::sqrt(product(x[row], x[row])), eps);
    std::ranges::transform(x[row], reference::row_of(y, row).begin(), [&](float value) {
      return static_cast<float>(static_cast<double>(value) / length);
    });
  }
}

// dx = (dy - y sum(y dy)) / norm, with y = x / norm; dy / eps for rows shorter than eps.
void backward(Call& call) {
  const reference::Rows x(call.input(0)), dy(call.input(1));
  const double eps = call.attributes.get<double>("eps");
  Tensor& dx = call.output();
  for (std::int64_t row = 0; row < x.count; ++row) {
    const double norm = std::sqrt(product(x[row], x[row])), length = std::max(norm, eps);
    const double along = norm > eps ? product(x[row], dy[row]) / (norm * norm) : 0;
    for (std::size_t c = 0; c < x[row].size(); ++c)
      reference::row_of(dx, row)[c] = static_cast<float>(
          (static_cast<double>(dy[row][c]) - static_cast<double>(x[row][c]) * along) / length);
  }
}

double flops(const TypeContext& context, const Bindings& bindings) {
  return 3 * elements(context.inputs[0], bindings);
}

}  // namespace

std::vector<OpDef> normalize() {
  return {
      {.name = "normalize",
       .summary = "y = x / max(norm, eps), norm = sqrt(sum x²) over the last axis of x (..., C)",
       .inputs = {"x"},
       .attributes = {{"eps", 1e-12}},
       .trait = Trait::row_reduction,
       .in_place = 0,
       .infer = infer,
       .reference = forward,
       .gradient = [](GradientContext& c) -> std::vector<Value> {
         return {
             c.add("normalize_gradient", {c.input(0), c.output_gradient()}, c.node.attributes())};
       },
       .flops = flops},
      {.name = "normalize_gradient",
       .summary = "dx = (dy - y sum(y dy)) / norm over the last axis",
       .inputs = {"x", "dy"},
       .attributes = {{"eps", 1e-12}},
       .trait = Trait::row_reduction,
       .infer = infer,
       .reference = backward,
       .flops = flops}};
}

}  // namespace hone::ops
