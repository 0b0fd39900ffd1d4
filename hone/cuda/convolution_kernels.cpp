#include <algorithm>
#include <bit>
#include <numeric>

#include "hone/cuda/convert.h"
#include "hone/cuda/copy.h"
#include "hone/cuda/divisor.h"
#include "hone/cuda/kernels.h"
#include "hone/cuda/launch.h"
#include "hone/cuda/packed_plan.h"
#include "hone/ops/convolution_rules.h"
#include "hone/ops/rules.h"

// Convolutions and their gradients. With one group they are matrix products (hone/cuda/source/convolution.cuh): fp32 by
// fused multiply-adds, TF32, bf16 and fp16 on tensor cores. Images whose channels fill whole chunks of 16 bytes are
// copied with channels last, which costs less than reading single elements. With several groups, each result is summed
// separately.
namespace hone::cuda {
namespace {

// Indices in kernels stay below this, so that indices plus offsets stay below 2^31.
constexpr std::int64_t kMaxNumber = std::int64_t{1} << 30;

std::int64_t round_up(std::int64_t bytes) { return ceil_divide(bytes, 256) * 256; }

std::int64_t size_bytes(DType dtype) { return static_cast<std::int64_t>(info(dtype).size_bytes); }

std::int32_t narrow(std::int64_t number) { return static_cast<std::int32_t>(number); }

// ---- accepted calls

bool is_countable(const Type& type) {
  double count = 1;
  for (std::size_t axis = 1; axis < type.shape.size(); ++axis)
    count *= static_cast<double>(resolve(type.shape[axis], {}));
  return count < static_cast<double>(kMaxNumber);
}

// Only the first dimension may be symbolic: the number of images, or of a weight's outputs.
std::string_view any_groups(const CallSite& site) {
  const DType dtype = site.outputs[0].dtype;
  if (!is_value(dtype)) return "the result is not f32, bf16 or f16";
  for (const Type& input : site.inputs)
    if (input.dtype != dtype) return "operands are of several types";
  if (!std::ranges::all_of(site.inputs, is_countable) || !is_countable(site.outputs[0]))
    return "an image has 2^30 elements or more";
  return "";
}

std::string_view one_group(const CallSite& site) {
  return site.attributes.get<std::int64_t>("groups") == 1 ? any_groups(site) : "several groups";
}

// ---- tiles and parts

/// The tiling of a product: tiles of (rows, columns) results, whose sums are split among `parts` blocks of `steps`
/// steps each.
struct Tiling {
  std::int64_t rows, columns, parts, steps;

