#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "hone/cuda/convert.h"
#include "hone/cuda/kernels.h"
#include "hone/cuda/launch.h"
#include "hone/cuda/sums.h"
#include "hone/kernels/loop_nest.h"

// Kernels for training besides products: dropout, also fused with a product of few outputs, sums of gradients, their
// norm, and AdamW's step. Kernels read random keys, the norm, the learning rate and the step's number from GPU memory.
namespace hone::cuda {
namespace {

std::string_view any_training_call(const CallSite&) { return ""; }

bool on_fours(std::initializer_list<const void*> pointers, std::uintptr_t bytes = 16) {
  return std::ranges::all_of(pointers, [bytes](const void* pointer) {
    return std::bit_cast<std::uintptr_t>(pointer) % bytes == 0;
  });
}

// ---- dropout

// The same struct as in hone/cuda/source/dropout.cuh.
struct Drops {
  const std::int64_t* key;
  std::uint64_t stream;
  std::uint64_t threshold;
  float factor;
  const std::int64_t* places;
  std::int64_t length;
  kernels::LoopNest<1> words;
};

// Splits x into rows whose elements use consecutive random words: the last dimension, or, without places, all inner
// dimensions that do.
Drops drops_of(const Call& call, std::size_t places_at, bool by_last_dimension) {
  Sizes sizes = call.input(0).sizes();
  const Shape& limits = call.attributes.get<Shape>("limits");
  const Sizes largest = limits.empty() ? sizes : resolve(limits, call.bindings);
  user_check(std::ranges::equal(sizes, largest, std::less_equal<>()),
             "x {} is larger than its limits {}", hone::to_string(sizes), hone::to_string(largest));
  Sizes strides = contiguous_strides(largest);
  const double p = call.attributes.get<double>("p");
  const auto stream = static_cast<std::uint64_t>(call.attributes.get<std::int64_t>("stream"));
  const auto threshold = static_cast<std::uint64_t>(std::llround(p * 0x1p32));
  const bool has_places = call.has_input(places_at);
  std::int64_t length = 1;
  if (by_last_dimension || has_places) {
    length = sizes.back();
    sizes.pop_back();
    strides.pop_back();
  }
  Drops drops{integers(call, 1),
              stream,
              threshold,
              static_cast<float>(1 / (1 - p)),
              has_places ? integers(call, places_at) : nullptr,
              length,
              {sizes, {strides}}};
  // Adjacent elements of the nest's innermost dimension use adjacent words.
  if (!by_last_dimension && !has_places && drops.words.inner_stride(0) == 1) {
    drops.length = drops.words.inner_size();
    --drops.words.rank;
  }
  return drops;
}

std::string_view drops_values(const CallSite& site) {
  if (site.inputs[0].rank() > kernels::kMaxRank) return "more than 6 dimensions";
  const DType dtype = site.inputs[0].dtype;
  return dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::f16
             ? ""
             : "x is not f32, bf16 or f16";
}

std::string_view drops_floats(const CallSite& site) {
  if (site.inputs[0].rank() > kernels::kMaxRank) return "more than 6 dimensions";
  return site.inputs[0].dtype == DType::f32 ? "" : "x is not f32";
}

void run_dropout(Call& call) {
  static const Program of_float{"dropout.cu", {value_definition(DType::f32)}},
      of_bfloat16{"dropout.cu", {value_definition(DType::bf16)}},
      of_float16{"dropout.cu", {value_definition(DType::f16)}};
  const Tensor& x = call.input(0);
  const std::int64_t count = x.count();
  const DType dtype = x.dtype();
  const void* const x_at = x.device_pointer();
  const Drops drops = drops_of(call, 2, false);
  void* const y_at = call.output().device_pointer();
  if (count == 0) return;
  constexpr std::int64_t kThreads = 256;
  const std::int64_t rows = count / drops.length, groups_per_row = ceil_divide(drops.length, 4);
  const std::int64_t groups = rows * groups_per_row;
  const int aligned =
      (rows == 1 || drops.length % 4 == 0) && on_fours({x_at, y_at}, 4 * info(dtype).size_bytes);
  launch(call.device,
         {dtype == DType::f32    ? of_float
          : dtype == DType::bf16 ? of_bfloat16
                                 : of_float16,
          "dropout",
          {ceil_divide(groups, kThreads)},
          {kThreads}},
         drops, x_at, y_at, groups, groups_per_row, aligned);
}

// ---- dropout fused with a product

constexpr std::int64_t kWarpsOfProduct = 4, kColumnsOfWarp = 128;  // as in dropped.cu
constexpr std::int64_t kMinChunkRows = 32, kMaxProductChunks = 64;

/// A program and the number of outputs that it computes at a time.
struct DroppedProgram {
  const Program& program;
  std::int64_t outputs;
};

DroppedProgram dropped_program(std::int64_t outputs) {
  static const Program of_8{"dropped.cu", {"OUTPUTS=8"}}, of_16{"dropped.cu", {"OUTPUTS=16"}};
  return outputs <= 8 ? DroppedProgram{of_8, 8} : DroppedProgram{of_16, 16};
}

void run_dropped_linear(Call& call) {
  const std::int64_t rows = row_count(call.input(0)), outputs = call.input(2).size(0);
  const Drops drops = drops_of(call, 3, true);
  const float *const x = floats(call, 0), *const weight = floats(call, 2);
  float* const y = pointer<float>(call.output());
  if (call.output().count() == 0) return;
  if (drops.length == 0) return fill_zeros(call.device, y, call.output().size_bytes());
  constexpr std::int64_t kRowsOfWarp = 4;
  const int aligned = drops.length % 4 == 0 && on_fours({x, weight});
  const DroppedProgram program = dropped_program(outputs);
  launch(call.device,
         {program.program,
          "product",
          {ceil_divide(rows, kWarpsOfProduct * kRowsOfWarp), ceil_divide(outputs, program.outputs)},
          {32, kWarpsOfProduct}},
         drops, x, weight, y, rows, outputs, aligned);
}

std::int64_t dropped_linear_gradient_bytes(const CallSite& site, const Bindings& bindings) {
  const Sizes x = resolve(site.inputs[0].shape, bindings);
  const std::int64_t columns = x.back(), outputs = resolve(site.inputs[2].dim(0), bindings);
  const std::int64_t rows = columns == 0 ? 0 : element_count(x) / columns;
  return std::min(kMaxProductChunks, ceil_divide(rows, kMinChunkRows)) * outputs * columns *
         static_cast<std::int64_t>(sizeof(float));
}

void run_dropped_linear_gradient(Call& call) {
  const std::int64_t rows = row_count(call.input(0)), outputs = call.input(2).size(0);
  const Drops drops = drops_of(call, 4, true);
  const float *const x = floats(call, 0), *const weight = floats(call, 2),
                     *const dy = floats(call, 3);
  float *const dx = pointer<float>(call.output(0)), *const dweight = pointer<float>(call.output(1));
  const std::int64_t columns = drops.length;
  // Without rows or outputs nothing is summed.
  if (rows == 0 || outputs == 0) {
    fill_zeros(call.device, dx, call.output(0).size_bytes());
    fill_zeros(call.device, dweight, call.output(1).size_bytes());
    return;
  }
  const std::int64_t rows_per_chunk = std::max(kMinChunkRows, ceil_divide(rows, kMaxProductChunks));
  const std::int64_t chunks = ceil_divide(rows, rows_per_chunk);
  float* const sums = chunks == 1 ? dweight : static_cast<float*>(call.workspace);
  const int aligned = columns % 4 == 0 && on_fours({x, weight, dx});
  launch(call.device,
         {dropped_program(outputs).program,
          "product_gradient",
          {ceil_divide(columns, kColumnsOfWarp), chunks},
          {32, kWarpsOfProduct}},
         drops, x, weight, dy, dx, sums, rows, outputs, rows_per_chunk, aligned);
  if (chunks > 1) sum_of_rows(call.device, chunks, outputs * columns, sums, dweight);
}

// ---- sums over dimensions

std::string_view sums_floats(const CallSite& site) {
  return site.inputs[0].rank() > kernels::kMaxRank ? "more than 6 dimensions" : "";
}

std::int64_t sum_to_bytes(const CallSite& site, const Bindings& bindings) {
  const std::int64_t terms = element_count(resolve(site.inputs[0].shape, bindings));
  const std::int64_t results = element_count(resolve(site.outputs[0].shape, bindings));
  return results == 0 ? 0 : sum_workspace_bytes(terms / results, results);
}

void run_sum_to(Call& call) {
  const Tensor& x = call.input(0);
  const Sizes target = call.output_sizes();
  Sizes kept(x.sizes().size(), 1);
  std::copy(target.begin(), target.end(), kept.end() - static_cast<std::ptrdiff_t>(target.size()));
  const Summands from{x.device_pointer(), x.dtype()};
  sum_to(call.device, x.sizes(), from, kept, call.output().device_pointer(),
         static_cast<float*>(call.workspace));
}

// ---- steps

const Program& training_program() {
  static const Program program{"training.cu"};
  return program;
}

// As in training.cu.
constexpr std::size_t kNormTensors = 128;
constexpr std::int64_t kNormChunk = 16384;
struct NormTensors {
  int count;
  const float* data[kNormTensors];
  std::int64_t sizes[kNormTensors];
  std::int64_t first_chunks[kNormTensors];
};

std::int64_t global_norm_bytes(const CallSite& site, const Bindings& bindings) {
  std::int64_t chunks = 0;
  for (const Type& input : site.inputs)
    chunks += ceil_divide(element_count(resolve(input.shape, bindings)), kNormChunk);
  return chunks * static_cast<std::int64_t>(sizeof(double));
}

void run_global_norm(Call& call) {
  constexpr std::int64_t kThreads = 256, kThreadsAtTheEnd = 1024;
  double* const sums = static_cast<double*>(call.workspace);
  NormTensors tensors{};
  std::int64_t done = 0, chunks = 0;  // before `tensors`, and in them
  const auto sum_squares = [&] {
    if (chunks == 0) return;
    launch(call.device, {training_program(), "sum_squares", {chunks}, {kThreads}}, tensors,
           sums + done);
    done += chunks;
    chunks = 0;
    tensors = {};
  };
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const std::int64_t count = call.input(i).count();
    if (count == 0) continue;
    const auto at = static_cast<std::size_t>(tensors.count++);
    tensors.data[at] = floats(call, i);
    tensors.sizes[at] = count;
    tensors.first_chunks[at] = chunks;
    chunks += ceil_divide(count, kNormChunk);
    if (at + 1 == kNormTensors) sum_squares();
  }
  sum_squares();
  launch(call.device, {training_program(), "norm_of_sums", {}, {kThreadsAtTheEnd}}, sums, done,
         pointer<float>(call.output()));
}

void run_accumulate(Call& call) {
  constexpr std::int64_t kThreads = 256;
  const std::int64_t count = call.input(0).count();
  float* const sum = pointer<float>(call.input(0));
  const float* const x = floats(call, 1);
  const std::int64_t* const first = integers(call, 2);
  call.set_output(0, call.input(0));
  if (count == 0) return;
  const bool aligned = on_fours({sum, x});
  launch(call.device,
         {training_program(),
          aligned ? "accumulate" : "accumulate_unaligned",
          {ceil_divide(count, aligned ? 4 * kThreads : kThreads)},
          {kThreads}},
         sum, x, first, count);
}

// The same struct as in training.cu.
struct AdamWOptions {
  double beta1, beta2, eps, weight_decay, max_grad_norm;
};

void run_adamw(Call& call) {
  constexpr std::int64_t kThreads = 256, kBlocksOfMultiprocessor = 3;
  const auto attribute = [&](const char* name) { return call.attributes.get<double>(name); };
  const AdamWOptions options{attribute("beta1"), attribute("beta2"), attribute("eps"),
                             attribute("weight_decay"), attribute("max_grad_norm")};
  const std::int64_t count = call.input(0).count();
  float *const parameter = pointer<float>(call.input(0)), *const m = pointer<float>(call.input(2)),
               *const v = pointer<float>(call.input(3));
  const float* const gradient = floats(call, 1);
  for (const auto& [output, input] : {std::pair{0, 0}, {1, 2}, {2, 3}})
    call.set_output(static_cast<std::size_t>(output), call.input(static_cast<std::size_t>(input)));
  if (count == 0) return;
  const bool aligned = on_fours({parameter, gradient, m, v});
  // Each block computes the step's factors, so there are no more blocks than run at once.
  const std::int64_t blocks =
      std::min(ceil_divide(count, aligned ? 4 * kThreads : kThreads),
               kBlocksOfMultiprocessor * device_of(call.device).info().multiprocessors);
  launch(call.device,
         {training_program(), aligned ? "adamw" : "adamw_unaligned", {blocks}, {kThreads}}, options,
         parameter, gradient, m, v, floats(call, 4), floats(call, 5), integers(call, 6), count);
}

}  // namespace

KernelTable training_kernels() {
  return {
      {"accumulate", "cuda", "vector", any_training_call, run_accumulate},
      {"adamw", "cuda", "fused", any_training_call, run_adamw},
      {.op = "dropout",
       .device = "cuda",
       .name = "vector",
       .accepts = drops_values,
       .run = run_dropout,
       .values = KernelValues::f32_and_halves},
      {"dropped_linear", "cuda", "blocks", drops_floats, run_dropped_linear},
      {"dropped_linear_gradient", "cuda", "blocks", drops_floats, run_dropped_linear_gradient,
       Layout::dense, nullptr, dropped_linear_gradient_bytes},
      {"global_norm", "cuda", "vector", any_training_call, run_global_norm, Layout::dense, nullptr,
       global_norm_bytes},
      {"sum_to", "cuda", "columns", sums_floats, run_sum_to, Layout::dense, nullptr, sum_to_bytes,
       std::nullopt, KernelValues::f32_and_halves},
  };
}

}  // namespace hone::cuda
