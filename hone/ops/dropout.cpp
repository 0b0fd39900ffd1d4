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
           .flops = one_per_element}};
}

}  // namespace hone::ops
