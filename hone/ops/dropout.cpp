#include "hone/ops/dropout_factors.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y = x / (1 - p) with probability 1 - p, else 0 (Srivastava et al., 2014); all zeros for p = 1. An element is kept if
// its word of the random stream (key, stream) is at least p 2^32. The mask is a function of the position alone, so the
// gradient recomputes it and nothing is stored. `places` (rows...) gives rows stored back to back the row numbers that
// they would have with padding: the words of row i start at places[i] times the row length.
namespace hone::ops {
namespace {

// Checks x, the random key and, if there is one, the input `places` at `places_at`.
void check_dropped(const TypeContext& context, std::size_t places_at) {
  const Type& x = context.inputs[0];
  expect_float(x, "x");
  expect_dropout(context.inputs[1], x, context.attributes);
  if (context.inputs.size() <= places_at) return;
  const Type& places = context.inputs[places_at];
  expect_dtype(places, DType::i64, "places");
  user_check(x.rank() >= 1 && places.shape == Shape(x.shape.begin(), x.shape.end() - 1),
             "places must be one for each row of x {}, got {}", to_string(x), to_string(places));
  user_check(context.attributes.get<Shape>("limits").empty(), "give either limits or places");
}

std::vector<Type> infer(const TypeContext& context) {
  check_dropped(context, 2);
  return {context.inputs[0]};
}

// Calls body(element of x, dropout factor) row by row.
template <typename Body>
void for_each_dropped(const Call& call, std::size_t places_at, Body&& body) {
  const Tensor& x = call.input(0);
  const DropoutFactors factors(call, 1, x.sizes());
  if (call.has_input(places_at)) {
    const reference::Rows rows(x);
    const Tensor places = reference::dense(call.input(places_at));
    for (std::int64_t row = 0; row < rows.count; ++row) {
      std::int64_t word = places.data<std::int64_t>()[row] * rows.length;
      for (const float value : rows[row]) body(value, factors.at(word++));
    }
    return;
  }
  const Sizes words = factors.word_strides();
  const float* in = x.data<float>();
  for_each_element<2>(x.sizes(), {&x.strides(), &words},
                      [&](const auto& at) { body(in[at[0]], factors.at(at[1])); });
}

void forward(Call& call) {
  float* out = call.output().data<float>();
  for_each_dropped(
      call, 2, [&](float value, float factor) { *out++ = factor != 0 ? value * factor : 0.0f; });
}

// ---- fused with a product of few outputs, for training

struct DroppedLinearTypes {
  const Type &x, &key, &weight;
};

// `places` is the last operand.
constexpr std::size_t kForwardPlaces = 3, kGradientPlaces = 4;

DroppedLinearTypes check_dropped_linear(const TypeContext& context, std::size_t places_at) {
  const DroppedLinearTypes types{context.inputs[0], context.inputs[1], context.inputs[2]};
  check_dropped(context, places_at);
  expect_dtype(types.x, DType::f32, "x");
  expect_dtype(types.weight, DType::f32, "weight");
  expect_rank(types.weight, 2, "weight");
  user_check(types.x.rank() >= 2, "x must have at least 2 dimensions, got {}", to_string(types.x));
  expect_equal(types.x.dim(-1), types.weight.dim(1), "columns of x against those of the weight");
  return types;
}

Type dropped_linear_type(const TypeContext& context, std::size_t places_at) {
  const DroppedLinearTypes types = check_dropped_linear(context, places_at);
  Type y{DType::f32, Shape(types.x.shape.begin(), types.x.shape.end() - 1)};
  y.shape.push_back(types.weight.dim(0));
  return y;
}

std::vector<Type> infer_dropped_linear(const TypeContext& context) {
  return {dropped_linear_type(context, kForwardPlaces)};
}

std::vector<Type> infer_dropped_linear_gradient(const TypeContext& context) {
  const Type expected = dropped_linear_type(context, kGradientPlaces);
  user_check(context.inputs[3] == expected, "dy must be {}, as the result, got {}",
             to_string(expected), to_string(context.inputs[3]));
  return {context.inputs[0], context.inputs[2]};
}

// The values of x after dropout, and the factor of each element: 1 / (1 - p), or 0.
struct Dropped {
  std::vector<double> values, factors;

