#include "hone/runtime/run_reference.h"

#include <algorithm>

namespace hone {

bool is_half(DType dtype) { return dtype == DType::bf16 || dtype == DType::f16; }

void run_reference(Call& call) {
  const bool has_halves =
      std::ranges::any_of(call.types, [](const Type& type) { return is_half(type.dtype); }) ||
      std::ranges::any_of(call.inputs, [](const Tensor* x) { return is_half(x->dtype()); });
  if (!has_halves) return call.op.reference(call);
  std::vector<Tensor> wide;
  std::vector<const Tensor*> inputs;
  for (const Tensor* input : call.inputs)
    wide.push_back(is_half(input->dtype()) ? input->cast(DType::f32) : *input);
  for (const Tensor& input : wide) inputs.push_back(&input);
  std::vector<Type> types(call.types.begin(), call.types.end());
  for (Type& type : types)
    if (is_half(type.dtype)) type.dtype = DType::f32;
  std::vector<Tensor> outputs(call.outputs.size());
  const std::vector<char> none(inputs.size(), 0);
  Call widened{call.op,     call.attributes,   inputs,       none, types, outputs, call.bindings,
               call.device, call.host_threads, call.allocate};
  call.op.reference(widened);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    call.set_output(i, outputs[i].cast(call.types[i].dtype));
}

}  // namespace hone
