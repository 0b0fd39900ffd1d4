#include <cmath>

#include "hone/base/random.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y = x / (1 - p) with probability 1 - p, else 0 (Srivastava et al., 2014); nothing is kept for p = 1. Element i is kept where
// word i of the random stream (key, stream) is at least p 2^32, so the mask is a function of its
// place alone: nothing is stored for the gradient, which applies the same mask to dy.
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  expect_dtype(context.inputs[0], DType::f32, "x");
  expect_dtype(context.inputs[1], DType::i64, "key");
  expect_rank(context.inputs[1], 0, "key");
  const Attribute& attribute = *context.attributes.find("p");
  user_check(std::holds_alternative<double>(attribute), "p must be a real number");
  const double p = std::get<double>(attribute);
  user_check(p >= 0 && p <= 1, "p must be from 0 to 1, got {}", p);
  return {context.inputs[0]};
}

void forward(Call& call) {
  const double p = call.attributes.get<double>("p");
  const auto threshold = static_cast<std::uint64_t>(std::llround(p * 0x1p32));
  const float factor = static_cast<float>(1 / (1 - p));
  const RandomStream random{
      static_cast<std::uint64_t>(*call.input(1).data<std::int64_t>()),
      static_cast<std::uint64_t>(call.attributes.get<std::int64_t>("stream"))};
  const Tensor x = reference::dense(call.input(0));
  Tensor& y = call.output();
  const std::span<const float> in = x.values<float>();
  for (std::size_t i = 0; i < in.size(); ++i) {
    y.data<float>()[i] = random.word(i) >= threshold ? in[i] * factor : 0.0f;
  }
}

}  // namespace

std::vector<OpDef> dropout() {
  return {{.name = "dropout",
           .summary = "y = x / (1 - p) or 0, by the random stream (key, stream)",
           .inputs = {"x", "key"},
           .attributes = {{"p", {}}, {"stream", std::int64_t{0}}},
           .trait = Trait::element_wise,
           .infer = infer,
           .reference = forward,
           .gradient = [](GradientContext& c) -> std::vector<Value> {
             return {c.add("dropout", {c.output_gradient(), c.input(1)}, c.node.attributes()), {}};
           },
           .flops = one_per_element}};
}

}  // namespace hone::ops
