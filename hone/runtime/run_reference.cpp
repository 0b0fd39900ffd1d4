#include "hone/runtime/run_reference.h"

#include <algorithm>

#include "hone/kernels/half_conversion.h"
#include "hone/tensor/dtype.h"

namespace hone {
namespace {

// Converts between halves and f32 on all threads.
Tensor converted(const Tensor& x, DType dtype, const Call& call) {
  const Tensor source = x.contiguous() ? x : x.contiguous_copy();
  if (call.host_threads == nullptr) return source.cast(dtype);
  Tensor y = call.allocate(dtype, x.sizes());
  convert_halves(call.pool(), source, y);
  return y;
}

}  // namespace

bool is_half(DType dtype) { return dtype == DType::bf16 || dtype == DType::f16; }

void convert_halves(ThreadPool& pool, const Tensor& x, Tensor& y) {
  const auto bits_of = [](const Tensor& halves) {
    return halves.dtype() == DType::bf16 ? reinterpret_cast<std::uint16_t*>(halves.data<BFloat16>())
                                         : reinterpret_cast<std::uint16_t*>(halves.data<Half>());
  };
  if (y.dtype() == DType::f32) {
    const auto widen =
        x.dtype() == DType::bf16 ? kernels::bfloat16_to_float : kernels::float16_to_float;
    widen(pool, x.count(), bits_of(x), y.data<float>());
  } else {
    const auto narrow =
        y.dtype() == DType::bf16 ? kernels::float_to_bfloat16 : kernels::float_to_float16;
    narrow(pool, x.count(), x.data<float>(), bits_of(y));
  }
}

void run_widened(Call& call, void (*kernel)(Call&)) {
  const auto is_wide = [](const Tensor* x) { return !is_half(x->dtype()); };
  if (call.op.trait == Trait::view || (std::ranges::all_of(call.inputs, is_wide) &&
                                       std::ranges::none_of(call.types, is_half, &Type::dtype)))
    return kernel(call);
  std::vector<Tensor> wide(call.inputs.size());
  std::vector<const Tensor*> inputs(call.inputs.begin(), call.inputs.end());
  std::vector<char> dies(call.input_dies.begin(), call.input_dies.end());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (is_wide(inputs[i])) continue;
    wide[i] = converted(*inputs[i], DType::f32, call);
    inputs[i] = &wide[i];
    // The kernel may overwrite this temporary; but references may read elements that they have already overwritten.
    dies[i] = kernel != call.op.reference ? 1 : 0;
  }
  std::vector<Type> types(call.types.begin(), call.types.end());
  for (Type& type : types)
    if (is_half(type.dtype)) type.dtype = DType::f32;
  std::vector<Tensor> outputs(call.outputs.size());
  Call widened{
      call.op,     call.attributes,   inputs,        dies,    types,         outputs, call.bindings,
      call.device, call.host_threads, call.allocate, nullptr, call.workspace};
  kernel(widened);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    call.set_output(i, is_half(call.types[i].dtype)
                           ? converted(outputs[i], call.types[i].dtype, call)
                           : outputs[i]);
}

void run_reference(Call& call) { run_widened(call, call.op.reference); }

}  // namespace hone
