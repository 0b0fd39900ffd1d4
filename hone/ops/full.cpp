#include <algorithm>

#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// A tensor with the shape of `like`, filled with one value.
namespace hone::ops {
namespace {

void forward(Call& call) {
  const double value = call.attributes.get<double>("value");
  Tensor& y = call.output();
  if (y.dtype() == DType::f32) {
    std::ranges::fill(y.values<float>(), static_cast<float>(value));
  } else {
    std::ranges::fill(y.values<std::int64_t>(), static_cast<std::int64_t>(value));
  }
}

std::vector<Type> infer(const TypeContext& context) {
  const DType dtype = parse_dtype(context.attributes.get<std::string>("dtype"));
  user_check(is_value(dtype) || dtype == DType::i64, "dtype must be f32, bf16, f16 or i64, got {}",
             info(dtype).name);
  return {{dtype, context.inputs[0].shape}};
}

}  // namespace

std::vector<OpDef> full() {
  return {{.name = "full",
           .summary = "y of the shape of `like`, with `value` everywhere",
           .inputs = {"like"},
           .attributes = {{"value", 0.0}, {"dtype", std::string("f32")}},
           .trait = Trait::element_wise,
           .infer = infer,
           .reference = forward,
           .gradient = [](GradientContext&) -> std::vector<Value> { return {{}}; }}};
}

}  // namespace hone::ops