  std::int64_t tiles(const Results& r) const {
    return ceil_divide(r.rows, rows) * ceil_divide(r.columns, columns);
  }
};

// Two blocks for each of the 132 multiprocessors of an H100 or H200; the same on all GPUs, so that sums are split the
// same way.
constexpr std::int64_t kProductBlocks = 264;
constexpr std::int64_t kMaxSumParts = 64, kMinSteps = 8;
constexpr std::int64_t kLargeTile = 128, kSmallTile = 64, kStepBytes = 64;

std::int64_t most_parts(std::int64_t steps) {
  return std::clamp<std::int64_t>(steps / kMinSteps, 1, kMaxSumParts);
}

Tiling tiling_of(const Results& r, std::int64_t depth, DType dtype) {
  const std::int64_t steps = ceil_divide(depth * size_bytes(dtype), kStepBytes);
  const auto tile = [](std::int64_t extent) {
    return extent <= kSmallTile ? kSmallTile : kLargeTile;
  };
  Tiling t{tile(r.rows), tile(r.columns), 1, 1};
  if (t.tiles(r) * most_parts(steps) < kProductBlocks / 2) t.rows = t.columns = kSmallTile;
  const std::int64_t parts =
      std::clamp<std::int64_t>(kProductBlocks / t.tiles(r), 1, most_parts(steps));
  t.steps = std::max<std::int64_t>(1, ceil_divide(steps, parts));
  t.parts = std::max<std::int64_t>(1, ceil_divide(steps, t.steps));
  return t;
}

// Returns the bytes for partial sums of products of at most these rows, columns and depth. It never shrinks as these
// grow.
std::int64_t partial_bytes(std::int64_t rows, std::int64_t columns, std::int64_t depth,
                           DType dtype) {
  const std::int64_t parts = most_parts(ceil_divide(depth * size_bytes(dtype), kStepBytes));
  if (parts == 1) return 0;
  return static_cast<std::int64_t>(sizeof(float)) *
         std::min(parts * rows * columns, kProductBlocks * kLargeTile * kLargeTile);
}

// ---- channels last

bool has_chunks(std::int64_t channels, DType dtype) {
  return channels % (16 / size_bytes(dtype)) == 0;
}

// Copies elements of a tensor, `offset` from its first one and `strides` apart, to memory without gaps.
void copy_view(const Call& call, const Tensor& from, const Sizes& sizes, const Sizes& strides,
               std::int64_t offset, void* to) {
  const StoragePointer target(new Storage{.device = &call.device,
                                          .pointer = static_cast<std::byte*>(to),
                                          .size_bytes = from.size_bytes()});
  copy_dense(call.device,
             Tensor::view_of(from.storage(), from.dtype(), sizes, strides, from.offset() + offset),
             Tensor::view_of(target, from.dtype(), sizes, contiguous_strides(sizes), 0));
}

// Copies a weight (outputs, channels, kernel height, kernel width) as (outputs, kernel height, kernel width, channels).
void copy_weight(const Call& call, const Tensor& weight, void* to) {
  const std::int64_t channels = weight.size(1), taps = weight.size(2) * weight.size(3);
  copy_view(call, weight, {weight.size(0), taps, channels}, {channels * taps, 1, taps}, 0, to);
}

// Copies images (batch, channels, height, width) as (batch, height, width, channels).
void copy_images(const Call& call, const Tensor& images, void* to) {
  constexpr std::int64_t kPixels = 64, kChunks = 8;  // as in channels_last.cu
  const std::int64_t channels = images.size(1), plane = images.size(2) * images.size(3),
                     chunk = 16 / size_bytes(images.dtype());
  const void* const from = images.device_pointer();
  const bool packed = plane % chunk == 0 && std::bit_cast<std::uintptr_t>(from) % 16 == 0;
  const std::int64_t blocks =
      images.size(0) * ceil_divide(channels, kChunks * chunk) * ceil_divide(plane, kPixels);
  launch(call.device,
         {{"channels_last.cu",
           {value_definition(images.dtype()), fmt::format("WIDTH={}", packed ? chunk : 1)}},
          "channels_last",
          {blocks},
          {256}},
         narrow(channels), narrow(plane), from, to);
}

/// The same struct as in convolution.cuh.
struct Epilogue {
  const void *bias = nullptr, *residual = nullptr;
  void* to = nullptr;
};

/// A product and the arguments that its kernels share.
struct ProductRun {
  Call& call;
  Window window;
  Results results;
  Tiling tiling;
  DType dtype;
  float* partials;
  bool channels_last = false;
  std::string activation = "none";

  Extent grid() const { return {tiling.tiles(results), 1, tiling.parts}; }

  Program program(std::string_view file) const {
    const bool on_tensor_cores =
        dtype != DType::f32 || device_of(call.device).arithmetic() == Arithmetic::tf32;
    return {file,
            {value_definition(dtype), fmt::format("TENSOR={}", on_tensor_cores ? 1 : 0),
             fmt::format("ROWS={}", tiling.rows), fmt::format("COLUMNS={}", tiling.columns),
             fmt::format("CHANNELS_LAST={}", channels_last ? 1 : 0),
             activation_definition(activation)}};
  }

  float* parts_of_sums() const { return tiling.parts > 1 ? partials : nullptr; }

