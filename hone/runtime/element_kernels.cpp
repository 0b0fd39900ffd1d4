#include "hone/kernels/activation.h"
#include "hone/kernels/elementwise.h"
#include "hone/kernels/mask.h"
#include "hone/runtime/cpu_kernels.h"
#include "hone/runtime/operand_strides.h"

// Elementwise operations: arithmetic, activations, masks, thresholds and quantizers.
namespace hone {
namespace {

template <void (*Kernel)(ThreadPool&, std::int64_t, const float*, float*)>
void unary(Call& call) {
  const float* x = floats(call, 0);
  Kernel(call.pool(), count(call), x, call.output().data<float>());
}

template <void (*Kernel)(ThreadPool&, std::int64_t, const float*, const float*, float*)>
void unary_gradient(Call& call) {
  const float *x = floats(call, 0), *dy = floats(call, 1);
  Kernel(call.pool(), count(call), x, dy, call.output().data<float>());
}

template <void (*Kernel)(ThreadPool&, kernels::Extents, const kernels::Strided&,
                         const kernels::Strided&, float*)>
void binary(Call& call) {
  const Sizes sizes = call.output_sizes();
  const Sizes a = broadcast_operand_strides(call.input(0), sizes),
              b = broadcast_operand_strides(call.input(1), sizes);
  const kernels::Strided x{floats(call, 0), a}, y{floats(call, 1), b};
  Kernel(call.pool(), sizes, x, y, call.output().data<float>());
}

void scale(Call& call) {
  const float* x = floats(call, 0);
  const float factor = static_cast<float>(call.attributes.get<double>("factor"));
  kernels::scale(call.pool(), count(call), factor, x, call.output().data<float>());
}

void mask(Call& call) {
  const float* x = floats(call, 0);
  kernels::mask(call.pool(), count(call), x, call.input(1).data<bool>(),
                call.output().data<float>());
}

void threshold(Call& call) {
  const float* x = floats(call, 0);
  kernels::threshold(call.pool(), count(call), *floats(call, 1), x, call.output().data<float>());
}

void threshold_gradient(Call& call) {
  const float *x = floats(call, 0), *dy = floats(call, 1);
  kernels::threshold_gradient(call.pool(), count(call), *floats(call, 2), x, dy,
                              call.output().data<float>());
}

bool by_tanh(const Call& call) { return call.attributes.get<std::string>("approximate") == "tanh"; }
void gelu(Call& call) {
  by_tanh(call) ? unary<kernels::gelu_tanh>(call) : unary<kernels::gelu_erf>(call);
}
void gelu_gradient(Call& call) {
  by_tanh(call) ? unary_gradient<kernels::gelu_tanh_gradient>(call)
                : unary_gradient<kernels::gelu_erf_gradient>(call);
}

void quantize(Call& call) {
  const Format& format = call.attributes.get<Format>("format");
  std::vector<Tensor> state;
  for (std::size_t i = 1; i < call.inputs.size(); ++i) state.push_back(call.input(i));
  // A second Tensor that shares the memory of x would keep the result from reusing it.
  const QuantizerInput input{format, call.input(0).sizes(), call.input(0).values<float>(), state};
  format.def->quantize(input, call.pool(), call.output().values<float>());
}

void full(Call& call) {
  const float value = static_cast<float>(call.attributes.get<double>("value"));
  kernels::fill(call.pool(), count(call), value, call.output().data<float>());
}

std::string_view float_result(const CallSite& site) {
  return site.outputs[0].dtype == DType::f32 ? "" : "the result is not f32";
}

void reshape(Call& call) { call.set_output(0, call.input(0).reshape(call.output_sizes())); }

}  // namespace

KernelTable element_kernels() {
  return {
      {"add", "cpu", "vector", at_most_six_dimensions, binary<kernels::add>, Layout::strided},
      {"full", "cpu", "vector", float_result, full},
      {"gelu", "cpu", "vector", anything, gelu},
      {"gelu_gradient", "cpu", "vector", anything, gelu_gradient},
      {"mask", "cpu", "vector", anything, mask},
      {"mul", "cpu", "vector", at_most_six_dimensions, binary<kernels::multiply>, Layout::strided},
      {"quantize", "cpu", "vector", anything, quantize},
      {"relu", "cpu", "vector", anything, unary<kernels::relu>},
      {"relu_gradient", "cpu", "vector", anything, unary_gradient<kernels::relu_gradient>},
      {.op = "reshape",
       .device = "cpu",
       .name = "view",
       .accepts = anything,
       .run = reshape,
       .values = KernelValues::f32_and_halves},
      {"scale", "cpu", "vector", anything, scale},
      {"tanh", "cpu", "vector", anything, unary<kernels::tanh>},
      {"tanh_gradient", "cpu", "vector", anything, unary_gradient<kernels::tanh_gradient>},
      {"threshold", "cpu", "vector", anything, threshold},
      {"threshold_gradient", "cpu", "vector", anything, threshold_gradient},
  };
}

}  // namespace hone
