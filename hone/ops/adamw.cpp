#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// One step of AdamW (Loshchilov and Hutter, "Decoupled weight decay regularization", 2019) in
// place, on a gradient scaled by min(1, max_grad_norm / (norm + 1e-6)) (max_grad_norm 0: not
// scaled):
//   m = beta1 m + (1 - beta1) g;   v = beta2 v + (1 - beta2) g^2
//   p = p - (lr / (1 - beta1^step) m / (sqrt(v / (1 - beta2^step)) + eps) + lr weight_decay p)
// Moments too small for a normal float are kept as 0.
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  const Type& parameter = context.inputs[0];
  for (std::size_t i = 0; i < 4; ++i) {
    expect_dtype(context.inputs[i], DType::f32, "parameter, gradient and moments");
    user_check(context.inputs[i] == parameter,
               "parameter, gradient and moments must have one shape, got {} and {}",
               to_string(parameter), to_string(context.inputs[i]));
  }
  constexpr const char* kScalars[] = {"norm", "learning_rate", "step"};
  for (std::size_t i : {4, 5, 6}) {
    expect_dtype(context.inputs[i], i == 6 ? DType::i64 : DType::f32, kScalars[i - 4]);
    expect_rank(context.inputs[i], 0, kScalars[i - 4]);
  }
  return {parameter, parameter, parameter};
}

float normal_or_zero(double value) {
  const float rounded = static_cast<float>(value);
  return std::fabs(rounded) < std::numeric_limits<float>::min() ? 0.0f : rounded;
}

void step(Call& call) {
  const auto attribute = [&](const char* name) { return call.attributes.get<double>(name); };
  const double norm = static_cast<double>(*call.input(4).data<float>());
  const double learning_rate = static_cast<double>(*call.input(5).data<float>());
  const double steps = static_cast<double>(*call.input(6).data<std::int64_t>());
  const double limit = attribute("max_grad_norm");
  const double clip = limit > 0 ? std::min(1.0, limit / (norm + 1e-6)) : 1.0;
  const double correction1 = 1 - std::pow(attribute("beta1"), steps);
  const double correction2 = 1 - std::pow(attribute("beta2"), steps);
  const Tensor gradient = reference::dense(call.input(1));
  const std::span<float> p = call.input(0).values<float>(), m = call.input(2).values<float>(),
                         v = call.input(3).values<float>();
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double g = static_cast<double>(gradient.values<float>()[i]) * clip;
    const double new_m =
        attribute("beta1") * static_cast<double>(m[i]) + (1 - attribute("beta1")) * g;
    const double new_v =
        attribute("beta2") * static_cast<double>(v[i]) + (1 - attribute("beta2")) * g * g;
    const double old_p = static_cast<double>(p[i]);
    const double update =
        learning_rate / correction1 * new_m / (std::sqrt(new_v / correction2) + attribute("eps"));
    m[i] = normal_or_zero(new_m);
    v[i] = normal_or_zero(new_v);
    p[i] = static_cast<float>(old_p - (update + learning_rate * attribute("weight_decay") * old_p));
  }
  call.set_output(0, call.input(0));
  call.set_output(1, call.input(2));
  call.set_output(2, call.input(3));
}

}  // namespace

std::vector<OpDef> adamw() {
  return {{.name = "adamw",
           .summary = "parameter, m, v after one AdamW step on the clipped gradient, in place",
           .inputs = {{"parameter", OperandRole::weight},
                      "gradient",
                      {"m", OperandRole::state},
                      {"v", OperandRole::state},
                      "norm",
                      "learning_rate",
                      "step"},
           .attributes = {{"beta1", 0.9},
                          {"beta2", 0.999},
                          {"eps", 1e-8},
                          {"weight_decay", 0.0},
                          {"max_grad_norm", 1.0}},
           .trait = Trait::update,
           .aliases = {0, 2, 3},
           .infer = infer,
           .reference = step,
           .flops = [](const TypeContext& c, const Bindings& bindings) {
             return 14 * elements(c.inputs[0], bindings);
           }}};
}

}  // namespace hone::ops
