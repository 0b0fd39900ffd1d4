#include <algorithm>
#include <cmath>

#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// loss = mean over rows of -log softmax(logits)[label];   logits (B, C), labels (B). Rows labelled
// -100 do not count.
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

// Calls body(row, label, log of the sum of exponentials) for the rows that count; returns their
// number.
template <typename Body>
double for_labelled_rows(const reference::Rows& logits, const Tensor& labels, Body&& body) {
  double rows = 0;
  for (std::int64_t row = 0; row < logits.count; ++row) {
    const std::int64_t label = labels.values<std::int64_t>()[static_cast<std::size_t>(row)];
    if (label == kIgnored) continue;
    user_check(label >= 0 && label < logits.length, "label {} is outside the model's {} classes",
               label, logits.length);
    const double maximum = static_cast<double>(std::ranges::max(logits[row]));
    double sum = 0;
    for (const float value : logits[row]) sum += std::exp(static_cast<double>(value) - maximum);
    body(row, static_cast<std::size_t>(label), maximum + std::log(sum));
    ++rows;
  }
  return rows;
}

void forward(Call& call) {
  const reference::Rows logits(call.input(0));
  double loss = 0;
  const double rows = for_labelled_rows(logits, reference::dense(call.input(1)),
                                        [&](auto row, auto label, double log_sum) {
                                          loss += log_sum - static_cast<double>(logits[row][label]);
                                        });
  *call.output().data<float>() = static_cast<float>(loss / rows);
}

// dlogits = (softmax(logits) - onehot(label)) dloss / rows
void backward(Call& call) {
  const reference::Rows logits(call.input(0));
  const Tensor labels = reference::dense(call.input(1));
  const double rows = for_labelled_rows(logits, labels, [](auto, auto, double) {});
  const double factor = static_cast<double>(*call.input(2).data<float>()) / rows;
  Tensor& dlogits = call.output();
  std::ranges::fill(dlogits.values<float>(), 0.0f);
  for_labelled_rows(logits, labels, [&](auto row, auto label, double log_sum) {
    for (std::size_t c = 0; c < logits[row].size(); ++c) {
      const double probability = std::exp(static_cast<double>(logits[row][c]) - log_sum);
      reference::row_of(dlogits, row)[c] =
          static_cast<float>((probability - (c == label ? 1 : 0)) * factor);
    }
  });
}

double flops(const TypeContext& context, const Bindings& bindings) {
  return 4 * elements(context.inputs[0], bindings);
}

}  // namespace

std::vector<OpDef> cross_entropy() {
  return {{.name = "cross_entropy",
           .summary = "loss = mean of -log softmax(logits (B, C))[labels (B)]; rows labelled -100 "
                      "do not count",
           .inputs = {"logits", "labels"},
           .infer = infer,
           .reference = forward,
           .gradient = [](GradientContext& c) -> std::vector<Value> {
             return {c.add("cross_entropy_gradient", {c.input(0), c.input(1), c.output_gradient()}),
                     {}};
           },
           .flops = flops},
          {.name = "cross_entropy_gradient",
           .summary = "dlogits = (softmax(logits) - onehot(labels)) dloss / rows",
           .inputs = {"logits", "labels", "dloss"},
           .infer = [](const TypeContext& c) -> std::vector<Type> {
             infer(c);
             expect_dtype(c.inputs[2], DType::f32, "dloss");
             expect_rank(c.inputs[2], 0, "dloss");
             return {c.inputs[0]};
           },
           .reference = backward,
           .flops = flops}};
}

}  // namespace hone::ops