  void convolve(const void* weight, const void* x, const Epilogue& epilogue) const {
    const auto bytes = static_cast<std::uintptr_t>(window.depth * size_bytes(dtype));
    const int packed = (std::bit_cast<std::uintptr_t>(weight) | bytes) % 16 == 0 ? 1 : 0;
    launch(call.device, {program("convolution.cu"), "convolve", grid(), {256}}, window, results,
           weight, packed, narrow(tiling.steps), x, epilogue, parts_of_sums());
    add_parts(epilogue);
  }

  void add_parts(const Epilogue& epilogue) const {
    if (tiling.parts == 1) return;
    const std::int64_t count = std::int64_t{results.rows} * results.columns;
    launch(call.device, {program("convolution.cu"), "add_parts", {ceil_divide(count, 256)}, {256}},
           results, narrow(tiling.parts), partials, epilogue);
  }
};

void check_pixels(std::int64_t pixels) {
  user_check(pixels < kMaxNumber,
             "a convolution of {} pixels: a GPU takes fewer than 2^30; use a smaller batch "
             "(`batch_size`)",
             pixels);
}

// ---- forward

kernels::ConvolutionShape shape_of(const Call& call) {
  return ops::convolution_shape(call.input(0).sizes(), call.input(1).sizes(), call.attributes);
}

Window window_of(const kernels::ConvolutionShape& s, bool channels_last) {
  const std::int64_t taps = s.kernel_height * s.kernel_width,
                     grid = s.result_height() * s.result_width();
  check_pixels(s.batch * grid);
  return {.image = s.channels * s.height * s.width,
          .height = narrow(s.height),
          .width = narrow(s.width),
          .channel_stride = narrow(channels_last ? 1 : s.height * s.width),
          .pixel_stride = narrow(channels_last ? s.channels : 1),
          .pixels = narrow(s.batch * grid),
          .grid = divisor_of(grid),
          .grid_width = divisor_of(s.result_width()),
          .step = narrow(s.stride),
          .first = narrow(-s.padding),
          .depth = narrow(s.channels * taps),
          .inner = divisor_of(channels_last ? s.channels : taps),
          .tap_width = divisor_of(s.kernel_width),
          .tap_row = 0,
          .tap_column = 0,
          .tap_row_step = narrow(s.dilation),
          .tap_column_step = narrow(s.dilation)};
}

/// Sizes of a product's workspace: optional copies with channels last, and partial sums.
struct Room {
  std::int64_t images = 0, gradients = 0, weight = 0, partials = 0;
  std::int64_t bytes() const { return images + gradients + weight + partials; }
};

Room convolution_room(const Sizes& x, const Sizes& weight, const Sizes& y, DType dtype) {
  const bool copies = has_chunks(x[1], dtype);
  return {.images = copies ? round_up(element_count(x) * size_bytes(dtype)) : 0,
          .weight = copies ? round_up(element_count(weight) * size_bytes(dtype)) : 0,
          .partials =
              partial_bytes(y[1], y[0] * y[2] * y[3], weight[1] * weight[2] * weight[3], dtype)};
}

std::int64_t convolution_workspace(const CallSite& site, const Bindings& bindings) {
  return convolution_room(resolve(site.inputs[0].shape, bindings),
                          resolve(site.inputs[1].shape, bindings),
                          resolve(site.outputs[0].shape, bindings), site.outputs[0].dtype)
      .bytes();
}

// Returns whether the weight is copied. With one tap, its channels are last already.
bool copies_weight(const Sizes& weight, DType dtype) {
  return has_chunks(weight[1], dtype) && weight[2] * weight[3] > 1;
}

std::shared_ptr<const void> channels_last_weight(const Call& call) {
  const Tensor& weight = call.input(1);
  if (!copies_weight(weight.sizes(), weight.dtype())) return nullptr;
  StoragePointer copy = call.device.allocate(weight.size_bytes());
  copy_weight(call, weight, copy->pointer);
  return copy;
}

PreparedMemory channels_last_weight_memory(const CallSite& site,
                                           std::span<const Tensor* const> /*inputs*/,
                                           ThreadPool& /*pool*/) {
  const Type& weight = site.inputs[1];
  const Sizes sizes = resolve(weight.shape, {});
  return {.bytes = copies_weight(sizes, weight.dtype)
                       ? element_count(sizes) * size_bytes(weight.dtype)
                       : 0};
}

void run_convolution(Call& call, Epilogue epilogue, const std::string& activation) {
  const kernels::ConvolutionShape s = shape_of(call);
  const Tensor &images = call.input(0), &weights = call.input(1);
  const void *x = images.device_pointer(), *weight = weights.device_pointer();
  Tensor& result = call.output();
  epilogue.to = result.device_pointer();
  if (s.batch == 0) return;
  const DType dtype = images.dtype();
  const bool channels_last = has_chunks(s.channels, dtype);
  const Room room = convolution_room(images.sizes(), weights.sizes(), result.sizes(), dtype);
  auto* const workspace = static_cast<std::byte*>(call.workspace);
  if (channels_last) {
    copy_images(call, images, workspace);
    x = workspace;
  }
  if (call.prepared != nullptr) {
    weight = static_cast<const Storage*>(call.prepared)->pointer;
  } else if (copies_weight(weights.sizes(), dtype) ||
             (channels_last && std::bit_cast<std::uintptr_t>(weight) % 16 != 0)) {
    copy_weight(call, weights, workspace + room.images);
    weight = workspace + room.images;
  }
  const Window window = window_of(s, channels_last);
  const std::int64_t plane = window.grid.divisor;
  const Results results{.rows = narrow(s.outputs),
                        .columns = window.pixels,
                        .grid = window.grid,
                        .grid_width = window.grid_width,
                        .image = s.outputs * plane,
                        .plane = plane,
                        .width = window.grid_width.divisor,
                        .step = 1,
                        .first_row = 0,
                        .first_column = 0};
  ProductRun{.call = call,
             .window = window,
             .results = results,
             .tiling = tiling_of(results, window.depth, dtype),
             .dtype = dtype,
             .partials = reinterpret_cast<float*>(workspace + room.images + room.weight),
             .channels_last = channels_last,
             .activation = activation}
      .convolve(weight, x, epilogue);
}

void conv2d(Call& call) {
  const void* const bias = call.has_input(2) ? call.input(2).device_pointer() : nullptr;
  run_convolution(call, {.bias = bias}, "none");
}

Epilogue fused_epilogue(const Call& call) {
  return {.bias = call.input(2).device_pointer(),
          .residual = call.has_input(3) ? call.input(3).device_pointer() : nullptr};
}

void fused_conv2d(Call& call) {
  run_convolution(call, fused_epilogue(call), call.attributes.get<std::string>("activation"));
}

// ---- input gradient

/// The taps of a kernel along one dimension that read pixels begin, begin + stride, … of x: first, first + step, …,
/// `count` of them. Result i + `from` + r * `from_step` reads the i-th of these pixels with the r-th tap.
struct TapRun {
  std::int64_t first = 0, step = 1, count = 0, from = 0, from_step = 0;

