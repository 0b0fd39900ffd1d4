#include <cmath>

#include "hone/ops/batch_norm_rules.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y[b, c, …] = (x[b, c, …] - mean[c]) / sqrt(variance[c] + eps) * gamma[c] + beta[c];   x (B, C, …), all else (C)
// (Ioffe and Szegedy, "Batch normalization", 2015). Inference uses the running mean and variance; training uses those
// of the batch, with `batch_norm_training`, which the pass `use_batch_statistics` inserts.
namespace hone::ops {
namespace {

void expect_channels(const Type& x, const Type& type, std::string_view what) {
  expect_dtype(type, DType::f32, what);
  expect_rank(type, 1, what);
  expect_equal(type.dim(0), x.dim(1), fmt::format("length of {}", what));
}

void expect_channels_of(const TypeContext& context, std::initializer_list<const char*> names) {
  const Type& x = context.inputs[0];
  expect_float(x, "x");
  user_check(x.rank() >= 2, "x must have at least 2 dimensions, got {}", to_string(x));
  std::size_t index = 1;
  for (const char* name : names) expect_channels(x, context.inputs[index++], name);
}

double eps_of(const Call& call) { return call.attributes.get<double>("eps"); }

// Calls body(element, channel) for every element of x (B, C, …).
template <typename Body>
void for_each_in_channels(const Tensor& x, Body&& body) {
  const std::int64_t channels = x.size(1),
                     pixels = x.count() == 0 ? 1 : x.count() / (x.size(0) * channels);
  for (std::int64_t i = 0; i < x.count(); ++i)
    body(static_cast<std::size_t>(i), static_cast<std::size_t>(i / pixels % channels));
}

std::vector<Type> infer(const TypeContext& context) {
  expect_channels_of(context, {"gamma", "beta", "mean", "variance"});
  return {context.inputs[0]};
}

void forward(Call& call) {
  const Tensor x = reference::dense(call.input(0));
  std::vector<std::vector<float>> rows;
  for (std::size_t i = 1; i < 5; ++i) {
    const Tensor row = reference::dense(call.input(i));
    rows.emplace_back(row.values<float>().begin(), row.values<float>().end());
  }
  float* const y = call.output().data<float>();
  for_each_in_channels(x, [&](std::size_t i, std::size_t c) {
    const auto at = [&](std::size_t row) { return static_cast<double>(rows[row][c]); };
    const double normed =
        (static_cast<double>(x.values<float>()[i]) - at(2)) / std::sqrt(at(3) + eps_of(call));
    y[i] = static_cast<float>(normed * at(0) + at(1));
  });
}

std::vector<Type> infer_training(const TypeContext& context) {
  expect_channels_of(context, {"gamma", "beta"});
  return {context.inputs[0], context.inputs[1], context.inputs[1]};
}

struct Moments {
  std::vector<double> mean, variance;  // of each channel; population variance
  double count = 0;                    // values per channel
};

Moments moments(const Tensor& x) {
  const auto channels = static_cast<std::size_t>(x.size(1));
  const double count = static_cast<double>(x.count()) / static_cast<double>(channels);
  expect_variance(x.sizes());
  Moments m{std::vector<double>(channels), std::vector<double>(channels), count};
  for_each_in_channels(x, [&](std::size_t i, std::size_t c) {
    m.mean[c] += static_cast<double>(x.values<float>()[i]) / count;
  });
  for_each_in_channels(x, [&](std::size_t i, std::size_t c) {
    const double distance = static_cast<double>(x.values<float>()[i]) - m.mean[c];
    m.variance[c] += distance * distance / count;
  });
  return m;
}

void forward_training(Call& call) {
  const Tensor x = reference::dense(call.input(0)), gamma = reference::dense(call.input(1)),
               beta = reference::dense(call.input(2));
  Moments m = moments(x);
  float* const y = call.output().data<float>();
  for_each_in_channels(x, [&](std::size_t i, std::size_t c) {
    const double normed = (static_cast<double>(x.values<float>()[i]) - m.mean[c]) /
                          std::sqrt(m.variance[c] + eps_of(call));
    y[i] = static_cast<float>(normed * static_cast<double>(gamma.values<float>()[c]) +
                              static_cast<double>(beta.values<float>()[c]));
  });
  reference::store(m.mean, call.output(1));
  for (double& variance : m.variance) variance *= m.count / (m.count - 1);
  reference::store(m.variance, call.output(2));
}

std::vector<Type> infer_gradient(const TypeContext& context) {
  expect_channels_of(context, {"gamma"});
  const Type& x = context.inputs[0];
  user_check(context.inputs[2] == x, "dy must be {}, got {}", to_string(x),
             to_string(context.inputs[2]));
  return {x, context.inputs[1], context.inputs[1]};
}

// With n = normalized x and d = its deviation:  dbeta = sum dy,  dgamma = sum dy n,
// dx = gamma / d (dy - (dbeta + n dgamma) / values per channel)
void backward(Call& call) {
  const Tensor x = reference::dense(call.input(0)), gamma = reference::dense(call.input(1)),
               dy = reference::dense(call.input(2));
  const Moments m = moments(x);
  const auto normed = [&](std::size_t i, std::size_t c) {
    return (static_cast<double>(x.values<float>()[i]) - m.mean[c]) /
           std::sqrt(m.variance[c] + eps_of(call));
  };
  std::vector<double> dgamma(m.mean.size()), dbeta(m.mean.size());
  for_each_in_channels(x, [&](std::size_t i, std::size_t c) {
    dgamma[c] += static_cast<double>(dy.values<float>()[i]) * normed(i, c);
    dbeta[c] += static_cast<double>(dy.values<float>()[i]);
  });
  float* const dx = call.output().data<float>();
  for_each_in_channels(x, [&](std::size_t i, std::size_t c) {
    const double centred = static_cast<double>(dy.values<float>()[i]) -
                           (dbeta[c] + normed(i, c) * dgamma[c]) / m.count;
    dx[i] = static_cast<float>(static_cast<double>(gamma.values<float>()[c]) * centred /
                               std::sqrt(m.variance[c] + eps_of(call)));
  });
  reference::store(dgamma, call.output(1));
  reference::store(dbeta, call.output(2));
}

std::vector<Value> gradient(GradientContext& c) {
  user_check(!c.output_gradient(1) && !c.output_gradient(2),
             "the statistics of batch_norm_training have no gradient");
  Node& node = c.add_node("batch_norm_gradient", {c.input(0), c.input(1), c.output_gradient()},
                          c.node.attributes());
  return {node.result(0), node.result(1), node.result(2)};
}

double flops(const TypeContext& context, const Bindings& bindings) {
  return 2 * elements(context.inputs[0], bindings);
}
double training_flops(const TypeContext& context, const Bindings& bindings) {
  return 8 * elements(context.inputs[0], bindings);
}

}  // namespace

void expect_variance(const Sizes& x) {
  const std::int64_t count = x[1] == 0 ? 0 : element_count(x) / x[1];
  user_check(count > 1,
             "batch_norm_training: {} has {} values per channel, too few for a variance; "
             "use larger batches",
             to_string(x), count);
}

std::vector<OpDef> batch_norm() {
  return {
      {.name = "batch_norm",
       .summary = "y = (x - mean) / sqrt(variance + eps) gamma + beta for each channel of x (B, "
                  "C, …); training updates mean and variance with `momentum`",
       .inputs = {"x",
                  {"gamma", OperandRole::weight},
                  {"beta", OperandRole::bias},
                  {"mean", OperandRole::state},
                  {"variance", OperandRole::state}},
       .attributes = {{"eps", 1e-5}, {"momentum", 0.1}},
       .in_place = 0,
       .infer = infer,
       .reference = forward,
       .flops = flops},
      {.name = "batch_norm_training",
       .summary = "batch_norm by mean and variance of the batch; y, the mean (C) and the "
                  "unbiased variance (C)",
       .inputs = {"x", {"gamma", OperandRole::weight}, {"beta", OperandRole::bias}},
       .attributes = {{"eps", 1e-5}},
       .in_place = 0,
       .infer = infer_training,
       .reference = forward_training,
       .gradient = gradient,
       .flops = training_flops},
      {.name = "batch_norm_gradient",
       .summary = "dx (B, C, …), dgamma (C), dbeta (C) of batch_norm_training",
       .inputs = {"x", {"gamma", OperandRole::weight}, "dy"},
       .attributes = {{"eps", 1e-5}},
       .in_place = 2,
       .infer = infer_gradient,
       .reference = backward,
       .flops = training_flops}};
}

}  // namespace hone::ops
