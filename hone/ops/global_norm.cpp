#include <cmath>

#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// norm = sqrt(sum of the squares of all elements of all tensors), for gradient clipping.
namespace hone::ops {

std::vector<OpDef> global_norm() {
  return {{.name = "global_norm",
           .summary = "norm = sqrt(sum of the squares of all elements of all inputs)",
           .inputs = {"tensors..."},
           .infer = [](const TypeContext& context) -> std::vector<Type> {
             for (const Type& input : context.inputs) expect_dtype(input, DType::f32, "input");
             return {{DType::f32, {}}};
           },
           .reference =
               [](Call& call) {
                 double sum = 0;
                 for (std::size_t i = 0; i < call.inputs.size(); ++i) {
                   const Tensor x = reference::dense(call.input(i));
                   for (const float value : x.values<float>())
                     sum += static_cast<double>(value) * static_cast<double>(value);
                 }
                 *call.output().data<float>() = static_cast<float>(std::sqrt(sum));
               },
           .flops =
               [](const TypeContext& context, const Bindings& bindings) {
                 double sum = 0;
                 for (const Type& input : context.inputs) sum += 2 * elements(input, bindings);
                 return sum;
               }}};
}

}  // namespace hone::ops
