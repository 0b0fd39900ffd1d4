#include <cmath>

#include "hone/base/random.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y = x / (1 - p) with probability 1 - p, else 0 (Srivastava et al., 2014); nothing is kept for p = 1.
// An element is kept where its word of the random stream (key, stream) is at least p 2^32, so the mask
// is a function of its place alone: nothing is stored for the gradient, which applies the same mask to
// dy.
//
// Element (i0, i1, ...) draws the word of that place in a tensor of the shape `limits`, row by row. With
// x (B, S, C) and limits (B, P, C) a token draws the same numbers however far its batch is padded, up to
// P. Without limits (an empty shape) the place is that in x.
namespace hone::ops {
namespace {

// Numbers no smaller than those of x, or the symbols of x; small enough for words to be counted.
void expect_limits(const Type& x, const Shape& limits) {
  if (limits.empty()) return;
  double words = 1;
  bool fit = limits.size() == x.shape.size();
  for (std::size_t d = 0; fit && d < limits.size(); ++d) {
    const Dim &limit = limits[d], &dim = x.shape[d];
    fit = limit.symbol != 0 ? limit == dim : limit.size >= 1 && limit.size >= dim.size;
    if (limit.symbol == 0) words *= static_cast<double>(limit.size);
  }
  user_check(fit && words <= 0x1p40, "limits of x {} must be at least its sizes, got {}",
             to_string(x), to_string(limits));
}

std::vector<Type> infer(const TypeContext& context) {
  expect_dtype(context.inputs[0], DType::f32, "x");
  expect_dtype(context.inputs[1], DType::i64, "key");
  expect_rank(context.inputs[1], 0, "key");
  const Attribute& attribute = *context.attributes.find("p");
  user_check(std::holds_alternative<double>(attribute), "p must be a real number");
  const double p = std::get<double>(attribute);
  user_check(p >= 0 && p <= 1, "p must be from 0 to 1, got {}", p);
  expect_limits(context.inputs[0], context.attributes.get<Shape>("limits"));
  return {context.inputs[0]};
}

// How far apart the words of neighbours along each dimension of x are.
Sizes word_strides(const Sizes& sizes, const Shape& limits, const Bindings& bindings) {
  if (limits.empty()) return contiguous_strides(sizes);
  const Sizes largest = resolve(limits, bindings);
  for (std::size_t d = 0; d < sizes.size(); ++d)
    user_check(sizes[d] <= largest[d], "x {} is larger than its limits {}", to_string(sizes),
               to_string(largest));
  return contiguous_strides(largest);
}

void forward(Call& call) {
  const double p = call.attributes.get<double>("p");
  const auto threshold = static_cast<std::uint64_t>(std::llround(p * 0x1p32));
  const float factor = static_cast<float>(1 / (1 - p));
  const RandomStream random{
      static_cast<std::uint64_t>(*call.input(1).data<std::int64_t>()),
      static_cast<std::uint64_t>(call.attributes.get<std::int64_t>("stream"))};
  const Tensor& x = call.input(0);
  const Sizes words = word_strides(x.sizes(), call.attributes.get<Shape>("limits"), call.bindings);
  float* out = call.output().data<float>();
  const float* in = x.data<float>();
  for_each_element<2>(x.sizes(), {&x.strides(), &words}, [&](const auto& at) {
    const bool kept = random.word(static_cast<std::uint64_t>(at[1])) >= threshold;
    *out++ = kept ? in[at[0]] * factor : 0.0f;
  });
}

// ---- together with a product of few outputs, for graphs whose gradients are taken

struct DroppedLinearTypes {
  const Type &x, &key, &weight;
};

DroppedLinearTypes check_dropped_linear(const TypeContext& context) {
  const DroppedLinearTypes types{context.inputs[0], context.inputs[1], context.inputs[2]};
  const std::vector<Type> dropped = {types.x, types.key};
  infer({dropped, context.attributes});
  expect_dtype(types.weight, DType::f32, "weight");
  expect_rank(types.weight, 2, "weight");
  user_check(types.x.rank() >= 2, "x must have at least 2 dimensions, got {}", to_string(types.x));
  expect_equal(types.x.dim(-1), types.weight.dim(1), "columns of x against those of the weight");
  return types;
}

std::vector<Type> infer_dropped_linear(const TypeContext& context) {
  const DroppedLinearTypes types = check_dropped_linear(context);
  Type y{DType::f32, Shape(types.x.shape.begin(), types.x.shape.end() - 1)};
  y.shape.push_back(types.weight.dim(0));
  return {y};
}

std::vector<Type> infer_dropped_linear_gradient(const TypeContext& context) {
  const Type expected = infer_dropped_linear(context)[0];
  user_check(context.inputs[3] == expected, "dy must be {}, as the result, got {}",
             to_string(expected), to_string(context.inputs[3]));
  return {context.inputs[0], context.inputs[2]};
}

// What is left of x, and what each element counts: 1 / (1 - p), or 0.
struct Dropped {
  std::vector<double> values, factors;

  explicit Dropped(const Call& call) {
    const double p = call.attributes.get<double>("p");
    const auto threshold = static_cast<std::uint64_t>(std::llround(p * 0x1p32));
    const double factor = static_cast<float>(1 / (1 - p));
    const RandomStream random{
        static_cast<std::uint64_t>(*call.input(1).data<std::int64_t>()),
        static_cast<std::uint64_t>(call.attributes.get<std::int64_t>("stream"))};
    const Tensor& x = call.input(0);
    const Sizes words =
        word_strides(x.sizes(), call.attributes.get<Shape>("limits"), call.bindings);
    const float* in = x.data<float>();
    for_each_element<2>(x.sizes(), {&x.strides(), &words}, [&](const auto& at) {
      const bool kept = random.word(static_cast<std::uint64_t>(at[1])) >= threshold;
      factors.push_back(kept ? factor : 0);
      values.push_back(static_cast<double>(in[at[0]]) * factors.back());
    });
  }
};

void dropped_linear(Call& call) {
  const Dropped x(call);
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
  const Dropped x(call);
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
           .inputs = {"x", "key"},
           .attributes = {{"p", {}}, {"stream", std::int64_t{0}}, {"limits", Shape{}}},
           .trait = Trait::element_wise,
           .in_place = 0,
           .infer = infer,
           .reference = forward,
           .gradient = [](GradientContext& c) -> std::vector<Value> {
             return {c.add("dropout", {c.output_gradient(), c.input(1)}, c.node.attributes()), {}};
           },
           .flops = one_per_element},
          {.name = "dropped_linear",
           .summary = "y (rows..., N) = dropout(x (rows..., K)) weight (N, K)^T",
           .inputs = {"x", "key", {"weight", OperandRole::weight}},
           .attributes = {{"p", {}}, {"stream", std::int64_t{0}}, {"limits", Shape{}}},
           .trait = Trait::contraction,
           .infer = infer_dropped_linear,
           .reference = dropped_linear,
           .flops = dropped_linear_flops},
          {.name = "dropped_linear_gradient",
           .summary = "dx (rows..., K), dweight (N, K) of dropped_linear",
           .inputs = {"x", "key", {"weight", OperandRole::weight}, "dy"},
           .attributes = {{"p", {}}, {"stream", std::int64_t{0}}, {"limits", Shape{}}},
           .trait = Trait::contraction,
           .infer = infer_dropped_linear_gradient,
           .reference = dropped_linear_gradient,
           .flops = [](const TypeContext& context, const Bindings& bindings) {
             return 2 * dropped_linear_flops(context, bindings);
           }}};
}

}  // namespace hone::ops
