#include <algorithm>
#include <bit>

#include "hone/cuda/convert.h"
#include "hone/cuda/divisor.h"
#include "hone/cuda/kernels.h"
#include "hone/cuda/launch.h"
#include "hone/ops/batch_norm_rules.h"
#include "hone/ops/rules.h"

// Batch norms (hone/cuda/source/batch_norm.cu) and pooling (pooling.cu). Values are fp32, bf16 or fp16; statistics,
// gamma, beta and their gradients are fp32.
namespace hone::cuda {
namespace {

constexpr std::int64_t kImageThreads = 256;

std::string_view takes_image_values(const CallSite& site) {
  const DType dtype = site.inputs[0].dtype;
  return is_value(dtype) && site.outputs[0].dtype == dtype ? "" : "x is not f32, bf16 or f16";
}

// ---- batch norm

/// The same struct as in batch_norm.cu.
struct Channels {
  std::int32_t channels, parts;
  std::int32_t packs, packs_of_part;
  Divisor plane;
};
constexpr std::int64_t kMaxMomentParts = 32, kMomentBytes = 5 * sizeof(float);

// Returns how many parts a channel is split into: enough blocks to fill a GPU, and enough values to be worth a block.
// It depends on the shape alone.
std::int64_t parts_of_channel(std::int64_t channels, std::int64_t values) {
  constexpr std::int64_t kBlocks = 2048, kMinValues = 4096;
  return std::clamp<std::int64_t>(std::min(ceil_divide(kBlocks, channels), values / kMinValues), 1,
                                  kMaxMomentParts);
}

/// How kernels iterate over the values of x (B, C, …).
struct NormPlan {
  Channels channels = {};
  Program program;

  NormPlan(const Tensor& x, std::initializer_list<const void*> values) {
    const std::int64_t plane = x.count() / (x.size(0) * x.size(1));
    user_check(x.count() / x.size(1) < std::int64_t{1} << 30,
               "a batch norm of {} values in a channel: a GPU takes fewer than 2^30; use a smaller "
               "batch (`batch_size`)",
               x.count() / x.size(1));
    std::int64_t width = 16 / static_cast<std::int64_t>(info(x.dtype()).size_bytes);
    const auto is_aligned = [](const void* at) {
      return std::bit_cast<std::uintptr_t>(at) % 16 == 0;
    };
    if (plane % width != 0 || !std::ranges::all_of(values, is_aligned)) width = 1;
    const std::int64_t packs = x.size(0) * plane / width,
                       parts = parts_of_channel(x.size(1), x.size(0) * plane);
    channels = {.channels = static_cast<std::int32_t>(x.size(1)),
                .parts = static_cast<std::int32_t>(parts),
                .packs = static_cast<std::int32_t>(packs),
                .packs_of_part = static_cast<std::int32_t>(ceil_divide(packs, parts)),
                .plane = divisor_of(plane / width)};
    program = {"batch_norm.cu", {value_definition(x.dtype()), fmt::format("WIDTH={}", width)}};
  }

