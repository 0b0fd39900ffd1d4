#include <cmath>

#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// loss = mean over all elements of (predictions - targets)²;   predictions (B) or (B, C), targets of the same shape
namespace hone::ops {
namespace {

void check_operands(const TypeContext& context) {
  const Type &predictions = context.inputs[0], &targets = context.inputs[1];
  expect_dtype(predictions, DType::f32, "predictions");
  expect_dtype(targets, DType::f32, "targets");
  user_check(targets == predictions, "targets must have the shape of the predictions, {}, got {}",
             to_string(predictions), to_string(targets));
}

// Calls body(i, predictions[i] - targets[i]) for all elements. Returns their number.
template <typename Body>
double for_each_error(const Call& call, Body&& body) {
  const Tensor predictions = reference::dense(call.input(0)),
               targets = reference::dense(call.input(1));
  const std::span<const float> p = predictions.values<float>(), t = targets.values<float>();
  for (const float target : t)
    user_check(std::isfinite(target), "target {} is not a finite number", target);
  for (std::size_t i = 0; i < p.size(); ++i)
    body(i, static_cast<double>(p[i]) - static_cast<double>(t[i]));
  return static_cast<double>(p.size());
}

void forward(Call& call) {
  double sum = 0;
  const double count =
      for_each_error(call, [&](std::size_t, double error) { sum += error * error; });
  *call.output().data<float>() = static_cast<float>(sum / count);
}

// dpredictions = 2 (predictions - targets) dloss / elements
void backward(Call& call) {
  const double factor = 2 * static_cast<double>(*call.input(2).data<float>()) /
                        static_cast<double>(call.input(0).count());
  const std::span<float> gradient = call.output().values<float>();
  for_each_error(
      call, [&](std::size_t i, double error) { gradient[i] = static_cast<float>(factor * error); });
}

double flops(const TypeContext& context, const Bindings& bindings) {
  return 3 * elements(context.inputs[0], bindings);
}

}  // namespace

std::vector<OpDef> mean_squared_error() {
  return {
      {.name = "mean_squared_error",
       .summary = "loss = mean of (predictions - targets)^2 over all elements of "
                  "predictions and targets (B) or (B, C)",
       .inputs = {"predictions", "targets"},
       .infer = [](const TypeContext& c) -> std::vector<Type> {
         check_operands(c);
         return {{DType::f32, {}}};
       },
       .reference = forward,
       .gradient = [](GradientContext& c) -> std::vector<Value> {
         return {
             c.add("mean_squared_error_gradient", {c.input(0), c.input(1), c.output_gradient()}),
             {}};
       },
       .flops = flops},
      {.name = "mean_squared_error_gradient",
       .summary = "dpredictions = 2 (predictions - targets) dloss / elements",
       .inputs = {"predictions", "targets", "dloss"},
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
