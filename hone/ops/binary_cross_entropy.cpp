#include <algorithm>
#include <cmath>

#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// loss = mean over all elements of -(y log sigmoid(x) + (1 - y) log(1 - sigmoid(x))), computed as
// max(x, 0) - x y + log(1 + e^-|x|);   logits x (B, C), targets y (B, C) within [0, 1]: C independent yes-or-no labels
namespace hone::ops {
namespace {

void check_operands(const TypeContext& context) {
  const Type &logits = context.inputs[0], &targets = context.inputs[1];
  expect_dtype(logits, DType::f32, "logits");
  expect_rank(logits, 2, "logits");
  expect_dtype(targets, DType::f32, "targets");
  user_check(targets == logits, "targets must have the shape of the logits, {}, got {}",
             to_string(logits), to_string(targets));
}

// Calls body(i, logit, target) for all elements. Returns their number.
template <typename Body>
double for_each_target(const Call& call, Body&& body) {
  const Tensor logits = reference::dense(call.input(0)), targets = reference::dense(call.input(1));
  const std::span<const float> x = logits.values<float>(), y = targets.values<float>();
  for (const float target : y)
    user_check(target >= 0 && target <= 1, "target {} is outside [0, 1]", target);
  for (std::size_t i = 0; i < x.size(); ++i)
    body(i, static_cast<double>(x[i]), static_cast<double>(y[i]));
  return static_cast<double>(x.size());
}

void forward(Call& call) {
  double sum = 0;
  const double count = for_each_target(call, [&](std::size_t, double x, double y) {
    sum += std::max(x, 0.0) - x * y + std::log1p(std::exp(-std::abs(x)));
  });
  *call.output().data<float>() = static_cast<float>(sum / count);
}

// dlogits = (sigmoid(logits) - targets) dloss / elements
void backward(Call& call) {
  const double factor = static_cast<double>(*call.input(2).data<float>()) /
                        static_cast<double>(call.input(0).count());
  const std::span<float> gradient = call.output().values<float>();
  for_each_target(call, [&](std::size_t i, double x, double y) {
    gradient[i] = static_cast<float>(factor * (1 / (1 + std::exp(-x)) - y));
  });
}

double flops(const TypeContext& context, const Bindings& bindings) {
  return 5 * elements(context.inputs[0], bindings);
}

}  // namespace

std::vector<OpDef> binary_cross_entropy() {
  return {
      {.name = "binary_cross_entropy",
       .summary = "loss = mean of max(x, 0) - x y + log(1 + e^-|x|) over all elements of "
                  "logits x and targets y (B, C), which lie within [0, 1]",
       .inputs = {"logits", "targets"},
       .infer = [](const TypeContext& c) -> std::vector<Type> {
         check_operands(c);
         return {{DType::f32, {}}};
       },
       .reference = forward,
       .gradient = [](GradientContext& c) -> std::vector<Value> {
         return {
             c.add("binary_cross_entropy_gradient", {c.input(0), c.input(1), c.output_gradient()}),
             {}};
       },
       .flops = flops},
      {.name = "binary_cross_entropy_gradient",
       .summary = "dlogits = (sigmoid(logits) - targets) dloss / elements",
       .inputs = {"logits", "targets", "dloss"},
       // Not element-wise: it divides by the number of elements, so slices of the operands would give another result.
       .infer = [](const TypeContext& c) -> std::vector<Type> {
         check_operands(c);
         expect_dtype(c.inputs[2], DType::f32, "dloss");
         expect_rank(c.inputs[2], 0, "dloss");
         return {c.inputs[0]};
       },
       .reference = backward,
       .flops = flops}};
}

}  // namespace hone::ops