  TapRun(const kernels::ConvolutionShape& s, std::int64_t kernel, std::int64_t begin)
      : step(s.stride / std::gcd(s.stride, s.dilation)) {
    while (first < kernel && (begin + s.padding - first * s.dilation) % s.stride != 0) ++first;
    if (first >= kernel) return;
    count = (kernel - 1 - first) / step + 1;
    from = (begin + s.padding - first * s.dilation) / s.stride;
    from_step = -step * s.dilation / s.stride;
  }
};

Room input_gradient_room(const Sizes& dx, const Sizes& weight, const Sizes& dy, DType dtype) {
  return {
      .gradients = has_chunks(dy[1], dtype) ? round_up(element_count(dy) * size_bytes(dtype)) : 0,
      .weight = round_up(element_count(weight) * size_bytes(dtype)),
      .partials =
          partial_bytes(dx[1], dx[0] * dx[2] * dx[3], weight[0] * weight[2] * weight[3], dtype)};
}

std::int64_t input_gradient_workspace(const CallSite& site, const Bindings& bindings) {
  return input_gradient_room(resolve(site.outputs[0].shape, bindings),
                             resolve(site.inputs[0].shape, bindings),
                             resolve(site.inputs[1].shape, bindings), site.outputs[0].dtype)
      .bytes();
}

/// An input gradient. `dy` may point to a copy with channels last.
struct InputGradient {
  Call& call;
  kernels::ConvolutionShape s;
  const void* dy;
  bool channels_last;
  std::byte* weight;  ///< memory for the rearranged weight
  float* partials;

