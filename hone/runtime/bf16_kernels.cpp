#include "hone/runtime/bf16_kernels.h"

#include <algorithm>
#include <array>

#include "hone/kernels/activation.h"
#include "hone/kernels/attention_bf16.h"
#include "hone/kernels/attention_gradient_bf16.h"
#include "hone/kernels/dropout.h"
#include "hone/kernels/elementwise.h"
#include "hone/kernels/gemm_bf16.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/half_conversion.h"
#include "hone/kernels/layer_norm.h"
#include "hone/kernels/scratch.h"
#include "hone/kernels/softmax.h"
#include "hone/kernels/sum.h"
#include "hone/runtime/activation_name.h"
#include "hone/runtime/attention_call.h"
#include "hone/runtime/operand_strides.h"
#include "hone/runtime/run_reference.h"

namespace hone {
// The f32 kernels have the same names.
namespace bf16 {
namespace {

using kernels::Bf16Matrix;

const std::uint16_t* bits_of(const Tensor& tensor) {
  return reinterpret_cast<const std::uint16_t*>(tensor.data<BFloat16>());
}
std::uint16_t* result_bits(Call& call) {
  return reinterpret_cast<std::uint16_t*>(call.output().data<BFloat16>());
}
const std::uint16_t* optional_bits(const Call& call, std::size_t index) {
  return call.has_input(index) ? bits_of(call.input(index)) : nullptr;
}

bool is_bf16(const Type& type) { return type.dtype == DType::bf16; }

std::string_view all_bf16(const CallSite& site) {
  return std::ranges::all_of(site.inputs, is_bf16) && is_bf16(site.outputs[0])
             ? ""
             : "values are not bf16";
}

// ---- to and from f32

std::string_view between_f32_and_halves(const CallSite& site) {
  const auto from = site.inputs[0].dtype, to = site.outputs[0].dtype;
  return (from == DType::f32 && is_half(to)) || (is_half(from) && to == DType::f32)
             ? ""
             : "is not from f32 to bf16 or f16, or back";
}

void cast(Call& call) {
  const Tensor& x = call.input(0);
  convert_halves(call.pool(), x, call.output());
}

// ---- products

std::int64_t bytes_of_words(std::size_t words) {
  return static_cast<std::int64_t>(words * sizeof(std::uint32_t));
}
std::uint32_t* workspace(const Call& call) { return static_cast<std::uint32_t*>(call.workspace); }

// Packs the weight for products. The copy is as large as the weight, and no run rearranges it.
std::shared_ptr<const void> packed_weight(const Call& call) {
  const Tensor& weight = call.input(1);
  const std::int64_t outputs = weight.size(0), inputs = weight.size(1);
  StoragePointer packed =
      cpu().allocate(kernels::gemm_bf16_packed_words(outputs, inputs) * sizeof(std::uint32_t));
  kernels::gemm_bf16_pack(call.pool(), outputs, inputs, {bits_of(weight), 1, inputs},
                          reinterpret_cast<std::uint32_t*>(packed->pointer));
  return packed;
}

PreparedMemory packed_weight_memory(const CallSite& site, std::span<const Tensor* const> /*inputs*/,
                                    ThreadPool& /*pool*/) {
  const Sizes weight = resolve(site.inputs[1].shape, {});
  return {.bytes = bytes_of_words(kernels::gemm_bf16_packed_words(weight[0], weight[1]))};
}

std::int64_t linear_workspace(const CallSite& site, const Bindings& bindings) {
  const Sizes weight = resolve(site.inputs[1].shape, bindings);
  return bytes_of_words(kernels::gemm_bf16_workspace_words(
      {row_count(resolve(site.inputs[0].shape, bindings)), weight[0], weight[1]}));
}

void run_linear(Call& call, const kernels::Bf16Epilogue& epilogue) {
  const Tensor& weight = call.input(1);
  const std::int64_t outputs = weight.size(0), inputs = weight.size(1);
  const kernels::GemmShape shape{row_count(call.input(0).sizes()), outputs, inputs};
  const Bf16Matrix x{bits_of(call.input(0)), inputs, 1};
  std::uint16_t* const y = result_bits(call);
  if (const auto* packed = static_cast<const Storage*>(call.prepared))
    kernels::gemm_bf16_packed(call.pool(), shape, x,
                              reinterpret_cast<const std::uint32_t*>(packed->pointer), y, outputs,
                              epilogue, workspace(call));
  else
    kernels::gemm_bf16(call.pool(), shape, x, {bits_of(weight), 1, inputs}, y, outputs, epilogue,
                       workspace(call));
}

void linear(Call& call) { run_linear(call, {.bias = optional_bits(call, 2)}); }

void fused_linear(Call& call) {
  run_linear(call, {.bias = bits_of(call.input(2)),
                    .activation = activation_called(call.attributes.get<std::string>("activation")),
                    .residual = optional_bits(call, 3),
                    .residual_stride = call.input(1).size(0)});
}

// dweight (N, K) = dy (T, N)^T x (T, K)
std::int64_t weight_gradient_workspace(const CallSite& site, const Bindings& bindings) {
  const Sizes x = resolve(site.inputs[0].shape, bindings);
  return bytes_of_words(kernels::gemm_bf16_workspace_words(
      {resolve(site.inputs[1].dim(-1), bindings), x.back(), row_count(x)}));
}

void linear_weight_gradient(Call& call) {
  const Tensor &x = call.input(0), &dy = call.input(1);
  const std::int64_t inputs = x.size(-1), outputs = dy.size(-1);
  kernels::gemm_bf16(call.pool(), {outputs, inputs, row_count(x.sizes())},
                     {bits_of(dy), 1, outputs}, {bits_of(x), inputs, 1}, result_bits(call), inputs,
                     {}, workspace(call));
}

// Returns whether each product of a batch runs on one thread, because its workspace fits into the thread's own cache.
// Otherwise products run one after the other on all threads.
bool are_one_threads(const kernels::GemmShape& each) {
  constexpr std::size_t kMostWords = std::size_t{1} << 18;
  return kernels::gemm_bf16_workspace_words(each) <= kMostWords;
}

std::string_view bf16_in_two_batch_dimensions(const CallSite& site) {
  const std::string_view refusal = all_bf16(site);
  return refusal.empty() ? two_batch_dimensions(site) : refusal;
}

// Only the call shows whether all rows of the first operand are multiplied by one matrix, so this is the maximum of
// both cases.
std::int64_t matmul_workspace(const CallSite& site, const Bindings& bindings) {
  const Sizes a = resolve(site.inputs[0].shape, bindings),
              y = resolve(site.outputs[0].shape, bindings);
  const kernels::GemmShape each{a[a.size() - 2], y.back(), a.back()};
  std::size_t words = are_one_threads(each) ? 0 : kernels::gemm_bf16_workspace_words(each);
  if (site.inputs[1].rank() == 2)
    words = std::max(words, kernels::gemm_bf16_workspace_words({row_count(a), y.back(), a.back()}));
  return bytes_of_words(words);
}

Bf16Matrix matrix(const Tensor& tensor, std::int64_t offset) {
  const std::size_t last = tensor.strides().size() - 1;
  return {bits_of(tensor) + offset, tensor.strides()[last - 1], tensor.strides()[last]};
}

void matmul(Call& call) {
  const Tensor &a = call.input(0), &b = call.input(1);
  const Sizes sizes = call.output_sizes();
  const std::int64_t n = sizes.back(), k = a.size(-1);
  std::uint16_t* const y = result_bits(call);
  if (rows_times_matrix(call))
    return kernels::gemm_bf16(call.pool(), {row_count(a.sizes()), n, k}, {bits_of(a), k, 1},
                              matrix(b, 0), y, n, {}, workspace(call));
  const MatrixBatches batches = matrix_batches(call);
  const kernels::GemmShape each{sizes[sizes.size() - 2], n, k};
  const auto multiply = [&](std::int64_t product, std::uint32_t* room) {
    const std::int64_t i = product / batches.counts[1], j = product % batches.counts[1];
    const auto offset = [&](const std::array<std::int64_t, 2>& strides) {
      return i * strides[0] + j * strides[1];
    };
    kernels::gemm_bf16(call.pool(), each, matrix(a, offset(batches.a)),
                       matrix(b, offset(batches.b)), y + offset(batches.y), n, {}, room);
  };
  const std::int64_t products = batches.counts[0] * batches.counts[1];
  if (!are_one_threads(each)) {
    for (std::int64_t product = 0; product < products; ++product)
      multiply(product, workspace(call));
    return;
  }
  parallel_ranges(call.pool(), products, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t product = begin; product < end; ++product) multiply(product, nullptr);
  });
}

// ---- between products: a few rows at a time, in floats that stay in the L1 and L2 caches

constexpr std::int64_t kPieceElements = 8192;

std::int64_t rows_per_piece(std::int64_t columns) {
  return std::max<std::int64_t>(1, kPieceElements / std::max<std::int64_t>(1, columns));
}

void widen(std::int64_t n, const std::uint16_t* x, float* y) {
  kernels::half_to_float(kernels::Half::bfloat16, n, x, y);
}

// Calls body(first row, rows, floats of the inputs, floats for y) for each piece. Kernels that the body calls run on
// the thread of that piece.
template <std::size_t kInputs, typename Body>
void in_pieces(Call& call, std::int64_t rows, std::int64_t columns, Body&& body) {
  std::array<const std::uint16_t*, kInputs> inputs;
  for (std::size_t i = 0; i < kInputs; ++i) inputs[i] = bits_of(call.input(i));
  std::uint16_t* const y = result_bits(call);
  const std::int64_t together = rows_per_piece(columns);
  parallel_ranges(call.pool(), rows, together, [&](std::int64_t begin, std::int64_t end) {
    static thread_local kernels::Scratch scratch;
    const std::int64_t elements = together * columns, count = (end - begin) * columns;
    float* const floats = scratch.floats(static_cast<std::size_t>(elements * (kInputs + 1)));
    std::array<const float*, kInputs> wide;
    for (std::size_t i = 0; i < kInputs; ++i) {
      float* const input = floats + static_cast<std::int64_t>(i) * elements;
      widen(count, inputs[i] + begin * columns, input);
      wide[i] = input;
    }
    float* const result = floats + static_cast<std::int64_t>(kInputs) * elements;
    body(begin, end - begin, wide, result);
    kernels::float_to_bfloat16(call.pool(), count, result, y + begin * columns);
  });
}

bool by_tanh(const Call& call) { return call.attributes.get<std::string>("approximate") == "tanh"; }

void gelu(Call& call) {
  const auto kernel = by_tanh(call) ? kernels::gelu_tanh : kernels::gelu_erf;
  in_pieces<1>(call, call.input(0).count(), 1,
               [&](std::int64_t, std::int64_t count, const auto& x, float* y) {
                 kernel(call.pool(), count, x[0], y);
               });
}

void gelu_gradient(Call& call) {
  const auto kernel = by_tanh(call) ? kernels::gelu_tanh_gradient : kernels::gelu_erf_gradient;
  in_pieces<2>(call, call.input(0).count(), 1,
               [&](std::int64_t, std::int64_t count, const auto& x, float* dx) {
                 kernel(call.pool(), count, x[0], x[1], dx);
               });
}

std::string_view of_one_shape(const CallSite& site) {
  return site.inputs[0].shape == site.inputs[1].shape ? all_bf16(site) : "one operand is broadcast";
}

void add(Call& call) {
  in_pieces<2>(call, call.input(0).count(), 1,
               [&](std::int64_t, std::int64_t count, const auto& x, float* y) {
                 const std::int64_t shape[] = {count}, strides[] = {1};
                 kernels::add(call.pool(), shape, {x[0], strides}, {x[1], strides}, y);
               });
}

void scale(Call& call) {
  const auto factor = static_cast<float>(call.attributes.get<double>("factor"));
  in_pieces<1>(call, call.input(0).count(), 1,
               [&](std::int64_t, std::int64_t count, const auto& x, float* y) {
                 kernels::scale(call.pool(), count, factor, x[0], y);
               });
}

std::string_view has_row_places(const CallSite& site) {
  if (!is_bf16(site.inputs[0])) return "values are not bf16";
  return site.inputs.size() > 2 ? "" : "rows have no places";
}

void dropout(Call& call) {
  const Sizes limits = resolve(call.attributes.get<Shape>("limits"), call.bindings);
  const Tensor& x = call.input(0);
  // The reference reports tensors larger than their limits.
  if (!limits.empty() && !std::ranges::equal(x.sizes(), limits, std::less_equal<>()))
    return run_reference(call);
  const RandomStream stream{
      static_cast<std::uint64_t>(*call.input(1).data<std::int64_t>()),
      static_cast<std::uint64_t>(call.attributes.get<std::int64_t>("stream"))};
  const double probability = call.attributes.get<double>("p");
  const std::int64_t columns = x.size(-1);
  const std::int64_t* const places = call.input(2).data<std::int64_t>();
  in_pieces<1>(call, row_count(x.sizes()), columns,
               [&](std::int64_t first, std::int64_t rows, const auto& in, float* y) {
                 for (std::int64_t i = 0; i < rows; ++i) {
                   const std::int64_t word = places[first + i] * columns;
                   kernels::dropout_rows(probability, stream, {&word, 1}, columns,
                                         in[0] + i * columns, y + i * columns);
                 }
               });
}

std::string_view values_are_bf16(const CallSite& site) {
  return is_bf16(site.inputs[0]) && is_bf16(site.outputs[0]) ? "" : "values are not bf16";
}

void softmax(Call& call) {
  const std::int64_t columns = call.input(0).size(-1);
  in_pieces<1>(call, row_count(call.input(0).sizes()), columns,
               [&](std::int64_t, std::int64_t rows, const auto& x, float* y) {
                 kernels::softmax(call.pool(), rows, columns, x[0], y);
               });
}

void layer_norm(Call& call) {
  const auto epsilon = static_cast<float>(call.attributes.get<double>("eps"));
  const float *const gamma = call.input(1).data<float>(), *const beta = call.input(2).data<float>();
  const std::int64_t columns = call.input(0).size(-1);
  in_pieces<1>(call, row_count(call.input(0).sizes()), columns,
               [&](std::int64_t, std::int64_t rows, const auto& x, float* y) {
                 kernels::layer_norm(call.pool(), rows, columns, x[0], gamma, beta, epsilon, y);
               });
}

// Gradients of biases: sums over all rows.
std::string_view to_the_last_dimension(const CallSite& site) {
  if (site.outputs[0].rank() != 1 || site.inputs[0].rank() < 2 ||
      !(site.inputs[0].dim(-1) == site.outputs[0].dim(0)))
    return "the sum is not over rows";
  return all_bf16(site);
}

std::int64_t rows_per_sum(std::int64_t rows, std::int64_t columns) {
  return std::max(rows_per_piece(columns),
                  (rows + kernels::kMaxPartials - 1) / kernels::kMaxPartials);
}

std::int64_t column_sums_workspace(const CallSite& site, const Bindings& bindings) {
  return kernels::kMaxPartials * resolve(site.outputs[0].dim(0), bindings) *
         static_cast<std::int64_t>(sizeof(float));
}

void column_sums(Call& call) {
  const Tensor& x = call.input(0);
  const std::int64_t rows = row_count(x.sizes()), columns = x.size(-1);
  const std::uint16_t* const bits = bits_of(x);
  auto* const partials = static_cast<float*>(call.workspace);
  const std::int64_t per_sum = rows_per_sum(rows, columns), sums = (rows + per_sum - 1) / per_sum;
  parallel_ranges(call.pool(), rows, per_sum, [&](std::int64_t begin, std::int64_t end) {
    static thread_local kernels::Scratch scratch;
    float* const sum = partials + begin / per_sum * columns;
    float* const row = scratch.floats(static_cast<std::size_t>(columns));
    const std::int64_t shape[] = {columns}, strides[] = {1};
    widen(columns, bits + begin * columns, sum);
    for (std::int64_t i = begin + 1; i < end; ++i) {
      widen(columns, bits + i * columns, row);
      kernels::add(call.pool(), shape, {sum, strides}, {row, strides}, sum);
    }
  });
  static thread_local kernels::Scratch scratch;
  float* const all = scratch.floats(static_cast<std::size_t>(columns));
  const std::int64_t shape[] = {sums, columns}, summed[] = {1, columns};
  kernels::sum_to(call.pool(), shape, partials, summed, all);
  kernels::float_to_bfloat16(call.pool(), columns, all, result_bits(call));
}

// ---- attention

template <int kOperands>
std::string_view heads_are_bf16(const CallSite& site) {
  return std::ranges::all_of(site.inputs.begin(), site.inputs.begin() + kOperands, is_bf16) &&
                 std::ranges::all_of(site.outputs, is_bf16)
             ? ""
             : "values are not bf16";
}

void attention(Call& call) {
  const AttentionCall c(call, 3);
  if (!c.is_valid) return run_reference(call);
  clear_rest(call);
  const auto heads = [&](std::size_t index) {
    return heads_of_operand(call, index, bits_of(call.input(index)));
  };
  kernels::attention_bf16(call.pool(), c.shape, c.scale, heads(0), heads(1), heads(2), c.mask,
                          heads_of_result(call, 0, result_bits(call)), c.dropout, c.runs);
}

void attention_gradient(Call& call) {
  const AttentionCall c(call, 4);
  if (!c.is_valid) return run_reference(call);
  clear_rest(call);
  const auto heads = [&](std::size_t index) {
    return heads_of_operand(call, index, bits_of(call.input(index)));
  };
  const auto gradient = [&](std::size_t index) {
    return heads_of_result(call, index,
                           reinterpret_cast<std::uint16_t*>(call.output(index).data<BFloat16>()));
  };
  kernels::attention_gradient_bf16(call.pool(), c.shape, c.scale, heads(0), heads(1), heads(2),
                                   c.mask, heads(3), gradient(0), gradient(1), gradient(2),
                                   c.dropout, c.runs);
}

}  // namespace
}  // namespace bf16

