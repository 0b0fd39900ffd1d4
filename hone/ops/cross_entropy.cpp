#include <algorithm>
#include <cmath>

#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// loss = sum over rows of w[label] (-log softmax(logits)[label]) / sum over rows of w[label];   logits (B, C),
// labels (B), class weights w (C), default 1. Rows with label -100 are ignored.
namespace hone::ops {
namespace {

constexpr std::int64_t kIgnored = -100;

std::vector<Type> infer(const TypeContext& context) {
  expect_dtype(context.inputs[0], DType::f32, "logits");
  expect_rank(context.inputs[0], 2, "logits");
  expect_dtype(context.inputs[1], DType::i64, "labels");
  expect_rank(context.inputs[1], 1, "labels");
  expect_equal(context.inputs[1].dim(0), context.inputs[0].dim(0), "number of labels");
  return {{DType::f32, {}}};
}

void check_class_weights(const TypeContext& context, std::size_t index) {
  if (context.inputs.size() <= index) return;
  expect_dtype(context.inputs[index], DType::f32, "class_weights");
  expect_rank(context.inputs[index], 1, "class_weights");
  expect_equal(context.inputs[index].dim(0), context.inputs[0].dim(1), "number of class weights");
}

/// The weight of each class; 1 without class weights.
class ClassWeights {
 public:
  ClassWeights(const Call& call, std::size_t index) {
    if (call.has_input(index)) weights_ = reference::dense(call.input(index));
  }
  double operator[](std::size_t label) const {
    return weights_.defined() ? static_cast<double>(weights_.values<float>()[label]) : 1;
  }

 private:
  Tensor weights_;
};

// Calls body(row, label, log of the sum of exponentials) for the rows that are not ignored. Returns the sum of their
// weights.
template <typename Body>
double for_each_labelled_row(const reference::Rows& logits, const Tensor& labels,
                             const ClassWeights& weights, Body&& body) {
  double sum_of_weights = 0;
  for (std::int64_t row = 0; row < logits.count; ++row) {
    const std::int64_t label = labels.values<std::int64_t>()[static_cast<std::size_t>(row)];
    if (label == kIgnored) continue;
    user_check(label >= 0 && label < logits.length, "label {} is outside the model's {} classes",
               label, logits.length);
    const double maximum = static_cast<double>(std::ranges::max(logits[row]));
    double sum = 0;
    for (const float value : logits[row]) sum += std::exp(static_cast<double>(value) - maximum);
    body(row, static_cast<std::size_t>(label), maximum + std::log(sum));
    sum_of_weights += weights[static_cast<std::size_t>(label)];
  }
  return sum_of_weights;
}

void forward(Call& call) {
  const reference::Rows logits(call.input(0));
  const ClassWeights weights(call, 2);
  double loss = 0;
  const double sum_of_weights = for_each_labelled_row(
      logits, reference::dense(call.input(1)), weights, [&](auto row, auto label, double log_sum) {
        loss += weights[label] * (log_sum - static_cast<double>(logits[row][label]));
      });
  *call.output().data<float>() = static_cast<float>(loss / sum_of_weights);
}

// dlogits = (softmax(logits) - onehot(label)) dloss w[label] / sum of w[label]
void backward(Call& call) {
  const reference::Rows logits(call.input(0));
  const Tensor labels = reference::dense(call.input(1));
  const ClassWeights weights(call, 3);
  const double sum_of_weights =
      for_each_labelled_row(logits, labels, weights, [](auto, auto, double) {});
  const double factor = static_cast<double>(*call.input(2).data<float>()) / sum_of_weights;
  Tensor& dlogits = call.output();
  std::ranges::fill(dlogits.values<float>(), 0.0f);
  for_each_labelled_row(logits, labels, weights, [&](auto row, auto label, double log_sum) {
    for (std::size_t c = 0; c < logits[row].size(); ++c) {
      const double probability = std::exp(static_cast<double>(logits[row][c]) - log_sum);
      reference::row_of(dlogits, row)[c] =
          static_cast<float>((probability - (c == label ? 1 : 0)) * factor * weights[label]);
    }
  });
}

double flops(const TypeContext& context, const Bindings& bindings) {
  return 4 * elements(context.inputs[0], bindings);
}

}  // namespace

std::vector<OpDef> cross_entropy() {
  return {{.name = "cross_entropy",
           .summary = "loss = mean of -log softmax(logits (B, C))[labels (B)], each row weighed by "
                      "class_weights (C)[label] if given; rows labelled -100 do not count",
           .inputs = {"logits", "labels", "class_weights?"},
           .infer = [](const TypeContext& c) -> std::vector<Type> {
             check_class_weights(c, 2);
             return infer(c);
           },
           .reference = forward,
           .gradient = [](GradientContext& c) -> std::vector<Value> {
             std::vector<Value> inputs = {c.input(0), c.input(1), c.output_gradient()};
             std::vector<Value> gradients(c.node.inputs().size());
             if (c.has_input(2)) inputs.push_back(c.input(2));
             gradients[0] = c.add("cross_entropy_gradient", inputs);
             return gradients;
           },
           .flops = flops},
          {.name = "cross_entropy_gradient",
           .summary = "dlogits = (softmax(logits) - onehot(labels)) dloss / rows, the rows weighed "
                      "by class_weights[label] if given",
           .inputs = {"logits", "labels", "dloss", "class_weights?"},
           .infer = [](const TypeContext& c) -> std::vector<Type> {
             infer(c);
             expect_dtype(c.inputs[2], DType::f32, "dloss");
             expect_rank(c.inputs[2], 0, "dloss");
             check_class_weights(c, 3);
             return {c.inputs[0]};
           },
           .reference = backward,
           .flops = flops}};
}

}  // namespace hone::ops