  template <typename... Arguments>
  void start(Device& device, const char* function, const Arguments&... arguments) const {
    launch(device,
           {program, function, {std::int64_t{channels.channels} * channels.parts}, {kImageThreads}},
           channels, arguments...);
  }
};

float epsilon_of(const Call& call) {
  return static_cast<float>(call.attributes.get<double>("eps"));
}

void batch_norm(Call& call) {
  const void* const x = call.input(0).device_pointer();
  const float *const gamma = floats(call, 1), *const beta = floats(call, 2),
                     *const mean = floats(call, 3), *const variance = floats(call, 4);
  const Tensor& in = call.input(0);
  void* const y = call.output().device_pointer();
  if (in.count() == 0) return;
  NormPlan(in, {x, y})
      .start(call.device, "normalize", x, gamma, beta, mean, variance, epsilon_of(call), y);
}

std::int64_t batch_norm_workspace(const CallSite& site, const Bindings& bindings) {
  const Sizes x = resolve(site.inputs[0].shape, bindings);
  return x[1] * parts_of_channel(x[1], element_count(x) / std::max<std::int64_t>(x[1], 1)) *
         kMomentBytes;
}

void batch_norm_training(Call& call) {
  const Tensor& in = call.input(0);
  ops::expect_variance(in.sizes());
  const void* const x = in.device_pointer();
  const float *const gamma = floats(call, 1), *const beta = floats(call, 2);
  void* const y = call.output().device_pointer();
  float *const mean = pointer<float>(call.output(1)), *const variance =
                                                          pointer<float>(call.output(2));
  const float eps = epsilon_of(call);
  const NormPlan plan(in, {x, y});
  plan.start(call.device, "moments", x, call.workspace);
  plan.start(call.device, "normalize_by_batch", x, gamma, beta, eps, call.workspace, y, mean,
             variance);
}

void batch_norm_gradient(Call& call) {
  const Tensor& in = call.input(0);
  ops::expect_variance(in.sizes());
  const void *const x = in.device_pointer(), *const dy = call.input(2).device_pointer();
  const float* const gamma = floats(call, 1);
  void* const dx = call.output().device_pointer();
  float *const dgamma = pointer<float>(call.output(1)), *const dbeta =
                                                            pointer<float>(call.output(2));
  const float eps = epsilon_of(call);
  const NormPlan plan(in, {x, dy, dx});
  plan.start(call.device, "moments_of_gradient", x, dy, call.workspace);
  plan.start(call.device, "gradient_by_batch", x, gamma, eps, dy, call.workspace, dx, dgamma,
             dbeta);
}

std::string_view every_average(const CallSite&) { return ""; }

void moving_average(Call& call) {
  const std::int64_t count = call.input(0).count();
  const float* const x = floats(call, 1);
  float* const average = pointer<float>(call.input(0));
  call.set_output(0, call.input(0));
  if (count == 0) return;
  const Program program{"batch_norm.cu"};
  launch(call.device,
         {program, "moving_average", {ceil_divide(count, kImageThreads)}, {kImageThreads}}, count,
         call.attributes.get<double>("momentum"), x, average);
}

// ---- pooling

/// The same struct as in pooling.cu.
struct Pooling {
  std::int64_t planes;
  std::int32_t height, width, result_height, result_width;
  std::int32_t kernel, stride, padding;
};

Pooling pooling_of(const Call& call, const Sizes& x, const Sizes& y) {
  const auto attribute = [&](const char* name) {
    return static_cast<std::int32_t>(call.attributes.get<std::int64_t>(name));
  };
  const auto extent = [](std::int64_t size) { return static_cast<std::int32_t>(size); };
  return {x[0] * x[1],  extent(x[2]),        extent(x[3]),        extent(y[2]),
          extent(y[3]), attribute("kernel"), attribute("stride"), attribute("padding")};
}

// Launches a thread for each of `count` results.
template <typename... Arguments>
void launch_pooling_kernel(Call& call, const char* function, std::int64_t count,
                           const Arguments&... arguments) {
  if (count == 0) return;
  const Program program{"pooling.cu", {value_definition(call.types[0].dtype)}};
  launch(call.device, {program, function, {ceil_divide(count, kImageThreads)}, {kImageThreads}},
         arguments...);
}

void max_pool2d(Call& call) {
  const Sizes x_sizes = call.input(0).sizes();
  const void* const x = call.input(0).device_pointer();
  Tensor& y = call.output();
  launch_pooling_kernel(call, "max_pool", y.count(), pooling_of(call, x_sizes, y.sizes()), x,
                        static_cast<const void*>(y.device_pointer()));
}

// The workspace holds the positions of the largest values.
std::int64_t max_pool_workspace(const CallSite& site, const Bindings& bindings) {
  return element_count(resolve(site.inputs[1].shape, bindings)) *
         static_cast<std::int64_t>(sizeof(std::int32_t));
}

void max_pool2d_gradient(Call& call) {
  const void *const x = call.input(0).device_pointer(), *const dy = call.input(1).device_pointer();
  const std::int64_t windows = call.input(1).count();
  Tensor& dx = call.output();
  const Pooling pooling = pooling_of(call, dx.sizes(), call.input(1).sizes());
  launch_pooling_kernel(call, "largest_places", windows, pooling, x, call.workspace);
  launch_pooling_kernel(call, "max_pool_gradient", dx.count(), pooling, call.workspace, dy,
                        static_cast<const void*>(dx.device_pointer()));
}

void global_average_pool(Call& call) {
  const Sizes x_sizes = call.input(0).sizes();
  const void* const x = call.input(0).device_pointer();
  Tensor& y = call.output();
  const std::int64_t planes = y.count(), pixels = x_sizes[2] * x_sizes[3];
  constexpr std::int64_t kWarps = 4;
  if (planes == 0) return;
  const Program program{"pooling.cu", {value_definition(y.dtype())}};
  launch(call.device, {program, "average_pool", {ceil_divide(planes, kWarps)}, {32, kWarps}},
         planes, pixels, x, static_cast<const void*>(y.device_pointer()));
}

void global_average_pool_gradient(Call& call) {
  const void* const dy = call.input(0).device_pointer();
  Tensor& dx = call.output();
  const std::int64_t planes = dx.size(0) * dx.size(1), pixels = dx.size(2) * dx.size(3);
  launch_pooling_kernel(call, "average_pool_gradient", dx.count(), planes, pixels, dy,
                        static_cast<const void*>(dx.device_pointer()));
}

Kernel image_row(std::string_view op, std::string_view name, void (*run)(Call&),
                 std::int64_t (*workspace)(const CallSite&, const Bindings&) = nullptr) {
  return {.op = op,
          .device = "cuda",
          .name = name,
          .accepts = takes_image_values,
          .run = run,
          .workspace_bytes = workspace,
          .values = KernelValues::f32_and_halves};
}

}  // namespace

KernelTable image_kernels() {
  return {
      image_row("batch_norm", "channels", batch_norm),
      image_row("batch_norm_gradient", "channels", batch_norm_gradient, batch_norm_workspace),
      image_row("batch_norm_training", "channels", batch_norm_training, batch_norm_workspace),
      image_row("global_average_pool", "planes", global_average_pool),
      image_row("global_average_pool_gradient", "planes", global_average_pool_gradient),
      image_row("max_pool2d", "planes", max_pool2d),
      image_row("max_pool2d_gradient", "planes", max_pool2d_gradient, max_pool_workspace),
      {"moving_average", "cuda", "vector", every_average, moving_average},
  };
}

}  // namespace hone::cuda
