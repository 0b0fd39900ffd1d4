#include <algorithm>
#include <cmath>

#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// loss = sum over rows of w[label] (-sum_c t_c log softmax(logits)_c) / sum over rows of w[label];   logits (B, C),
// target distributions t (B, C), labels (B), class weights w (C), default 1. Rows have the same weights as in
// `cross_entropy`, so that both losses can be added; rows with label -100 are ignored.
namespace hone::ops {
namespace {

constexpr std::int64_t kIgnored = -100;

// Checks logits, targets and labels, and the class weights at input `weights`.
void check_operands(const TypeContext& context, std::size_t weights) {
  const Type &logits = context.inputs[0], &targets = context.inputs[1], &labels = context.inputs[2];
  expect_dtype(logits, DType::f32, "logits");
  expect_rank(logits, 2, "logits");
  user_check(targets == logits, "targets must have the type of the logits, {}, got {}",
             to_string(logits), to_string(targets));
  expect_dtype(labels, DType::i64, "labels");
  expect_rank(labels, 1, "labels");
  expect_equal(labels.dim(0), logits.dim(0), "number of labels");
  if (context.inputs.size() <= weights) return;
  expect_dtype(context.inputs[weights], DType::f32, "class_weights");
  expect_rank(context.inputs[weights], 1, "class_weights");
  expect_equal(context.inputs[weights].dim(0), logits.dim(1), "number of class weights");
}

/// Returns each row's weight as a share of the total, from the class weights at input `index` if present, else 1 per
/// row.
std::vector<double> shares_of_rows(const Call& call, std::size_t index) {
  const Tensor labels = reference::dense(call.input(2));
  const std::int64_t classes = call.input(0).size(1);
  const Tensor weights = call.has_input(index) ? reference::dense(call.input(index)) : Tensor();
  std::vector<double> shares;
  double sum = 0;
  for (const std::int64_t label : labels.values<std::int64_t>()) {
    user_check(label == kIgnored || (label >= 0 && label < classes),
               "label {} is outside the model's {} classes", label, classes);
    shares.push_back(
        label == kIgnored ? 0
        : !weights.defined()
            ? 1
            : static_cast<double>(weights.values<float>()[static_cast<std::size_t>(label)]));
    sum += shares.back();
  }
  for (double& share : shares) share /= sum;
  return shares;
}

double log_sum(std::span<const float> row) {
  const double maximum = static_cast<double>(std::ranges::max(row));
  double sum = 0;
  for (const float value : row) sum += std::exp(static_cast<double>(value) - maximum);
  return maximum + std::log(sum);
}

void forward(Call& call) {
  const reference::Rows logits(call.input(0)), targets(call.input(1));
  const std::vector<double> shares = shares_of_rows(call, 3);
  double loss = 0;
  for (std::int64_t row = 0; row < logits.count; ++row) {
    const double share = shares[static_cast<std::size_t>(row)], sum = log_sum(logits[row]);
    if (share == 0) continue;
    for (std::size_t c = 0; c < logits[row].size(); ++c)
      loss += share * static_cast<double>(targets[row][c]) *
              (sum - static_cast<double>(logits[row][c]));
  }
  *call.output().data<float>() = static_cast<float>(loss);
}

// dlogits = (softmax(logits) sum_c t_c - t) dloss w[label] / sum of w[label]
void backward(Call& call) {
  const reference::Rows logits(call.input(0)), targets(call.input(1));
  const std::vector<double> shares = shares_of_rows(call, 4);
  const double dloss = static_cast<double>(*call.input(3).data<float>());
  for (std::int64_t row = 0; row < logits.count; ++row) {
    const double factor = dloss * shares[static_cast<std::size_t>(row)], sum = log_sum(logits[row]);
    double whole = 0;
    for (const float target : targets[row]) whole += static_cast<double>(target);
    const std::span<float> gradient = reference::row_of(call.output(), row);
    for (std::size_t c = 0; c < gradient.size(); ++c)
      gradient[c] =
          static_cast<float>(factor * (whole * std::exp(static_cast<double>(logits[row][c]) - sum) -
                                       static_cast<double>(targets[row][c])));
  }
}

double flops(const TypeContext& context, const Bindings& bindings) {
  return 6 * elements(context.inputs[0], bindings);
}

}  // namespace

std::vector<OpDef> soft_cross_entropy() {
  return {{.name = "soft_cross_entropy",
           .summary = "loss = mean of -sum_c targets (B, C) log softmax(logits (B, C)), each row "
                      "weighed by class_weights (C)[labels (B)] if given; rows labelled -100 do "
                      "not count; targets are constants",
           .inputs = {"logits", "targets", "labels", "class_weights?"},
           .infer = [](const TypeContext& c) -> std::vector<Type> {
             check_operands(c, 3);
             return {{DType::f32, {}}};
           },
           .reference = forward,
           .gradient = [](GradientContext& c) -> std::vector<Value> {
             std::vector<Value> inputs = {c.input(0), c.input(1), c.input(2), c.output_gradient()};
             std::vector<Value> gradients(c.node.inputs().size());
             if (c.has_input(3)) inputs.push_back(c.input(3));
             gradients[0] = c.add("soft_cross_entropy_gradient", inputs);
             return gradients;
           },
           .flops = flops},
          {.name = "soft_cross_entropy_gradient",
           .summary = "dlogits = (softmax(logits) sum_c targets - targets) dloss / rows, the rows "
                      "weighed by class_weights[labels] if given",
           .inputs = {"logits", "targets", "labels", "dloss", "class_weights?"},
           .infer = [](const TypeContext& c) -> std::vector<Type> {
             check_operands(c, 4);
             expect_dtype(c.inputs[3], DType::f32, "dloss");
             expect_rank(c.inputs[3], 0, "dloss");
             return {c.inputs[0]};
           },
           .reference = backward,
           .flops = flops}};
}

}  // namespace hone::ops