KernelTable bf16_kernels() {
  constexpr PeakKind kPairs = PeakKind::bf16_gflops;
  KernelTable table = {
      {"add", "cpu", "bf16", bf16::of_one_shape, bf16::add},
      {"attention", "cpu", "fused_bf16", bf16::heads_are_bf16<3>, bf16::attention, Layout::rows,
       nullptr, nullptr, kPairs},
      {"attention_gradient", "cpu", "fused_bf16", bf16::heads_are_bf16<4>, bf16::attention_gradient,
       Layout::rows, nullptr, nullptr, kPairs},
      {"cast", "cpu", "vector", bf16::between_f32_and_halves, bf16::cast},
      {"fused_linear", "cpu", "gemm_bf16", bf16::all_bf16, bf16::fused_linear, Layout::dense,
       bf16::packed_weight, bf16::linear_workspace, kPairs},
      {"linear", "cpu", "gemm_bf16", bf16::all_bf16, bf16::linear, Layout::dense,
       bf16::packed_weight, bf16::linear_workspace, kPairs},
      {"dropout", "cpu", "bf16", bf16::has_row_places, bf16::dropout},
      {"gelu", "cpu", "bf16", bf16::all_bf16, bf16::gelu},
      {"gelu_gradient", "cpu", "bf16", bf16::all_bf16, bf16::gelu_gradient},
      {"layer_norm", "cpu", "bf16", bf16::values_are_bf16, bf16::layer_norm},
      {"sum_to", "cpu", "bf16", bf16::to_the_last_dimension, bf16::column_sums, Layout::dense,
       nullptr, bf16::column_sums_workspace},
      {"linear_weight_gradient", "cpu", "gemm_bf16", bf16::all_bf16, bf16::linear_weight_gradient,
       Layout::dense, nullptr, bf16::weight_gradient_workspace, kPairs},
      {"matmul", "cpu", "gemm_bf16", bf16::bf16_in_two_batch_dimensions, bf16::matmul,
       Layout::matrices, nullptr, bf16::matmul_workspace, kPairs},
      {"scale", "cpu", "bf16", bf16::all_bf16, bf16::scale},
      {"softmax", "cpu", "bf16", bf16::all_bf16, bf16::softmax},
  };
  for (Kernel& kernel : table) {
    kernel.values = KernelValues::bf16;
    if (kernel.prepare != nullptr) kernel.prepared_memory = bf16::packed_weight_memory;
  }
  return table;
}

}  // namespace hone
