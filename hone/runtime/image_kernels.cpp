#include "hone/runtime/image_kernels.h"

#include "hone/kernels/batch_norm.h"
#include "hone/kernels/convolution.h"
#include "hone/kernels/pooling.h"
#include "hone/kernels/winograd.h"
#include "hone/ops/convolution_rules.h"
#include "hone/runtime/activation_name.h"
#include "hone/tensor/mapped.h"

namespace hone {
namespace {

const float* values_of(const Call& call, std::size_t index) {
  return call.input(index).data<float>();
}

std::string_view every_image(const CallSite&) { return ""; }

std::int64_t float_bytes(std::size_t count) {
  return static_cast<std::int64_t>(count * sizeof(float));
}

// ---- convolutions

// An algorithm for convolutions.
struct Convolution {
  std::size_t (*packed_floats)(const kernels::ConvolutionShape&);
  void (*pack)(ThreadPool&, const kernels::ConvolutionShape&, const float* weight, float* packed);
  void (*run)(ThreadPool&, const kernels::ConvolutionShape&, const float* x, const float* packed,
              float* y, const kernels::ConvolutionEpilogue&);
  std::size_t (*input_gradient_floats)(const kernels::ConvolutionShape&);
  void (*input_gradient)(ThreadPool&, const kernels::ConvolutionShape&, const float* weight,
                         const float* dy, float* dx, float* workspace);
};
constexpr Convolution kGemm = {kernels::convolution_packed_floats, kernels::convolution_pack,
                               kernels::convolution, kernels::convolution_input_gradient_floats,
                               kernels::convolution_input_gradient};
constexpr Convolution kWinograd = {
    kernels::winograd_packed_floats, kernels::winograd_pack, kernels::winograd_convolution,
    kernels::winograd_input_gradient_floats, kernels::winograd_input_gradient};

kernels::ConvolutionShape shape_of(const Call& call) {
  return ops::convolution_shape(call.input(0).sizes(), call.input(1).sizes(), call.attributes);
}

kernels::ConvolutionShape shape_of(const CallSite& site, const Bindings& bindings) {
  return ops::convolution_shape(resolve(site.inputs[0].shape, bindings),
                                resolve(site.inputs[1].shape, bindings), site.attributes);
}

kernels::ConvolutionShape input_gradient_shape(const CallSite& site, const Bindings& bindings) {
  return ops::convolution_shape(resolve(site.outputs[0].shape, bindings),
                                resolve(site.inputs[0].shape, bindings), site.attributes);
}

// Binds the batch size to 1: the choice of an algorithm does not depend on it.
Bindings one_image(const Type& images) {
  return images.dim(0).symbol == 0 ? Bindings() : Bindings{{images.dim(0).symbol, 1}};
}

std::string_view by_winograd(const CallSite& site) {
  return kernels::winograd_unsupported_reason(shape_of(site, one_image(site.inputs[0])));
}

std::string_view input_gradient_by_winograd(const CallSite& site) {
  return kernels::winograd_input_gradient_unsupported_reason(
      input_gradient_shape(site, one_image(site.outputs[0])));
}

template <const Convolution& kConvolution>
std::int64_t convolution_workspace(const CallSite& site, const Bindings& bindings) {
  return float_bytes(kConvolution.packed_floats(shape_of(site, bindings)));
}

// Packs the weight for the product. Memory holds both, except for a file-backed weight, whose pages are released.
template <const Convolution& kConvolution>
std::shared_ptr<const void> packed_convolution_weight(const Call& call) {
  const Tensor& weight = call.input(1);
  const kernels::ConvolutionShape shape = shape_of(call);
  StoragePointer packed = cpu().allocate(kConvolution.packed_floats(shape) * sizeof(float));
  kConvolution.pack(call.pool(), shape, weight.data<float>(),
                    reinterpret_cast<float*>(packed->pointer));
  release_pages(weight);
  return packed;
}

template <const Convolution& kConvolution>
PreparedMemory packed_convolution_memory(const CallSite& site,
                                         std::span<const Tensor* const> /*inputs*/,
                                         ThreadPool& /*pool*/) {
  return {.bytes = convolution_workspace<kConvolution>(site, one_image(site.inputs[0])),
          .releases_pages = true};
}

template <const Convolution& kConvolution>
void run_convolution(Call& call, const kernels::ConvolutionEpilogue& epilogue) {
  const kernels::ConvolutionShape shape = shape_of(call);
  const float* const x = values_of(call, 0);
  float* const y = call.output().data<float>();
  const float* packed = nullptr;
  if (const auto* prepared = static_cast<const Storage*>(call.prepared)) {
    packed = reinterpret_cast<const float*>(prepared->pointer);
  } else {
    auto* const workspace = static_cast<float*>(call.workspace);
    kConvolution.pack(call.pool(), shape, values_of(call, 1), workspace);
    packed = workspace;
  }
  kConvolution.run(call.pool(), shape, x, packed, y, epilogue);
}

template <const Convolution& kConvolution>
void conv2d(Call& call) {
  run_convolution<kConvolution>(call, {.bias = call.has_input(2) ? values_of(call, 2) : nullptr});
}

template <const Convolution& kConvolution>
void fused_conv2d(Call& call) {
  run_convolution<kConvolution>(
      call, {.bias = values_of(call, 2),
             .residual = call.has_input(3) ? values_of(call, 3) : nullptr,
             .activation = activation_called(call.attributes.get<std::string>("activation"))});
}

template <const Convolution& kConvolution>
std::int64_t conv2d_input_gradient_workspace(const CallSite& site, const Bindings& bindings) {
  return float_bytes(kConvolution.input_gradient_floats(input_gradient_shape(site, bindings)));
}

template <const Convolution& kConvolution>
void conv2d_input_gradient(Call& call) {
  const float *weight = values_of(call, 0), *dy = values_of(call, 1);
  Tensor& dx = call.output();
  kConvolution.input_gradient(
      call.pool(), ops::convolution_shape(dx.sizes(), call.input(0).sizes(), call.attributes),
      weight, dy, dx.data<float>(), static_cast<float*>(call.workspace));
}

void conv2d_weight_gradient(Call& call) {
  const float *x = values_of(call, 0), *dy = values_of(call, 1);
  Tensor& dweight = call.output();
  kernels::convolution_weight_gradient(
      call.pool(), ops::convolution_shape(call.input(0).sizes(), dweight.sizes(), call.attributes),
      x, dy, dweight.data<float>());
}

// ---- batch norm

kernels::BatchNormShape norm_shape(const Call& call) {
  const Tensor& x = call.input(0);
  const std::int64_t planes = x.size(0) * x.size(1);
  return {x.size(0), x.size(1), planes == 0 ? 0 : x.count() / planes};
}

float norm_epsilon(const Call& call) {
  return static_cast<float>(call.attributes.get<double>("eps"));
}

void batch_norm(Call& call) {
  const kernels::BatchNormShape shape = norm_shape(call);
  const float* const x = values_of(call, 0);
  kernels::batch_norm(call.pool(), shape, x, values_of(call, 1), values_of(call, 2),
                      values_of(call, 3), values_of(call, 4), norm_epsilon(call),
                      call.output().data<float>());
}

void batch_norm_training(Call& call) {
  const kernels::BatchNormShape shape = norm_shape(call);
  if (shape.count() < 2) return call.op.reference(call);  // reports the error
  const float* const x = values_of(call, 0);
  kernels::batch_norm_training(call.pool(), shape, x, values_of(call, 1), values_of(call, 2),
                               norm_epsilon(call), call.output().data<float>(),
                               call.output(1).data<float>(), call.output(2).data<float>());
}

void batch_norm_gradient(Call& call) {
  const kernels::BatchNormShape shape = norm_shape(call);
  if (shape.count() < 2) return call.op.reference(call);
  const float *x = values_of(call, 0), *gamma = values_of(call, 1), *dy = values_of(call, 2);
  kernels::batch_norm_gradient(call.pool(), shape, x, gamma, norm_epsilon(call), dy,
                               call.output().data<float>(), call.output(1).data<float>(),
                               call.output(2).data<float>());
}

// ---- pooling

kernels::PoolingShape window_of(const Call& call) {
  const Sizes& x = call.input(0).sizes();
  return {.planes = x[0] * x[1],
          .height = x[2],
          .width = x[3],
          .kernel = call.attributes.get<std::int64_t>("kernel"),
          .stride = call.attributes.get<std::int64_t>("stride"),
          .padding = call.attributes.get<std::int64_t>("padding")};
}

void max_pool2d(Call& call) {
  const float* const x = values_of(call, 0);
  kernels::max_pool(call.pool(), window_of(call), x, call.output().data<float>());
}

void max_pool2d_gradient(Call& call) {
  const float *x = values_of(call, 0), *dy = values_of(call, 1);
  kernels::max_pool_gradient(call.pool(), window_of(call), x, dy, call.output().data<float>());
}

void global_average_pool(Call& call) {
  const Tensor& x = call.input(0);
  kernels::average_pool(call.pool(), x.size(0) * x.size(1), x.size(2) * x.size(3), x.data<float>(),
                        call.output().data<float>());
}

void global_average_pool_gradient(Call& call) {
  const float* const dy = values_of(call, 0);
  Tensor& dx = call.output();
  kernels::average_pool_gradient(call.pool(), dx.size(0) * dx.size(1), dx.size(2) * dx.size(3), dy,
                                 dx.data<float>());
}

// Winograd needs 16 products instead of 36.
constexpr double kWinogradShare = 16.0 / 36;

// A convolution with a constant weight, which is packed once.
template <const Convolution& kImplementation>
Kernel convolution(std::string_view op, void (*run)(Call&)) {
  return {.op = op,
          .device = "cpu",
          .name = "gemm",
          .accepts = every_image,
          .run = run,
          .prepare = packed_convolution_weight<kImplementation>,
          .workspace_bytes = convolution_workspace<kImplementation>,
          .prepared_memory = packed_convolution_memory<kImplementation>};
}

Kernel winograd_convolution(std::string_view op, void (*run)(Call&)) {
  Kernel kernel = convolution<kWinograd>(op, run);
  kernel.name = "winograd";
  kernel.accepts = by_winograd;
  kernel.flops_share = kWinogradShare;
  return kernel;
}

}  // namespace

KernelTable image_kernels() {
  return {
      {"batch_norm", "cpu", "channels", every_image, batch_norm},
      {"batch_norm_gradient", "cpu", "channels", every_image, batch_norm_gradient},
      {"batch_norm_training", "cpu", "channels", every_image, batch_norm_training},
      winograd_convolution("conv2d", conv2d<kWinograd>),
      convolution<kGemm>("conv2d", conv2d<kGemm>),
      {"conv2d_input_gradient", "cpu", "winograd", input_gradient_by_winograd,
       conv2d_input_gradient<kWinograd>, Layout::dense, nullptr,
       conv2d_input_gradient_workspace<kWinograd>, std::nullopt, KernelValues::f32, kWinogradShare},
      {"conv2d_input_gradient", "cpu", "gemm", every_image, conv2d_input_gradient<kGemm>,
       Layout::dense, nullptr, conv2d_input_gradient_workspace<kGemm>},
      {"conv2d_weight_gradient", "cpu", "gemm", every_image, conv2d_weight_gradient},
      winograd_convolution("fused_conv2d", fused_conv2d<kWinograd>),
      convolution<kGemm>("fused_conv2d", fused_conv2d<kGemm>),
      {"global_average_pool", "cpu", "planes", every_image, global_average_pool},
      {"global_average_pool_gradient", "cpu", "planes", every_image, global_average_pool_gradient},
      {"max_pool2d", "cpu", "planes", every_image, max_pool2d},
      {"max_pool2d_gradient", "cpu", "planes", every_image, max_pool2d_gradient}};
}

}  // namespace hone