  // Computes one product for all pixels with the same position modulo the stride, since the same taps read them.
  void run_phase(std::int64_t row, std::int64_t column) const;
};

void InputGradient::run_phase(std::int64_t row, std::int64_t column) const {
  const std::int64_t height = ceil_divide(s.height - row, s.stride),
                     width = ceil_divide(s.width - column, s.stride);
  const Tensor& weights = call.input(0);
  const DType dtype = weights.dtype();
  const TapRun rows(s, s.kernel_height, row), columns(s, s.kernel_width, column);
  const std::int64_t taps = rows.count * columns.count, pixels = s.batch * height * width,
                     plane = s.result_height() * s.result_width();
  check_pixels(pixels);
  const auto at_least_one = [](std::int64_t n) { return std::max<std::int64_t>(1, n); };
  const Window window{.image = s.outputs * plane,
                      .height = narrow(s.result_height()),
                      .width = narrow(s.result_width()),
                      .channel_stride = narrow(channels_last ? 1 : plane),
                      .pixel_stride = narrow(channels_last ? s.outputs : 1),
                      .pixels = narrow(pixels),
                      .grid = divisor_of(height * width),
                      .grid_width = divisor_of(width),
                      .step = 1,
                      .first = 0,
                      .depth = narrow(s.outputs * taps),
                      .inner = divisor_of(channels_last ? s.outputs : at_least_one(taps)),
                      .tap_width = divisor_of(at_least_one(columns.count)),
                      .tap_row = narrow(rows.from),
                      .tap_column = narrow(columns.from),
                      .tap_row_step = narrow(rows.from_step),
                      .tap_column_step = narrow(columns.from_step)};
  const Results results{.rows = narrow(s.channels),
                        .columns = window.pixels,
                        .grid = window.grid,
                        .grid_width = window.grid_width,
                        .image = s.channels * s.height * s.width,
                        .plane = s.height * s.width,
                        .width = narrow(s.width),
                        .step = narrow(s.stride),
                        .first_row = narrow(row),
                        .first_column = narrow(column)};
  if (taps > 0) {
    // The rows of the product are channels.
    const std::int64_t kernel = s.kernel_height * s.kernel_width, output = s.channels * kernel,
                       down = rows.step * s.kernel_width, across = columns.step,
                       first = rows.first * s.kernel_width + columns.first;
    if (channels_last)
      copy_view(call, weights, {s.channels, rows.count, columns.count, s.outputs},
                {kernel, down, across, output}, first, weight);
    else
      copy_view(call, weights, {s.channels, s.outputs, rows.count, columns.count},
                {kernel, output, down, across}, first, weight);
  }
  ProductRun{.call = call,
             .window = window,
             .results = results,
             .tiling = tiling_of(results, window.depth, dtype),
             .dtype = dtype,
             .partials = partials,
             .channels_last = channels_last}
      .convolve(weight, dy, {.to = call.output().device_pointer()});
}

void conv2d_input_gradient(Call& call) {
  const Tensor &weight = call.input(0), &gradients = call.input(1);
  const void* dy = gradients.device_pointer();
  Tensor& dx = call.output();
  const kernels::ConvolutionShape s =
      ops::convolution_shape(dx.sizes(), weight.sizes(), call.attributes);
  if (s.batch == 0) return;
  const DType dtype = weight.dtype();
  const bool channels_last = has_chunks(s.outputs, dtype);
  const Room room = input_gradient_room(dx.sizes(), weight.sizes(), gradients.sizes(), dtype);
  auto* const workspace = static_cast<std::byte*>(call.workspace);
  if (channels_last) {
    copy_images(call, gradients, workspace);
    dy = workspace;
  }
  std::byte* const transposed = workspace + room.gradients;
  const InputGradient gradient{
      call, s, dy, channels_last, transposed, reinterpret_cast<float*>(transposed + room.weight)};
  for (std::int64_t row = 0; row < std::min(s.stride, s.height); ++row)
    for (std::int64_t column = 0; column < std::min(s.stride, s.width); ++column)
      gradient.run_phase(row, column);
}

// ---- weight gradient

Room weight_gradient_room(const Sizes& x, const Sizes& dy, const Sizes& weight, DType dtype) {
  const bool copies = has_chunks(x[1], dtype) && has_chunks(dy[1], dtype);
  const auto bytes = [&](const Sizes& sizes) {
    return copies ? round_up(element_count(sizes) * size_bytes(dtype)) : 0;
  };
  return {.images = bytes(x),
          .gradients = bytes(dy),
          .partials = partial_bytes(weight[0], weight[1] * weight[2] * weight[3],
                                    dy[0] * dy[2] * dy[3], dtype)};
}

std::int64_t weight_gradient_workspace(const CallSite& site, const Bindings& bindings) {
  return weight_gradient_room(resolve(site.inputs[0].shape, bindings),
                              resolve(site.inputs[1].shape, bindings),
                              resolve(site.outputs[0].shape, bindings), site.outputs[0].dtype)
      .bytes();
}

void conv2d_weight_gradient(Call& call) {
  const Tensor &images = call.input(0), &gradients = call.input(1);
  const void *x = images.device_pointer(), *dy = gradients.device_pointer();
  Tensor& dweight = call.output();
  const kernels::ConvolutionShape s =
      ops::convolution_shape(images.sizes(), dweight.sizes(), call.attributes);
  void* const to = dweight.device_pointer();
  if (s.batch == 0) return fill_zeros(call.device, to, dweight.size_bytes());
  const DType dtype = images.dtype();
  const bool channels_last = has_chunks(s.channels, dtype) && has_chunks(s.outputs, dtype);
  const Room room = weight_gradient_room(images.sizes(), gradients.sizes(), dweight.sizes(), dtype);
  auto* const workspace = static_cast<std::byte*>(call.workspace);
  if (channels_last) {
    copy_images(call, images, workspace);
    copy_images(call, gradients, workspace + room.images);
    x = workspace;
    dy = workspace + room.images;
  }
  const Window window = window_of(s, channels_last);
  const std::int64_t taps = s.kernel_height * s.kernel_width;
  // Columns are ordered by channel, then tap, as in the weight; with channels last, by tap, then channel.
  const Results results{.rows = narrow(s.outputs),
                        .columns = window.depth,
                        .grid = divisor_of(channels_last ? s.channels : window.depth),
                        .grid_width = divisor_of(channels_last ? 1 : window.depth),
                        .image = 1,
                        .plane = window.depth,
                        .width = narrow(taps),
                        .step = 1,
                        .first_row = 0,
                        .first_column = 0};
  const ProductRun run{
      .call = call,
      .window = window,
      .results = results,
      .tiling = tiling_of(results, window.pixels, dtype),
      .dtype = dtype,
      .partials = reinterpret_cast<float*>(workspace + room.images + room.gradients),
      .channels_last = channels_last};
  launch(call.device, {run.program("convolution_weight.cu"), "weight_gradient", run.grid(), {256}},
         window, results, narrow(run.tiling.steps), x, dy, to, run.parts_of_sums());
  run.add_parts({.to = to});
}

// ---- groups

GroupedConvolution grouped_call(const kernels::ConvolutionShape& s) {
  return {.batch = s.batch,
          .channels = narrow(s.channels),
          .height = narrow(s.height),
          .width = narrow(s.width),
          .outputs = narrow(s.outputs),
          .result_height = narrow(s.result_height()),
          .result_width = narrow(s.result_width()),
          .kernel_height = narrow(s.kernel_height),
          .kernel_width = narrow(s.kernel_width),
          .stride = narrow(s.stride),
          .padding = narrow(s.padding),
          .dilation = narrow(s.dilation),
          .group_channels = narrow(s.channels / s.groups),
          .group_outputs = narrow(s.outputs / s.groups)};
}

// Launches `blocks` blocks of 256 threads.
template <typename... Arguments>
void launch_grouped(Call& call, const char* function, std::int64_t blocks,
                    const kernels::ConvolutionShape& s, const std::string& activation,
                    const Arguments&... arguments) {
  if (blocks == 0) return;
  const Program program{
      "convolution_groups.cu",
      {value_definition(call.input(0).dtype()), activation_definition(activation)}};
  launch(call.device, {program, function, {blocks}, {256}}, grouped_call(s), arguments...);
}

void run_grouped(Call& call, const Epilogue& epilogue, const std::string& activation) {
  const void *const x = call.input(0).device_pointer(), *const weight =
                                                            call.input(1).device_pointer();
  Tensor& y = call.output();
  launch_grouped(call, "grouped", ceil_divide(y.count(), 256), shape_of(call), activation, x,
                 weight, epilogue.bias, epilogue.residual, y.device_pointer());
}

void grouped_conv2d(Call& call) {
  const void* const bias = call.has_input(2) ? call.input(2).device_pointer() : nullptr;
  run_grouped(call, {.bias = bias}, "none");
}

void fused_grouped_conv2d(Call& call) {
  run_grouped(call, fused_epilogue(call), call.attributes.get<std::string>("activation"));
}

void grouped_input_gradient(Call& call) {
  const void *const weight = call.input(0).device_pointer(), *const dy =
                                                                 call.input(1).device_pointer();
  Tensor& dx = call.output();
  launch_grouped(call, "grouped_input_gradient", ceil_divide(dx.count(), 256),
                 ops::convolution_shape(dx.sizes(), call.input(0).sizes(), call.attributes), "none",
                 weight, dy, dx.device_pointer());
}

void grouped_weight_gradient(Call& call) {
  const void *const x = call.input(0).device_pointer(), *const dy = call.input(1).device_pointer();
  Tensor& dweight = call.output();
  launch_grouped(call, "grouped_weight_gradient", dweight.count(),
                 ops::convolution_shape(call.input(0).sizes(), dweight.sizes(), call.attributes),
                 "none", x, dy, dweight.device_pointer());
}

Kernel tiles(std::string_view op, void (*run)(Call&),
             std::int64_t (*workspace)(const CallSite&, const Bindings&)) {
  return {.op = op,
          .device = "cuda",
          .name = "tiles",
          .accepts = one_group,
          .run = run,
          .workspace_bytes = workspace};
}

// A convolution whose constant weight is copied once.
Kernel forward_tiles(std::string_view op, void (*run)(Call&)) {
  Kernel kernel = tiles(op, run, convolution_workspace);
  kernel.prepare = channels_last_weight;
  kernel.prepared_memory = channels_last_weight_memory;
  return kernel;
}

}  // namespace

KernelTable convolution_kernels() {
  KernelTable table = {
      forward_tiles("conv2d", conv2d),
      {"conv2d", "cuda", "groups", any_groups, grouped_conv2d},
      tiles("conv2d_input_gradient", conv2d_input_gradient, input_gradient_workspace),
      {"conv2d_input_gradient", "cuda", "groups", any_groups, grouped_input_gradient},
      tiles("conv2d_weight_gradient", conv2d_weight_gradient, weight_gradient_workspace),
      {"conv2d_weight_gradient", "cuda", "groups", any_groups, grouped_weight_gradient},
      forward_tiles("fused_conv2d", fused_conv2d),
      {"fused_conv2d", "cuda", "groups", any_groups, fused_grouped_conv2d},
  };
  for (Kernel& row : table) row.values = KernelValues::f32_and_halves;
  return table;
}

}  // namespace hone::cuda