  Dropped(const Call& call, std::size_t places_at) {
    for_each_dropped(call, places_at, [&](float value, float factor) {
      factors.push_back(static_cast<double>(factor));
      values.push_back(static_cast<double>(value) * factors.back());
    });
  }
};

void dropped_linear(Call& call) {
  const Dropped x(call, kForwardPlaces);
  const reference::Rows weight(call.input(2));
  Tensor& y = call.output();
  const auto columns = static_cast<std::size_t>(weight.length);
  for (std::size_t row = 0; row * columns < x.values.size(); ++row) {
    const std::span<float> out = reference::row_of(y, static_cast<std::int64_t>(row));
    for (std::int64_t n = 0; n < weight.count; ++n) {
      double sum = 0;
      for (std::size_t k = 0; k < columns; ++k)
        sum += x.values[row * columns + k] * static_cast<double>(weight[n][k]);
      out[static_cast<std::size_t>(n)] = static_cast<float>(sum);
    }
  }
}

void dropped_linear_gradient(Call& call) {
  const Dropped x(call, kGradientPlaces);
  const reference::Rows weight(call.input(2)), dy(call.input(3));
  Tensor& dx = call.output();
  const auto columns = static_cast<std::size_t>(weight.length);
  std::vector<double> dweight(static_cast<std::size_t>(weight.count) * columns);
  for (std::size_t row = 0; row * columns < x.values.size(); ++row) {
    const std::span<const float> d = dy[static_cast<std::int64_t>(row)];
    for (std::size_t k = 0; k < columns; ++k) {
      const std::size_t at = row * columns + k;
      double sum = 0;
      for (std::size_t n = 0; n < d.size(); ++n) {
        sum += static_cast<double>(d[n]) *
               static_cast<double>(weight[static_cast<std::int64_t>(n)][k]);
        dweight[n * columns + k] += static_cast<double>(d[n]) * x.values[at];
      }
      reference::row_of(dx, static_cast<std::int64_t>(row))[k] =
          static_cast<float>(sum * x.factors[at]);
    }
  }
  reference::store(dweight, call.output(1));
}

double dropped_linear_flops(const TypeContext& context, const Bindings& bindings) {
  return elements(context.inputs[0], bindings) *
         (1 + 2 * static_cast<double>(resolve(context.inputs[2].dim(0), bindings)));
}

}  // namespace

std::vector<OpDef> dropout() {
  return {{.name = "dropout",
           .summary = "y = x / (1 - p) or 0, by the random stream (key, stream)",
           .inputs = {"x", "key", "places?"},
           .attributes = {{"p", {}}, {"stream", std::int64_t{0}}, {"limits", Shape{}}},
           .trait = Trait::element_wise,
           .in_place = 0,
           .infer = infer,
           .reference = forward,
           .gradient = [](GradientContext& c) -> std::vector<Value> {
             std::vector<Value> inputs = c.node.inputs(), gradients(inputs.size());
             inputs[0] = c.output_gradient();
             gradients[0] = c.add("dropout", std::move(inputs), c.node.attributes());
             return gradients;
           },
           .flops = one_per_element},
          {.name = "dropped_linear",
           .summary = "y (rows..., N) = dropout(x (rows..., K)) weight (N, K)^T",
           .inputs = {"x", "key", {"weight", OperandRole::weight}, "places?"},
           .attributes = {{"p", {}}, {"stream", std::int64_t{0}}, {"limits", Shape{}}},
           .trait = Trait::contraction,
           .infer = infer_dropped_linear,
           .reference = dropped_linear,
           .flops = dropped_linear_flops},
          {.name = "dropped_linear_gradient",
           .summary = "dx (rows..., K), dweight (N, K) of dropped_linear",
           .inputs = {"x", "key", {"weight", OperandRole::weight}, "dy", "places?"},
           .attributes = {{"p", {}}, {"stream", std::int64_t{0}}, {"limits", Shape{}}},
           .trait = Trait::contraction,
           .infer = infer_dropped_linear_gradient,
           .reference = dropped_linear_gradient,
           .flops = [](const TypeContext& context, const Bindings& bindings) {
             return 2 * dropped_linear_flops(context, bindings);
           }}};
}

}  // namespace hone::ops
