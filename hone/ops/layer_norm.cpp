#include <cmath>

#include "hone/formats/coded_rows.h"
#include "hone/ops/list.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y[..., c] = (x[..., c] - mean(x)) / sqrt(var(x) + eps) * gamma[c] + beta[c];   x (..., C), gamma (C), beta (C) (Ba,
// Kiros and Hinton, "Layer normalization", 2016; population variance). `layer_norm_codes` also returns the result of
// `encode_rows` for y before y is rounded to bf16 or f16. Inference only.
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  const Type& x = context.inputs[0];
  user_check(x.rank() >= 1, "x must have at least 1 dimension");
  expect_float(x, "x");
  for (std::size_t i : {1, 2}) {
    expect_dtype(context.inputs[i], DType::f32, i == 1 ? "gamma" : "beta");
    expect_rank(context.inputs[i], 1, i == 1 ? "gamma" : "beta");
    expect_equal(context.inputs[i].dim(0), x.dim(-1),
                 i == 1 ? "length of gamma" : "length of beta");
  }
  return {x};
}

struct Moments {
  double mean;
  double inverse_deviation;
};

Moments moments(std::span<const float> row, double eps) {
  double mean = 0, variance = 0;
  for (const float value : row) mean += static_cast<double>(value);
  mean /= static_cast<double>(row.size());
  for (const float value : row)
    variance += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
  return {mean, 1 / std::sqrt(variance / static_cast<double>(row.size()) + eps)};
}

void forward(Call& call) {
  const reference::Rows x(call.input(0));
  const Tensor gamma = reference::dense(call.input(1));
  const Tensor beta = reference::dense(call.input(2));
  Tensor& y = call.output();
  for (std::int64_t row = 0; row < x.count; ++row) {
    const Moments m = moments(x[row], call.attributes.get<double>("eps"));
    for (std::size_t c = 0; c < x[row].size(); ++c) {
      const double normed = (static_cast<double>(x[row][c]) - m.mean) * m.inverse_deviation;
      reference::row_of(y, row)[c] =
          static_cast<float>(normed * static_cast<double>(gamma.values<float>()[c]) +
                             static_cast<double>(beta.values<float>()[c]));
    }
  }
}

std::vector<Type> infer_codes(const TypeContext& context) {
  const Type y = infer(context)[0];
  const Attribute& format = *context.attributes.find("format");
  user_check(std::holds_alternative<Format>(format),
             "format must be a number format such as int(bits=8,per=token)");
  const std::vector<Type> states = state_types(std::get<Format>(format), y);
  user_check(context.inputs.size() == 3 + states.size(), "{} takes {} state tensors, got {}",
             to_string(std::get<Format>(format)), states.size(), context.inputs.size() - 3);
  for (std::size_t i = 0; i < states.size(); ++i)
    user_check(context.inputs[3 + i] == states[i], "a state must be {}, got {}",
               to_string(states[i]), to_string(context.inputs[3 + i]));
  return {y, coded_rows_type(std::get<Format>(format), y)};
}

void forward_codes(Call& call) {
  forward(call);
  const Tensor& y = call.output();
  const Format& format = call.attributes.get<Format>("format");
  std::vector<Tensor> state;
  for (std::size_t i = 3; i < call.inputs.size(); ++i)
    state.push_back(reference::dense(call.input(i)));
  encode_rows_reference(
      {format, y.sizes(), y.values<float>(), state},
      kernels::int8_rows(coded_rows_shape(format, y.sizes()), call.output(1).data<std::uint8_t>()));
}

std::vector<Type> infer_gradient(const TypeContext& context) {
  const Type& x = context.inputs[0];
  user_check(context.inputs[2] == x, "dy must be {}, got {}", to_string(x),
             to_string(context.inputs[2]));
  infer({{x, context.inputs[1], context.inputs[1]}, context.attributes});
  return {x, context.inputs[1], context.inputs[1]};
}

// With n = normalized x and g = dy gamma:  dx = (g - mean(g) - n mean(g n)) / deviation,  dgamma = sum dy n,
// dbeta = sum dy
void backward(Call& call) {
  const reference::Rows x(call.input(0));
  const reference::Rows dy(call.input(2));
  const Tensor gamma = reference::dense(call.input(1));
  const std::size_t length = static_cast<std::size_t>(x.length);
  std::vector<double> dgamma(length), dbeta(length), normed(length), scaled(length);
  Tensor& dx = call.output(0);
  for (std::int64_t row = 0; row < x.count; ++row) {
    const Moments m = moments(x[row], call.attributes.get<double>("eps"));
    double mean_scaled = 0, mean_product = 0;
    for (std::size_t c = 0; c < length; ++c) {
      const double d = static_cast<double>(dy[row][c]);
      normed[c] = (static_cast<double>(x[row][c]) - m.mean) * m.inverse_deviation;
      scaled[c] = d * static_cast<double>(gamma.values<float>()[c]);
      mean_scaled += scaled[c] / static_cast<double>(length);
      mean_product += scaled[c] * normed[c] / static_cast<double>(length);
      dgamma[c] += d * normed[c];
      dbeta[c] += d;
    }
    for (std::size_t c = 0; c < length; ++c) {
      reference::row_of(dx, row)[c] = static_cast<float>(
          (scaled[c] - mean_scaled - normed[c] * mean_product) * m.inverse_deviation);
    }
  }
  reference::store(dgamma, call.output(1));
  reference::store(dbeta, call.output(2));
}

double flops(const TypeContext& context, const Bindings& bindings) {
  return 8 * elements(context.inputs[0], bindings);
}

}  // namespace

std::vector<OpDef> layer_norm() {
  return {
      {.name = "layer_norm",
       .summary = "y = (x - mean) / sqrt(var + eps) gamma + beta over the last axis of x (..., C)",
       .inputs = {"x", {"gamma", OperandRole::weight}, {"beta", OperandRole::bias}},
       .attributes = {{"eps", 1e-12}},
       .trait = Trait::row_reduction,
       .in_place = 0,
       .infer = infer,
       .reference = forward,
       .gradient = [](GradientContext& c) -> std::vector<Value> {
         Node& node =
             c.add_node("layer_norm_gradient", {c.input(0), c.input(1), c.output_gradient()},
                        c.node.attributes());
         return {{&node, 0}, {&node, 1}, {&node, 2}};
       },
       .flops = flops},
      {.name = "layer_norm_codes",
       .summary = "the result of layer_norm, and its codes in a number format, as products read "
                  "them",
       .inputs = {"x",
                  {"gamma", OperandRole::weight},
                  {"beta", OperandRole::bias},
                  {"state...", OperandRole::state}},
       .attributes = {{"eps", 1e-12}, {"format", {}}},
       .infer = infer_codes,
       .reference = forward_codes,
       .flops = flops},
      {.name = "layer_norm_gradient",
       .summary = "dx (..., C), dgamma (C), dbeta (C) of layer_norm",
       .inputs = {"x", {"gamma", OperandRole::weight}, "dy"},
       .attributes = {{"eps", 1e-12}},
       .trait = Trait::row_reduction,
       .in_place = 2,
       .infer = infer_gradient,
       .reference = backward,
       .flops = flops}};
}

}  // namespace hone::ops
