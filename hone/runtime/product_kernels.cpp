#include <algorithm>

#include "hone/kernels/elementwise.h"
#include "hone/kernels/gemm.h"
#include "hone/kernels/sparse_float_product.h"
#include "hone/runtime/activation_name.h"
#include "hone/runtime/cpu_kernels.h"
#include "hone/runtime/operand_strides.h"
#include "hone/tensor/mapped.h"

// Products of matrices of floats.
namespace hone {
namespace {

// The copy of a weight that products read: sparse if many weights are zero, else dense. Products of too few rows for
// the sparse kernel read the weight itself.
struct LinearCopy {
  std::optional<kernels::SparseFloatMatrix> sparse = {};
  std::size_t bytes = 0;
  std::int64_t min_rows = 1;  // of sparse products

  bool replaces_weight() const { return min_rows == 1; }
};

// Returns the kind of copy to make. A dense copy is made only of a file-backed weight, whose own pages can be
// released; other weights would be in memory twice. A sparse copy is small, and products of few rows may still read
// the weight itself.
std::optional<LinearCopy> linear_copy(const Tensor& weight, ThreadPool& pool) {
  const std::int64_t outputs = weight.size(0), inputs = weight.size(1);
  const float* const values = weight.data<float>();
  if (const auto sparse = kernels::faster_sparse_matrix(pool, outputs, inputs, values))
    return LinearCopy{sparse->matrix, kernels::sparse_bytes(sparse->matrix, sparse->entries),
                      kernels::fewest_sparse_float_rows(*sparse).value()};
  if (!weight.storage()->mapped) return std::nullopt;
  return LinearCopy{std::nullopt, kernels::gemm_packed_floats(outputs, inputs) * sizeof(float)};
}

PreparedMemory prepared_linear_memory(const CallSite& /*site*/,
                                      std::span<const Tensor* const> inputs, ThreadPool& pool) {
  const std::optional<LinearCopy> copy = linear_copy(*inputs[1], pool);
  if (!copy) return {.zeros = WeightZeros()};
  const auto copied = static_cast<std::int64_t>(copy->bytes);
  PreparedMemory memory{
      .bytes = copied, .releases_pages = copy->replaces_weight(), .zeros = WeightZeros()};
  if (copy->sparse)
    memory.zeros = {.pattern = copy->sparse->together == 1 ? "weights" : "4x1",
                    .min_rows = copy->min_rows,
                    .dense_bytes = static_cast<std::int64_t>(inputs[1]->size_bytes()),
                    .bytes = copied};
  return memory;
}

struct PreparedLinear {
  LinearCopy copy;
  StoragePointer packed;
};

std::shared_ptr<const void> prepare_linear(const Call& call) {
  const Tensor& weight = call.input(1);
  const std::optional<LinearCopy> copy = linear_copy(weight, call.pool());
  if (!copy) return nullptr;
  PreparedLinear prepared{*copy, cpu().allocate(copy->bytes)};
  const std::int64_t outputs = weight.size(0), inputs = weight.size(1);
  const float* const values = weight.data<float>();
  if (copy->sparse)
    kernels::sparse_arrange(call.pool(), *copy->sparse, values,
                            reinterpret_cast<std::uint8_t*>(prepared.packed->pointer));
  else
    kernels::gemm_pack(call.pool(), outputs, inputs, {values, 1, inputs},
                       reinterpret_cast<float*>(prepared.packed->pointer));
  if (copy->replaces_weight()) release_pages(weight);
  return std::make_shared<PreparedLinear>(std::move(prepared));
}

float* workspace(const Call& call) { return static_cast<float*>(call.workspace); }

std::int64_t bytes_of(std::size_t float_count) {
  return static_cast<std::int64_t>(float_count * sizeof(float));
}

// Returns the sizes of an operand of a call, before it is made.
Sizes sizes_of(const CallSite& site, std::size_t input, const Bindings& bindings) {
  return resolve(site.inputs[input].shape, bindings);
}

std::int64_t linear_workspace(const CallSite& site, const Bindings& bindings) {
  const Sizes weight = sizes_of(site, 1, bindings);
  return bytes_of(kernels::gemm_workspace_floats(
      {row_count(sizes_of(site, 0, bindings)), weight[0], weight[1]}));
}

void run_linear(Call& call, const kernels::Epilogue& epilogue) {
  const Tensor& weight = call.input(1);
  const std::int64_t outputs = weight.size(0), inputs = weight.size(1);
  const kernels::GemmShape shape{row_count(call.input(0).sizes()), outputs, inputs};
  const kernels::ConstMatrix x{floats(call, 0), inputs, 1};
  float* y = call.output().data<float>();
  const auto* const prepared = static_cast<const PreparedLinear*>(call.prepared);
  if (prepared != nullptr && (!prepared->copy.sparse || shape.m >= prepared->copy.min_rows)) {
    const auto packed = prepared->packed->pointer;
    if (prepared->copy.sparse)
      return kernels::sparse_product(
          call.pool(), {x.data, shape.m, inputs},
          {*prepared->copy.sparse, reinterpret_cast<const std::uint8_t*>(packed)}, epilogue, y,
          outputs);
    kernels::gemm_packed(call.pool(), shape, x, reinterpret_cast<const float*>(packed), y, outputs,
                         epilogue);
  } else {
    kernels::gemm(call.pool(), shape, x, {floats(call, 1), 1, inputs}, y, outputs, epilogue,
                  workspace(call));
  }
}

void linear(Call& call) { run_linear(call, {.bias = optional_floats(call, 2)}); }

void fused_linear(Call& call) {
  run_linear(call, {.bias = floats(call, 2),
                    .activation = activation_called(call.attributes.get<std::string>("activation")),
                    .residual = optional_floats(call, 3),
                    .residual_stride = call.input(1).size(0)});
}

Kernel linear_kernel(std::string_view op, void (*run)(Call&)) {
  return {.op = op,
          .device = "cpu",
          .name = "gemm",
          .accepts = anything,
          .run = run,
          .prepare = prepare_linear,
          .workspace_bytes = linear_workspace,
          .prepared_memory = prepared_linear_memory};
}

// With few inputs, as in low-rank adapters, the product computes the transpose, which reads rows of dy in storage
// order.
bool is_narrow(std::int64_t inputs, std::int64_t outputs) {
  constexpr std::int64_t kFewInputs = 32;
  return inputs <= kFewInputs && inputs < outputs;
}

std::int64_t linear_weight_gradient_workspace(const CallSite& site, const Bindings& bindings) {
  const Sizes x = sizes_of(site, 0, bindings), dy = sizes_of(site, 1, bindings);
  const std::int64_t inputs = x.back(), outputs = dy.back(), rows = row_count(x);
  if (!is_narrow(inputs, outputs))
    return bytes_of(kernels::gemm_workspace_floats({outputs, inputs, rows}, true));
  return bytes_of(kernels::gemm_workspace_floats({inputs, outputs, rows}, true) +
                  static_cast<std::size_t>(inputs * outputs));
}

// dweight (N, K) = (x (T, K)^T dy (T, N))^T
void narrow_weight_gradient(Call& call) {
  const Tensor &x = call.input(0), &dy = call.input(1);
  const std::int64_t inputs = row_length(x), outputs = row_length(dy);
  const kernels::GemmShape shape{inputs, outputs, row_count(x.sizes())};
  float* const packed = workspace(call);
  float* const transposed = packed + kernels::gemm_workspace_floats(shape, true);
  kernels::gemm(call.pool(), shape, {floats(call, 0), 1, inputs}, {floats(call, 1), outputs, 1},
                transposed, outputs, {}, packed);
  kernels::copy(call.pool(), Sizes{outputs, inputs}, {transposed, Sizes{1, outputs}},
                call.output().data<float>());
}

// dweight (N, K) = dy (T, N)^T x (T, K)
void linear_weight_gradient(Call& call) {
  const Tensor &x = call.input(0), &dy = call.input(1);
  const std::int64_t inputs = row_length(x), outputs = row_length(dy);
  if (is_narrow(inputs, outputs) && call.workspace != nullptr) return narrow_weight_gradient(call);
  kernels::gemm(call.pool(), {outputs, inputs, row_count(x.sizes())}, {floats(call, 1), 1, outputs},
                {floats(call, 0), inputs, 1}, call.output().data<float>(), inputs, {},
                workspace(call));
}

kernels::ConstMatrix matrix(const Tensor& tensor) {
  const std::size_t last = tensor.strides().size() - 1;
  return {tensor.data<float>(), tensor.strides()[last - 1], tensor.strides()[last]};
}

// Only the call shows whether all rows of the first operand are multiplied by one matrix, so this is the maximum of
// both cases.
std::int64_t matmul_workspace(const CallSite& site, const Bindings& bindings) {
  const Sizes a = sizes_of(site, 0, bindings), y = resolve(site.outputs[0].shape, bindings);
  const std::size_t batched =
      kernels::gemm_batched_workspace_floats({a[a.size() - 2], y.back(), a.back()});
  if (site.inputs[1].rank() > 2) return bytes_of(batched);
  return bytes_of(
      std::max(batched, kernels::gemm_workspace_floats({row_count(a), y.back(), a.back()})));
}

void matmul(Call& call) {
  const Tensor &a = call.input(0), &b = call.input(1);
  const Sizes sizes = call.output_sizes();
  const std::int64_t n = sizes.back(), k = a.size(-1);
  float* y = call.output().data<float>();
  if (rows_times_matrix(call))
    return kernels::gemm(call.pool(), {row_count(a.sizes()), n, k}, {a.data<float>(), k, 1},
                         matrix(b), y, n, {}, workspace(call));
  const MatrixBatches batches = matrix_batches(call);
  kernels::gemm_batched(call.pool(), batches.counts, {sizes[sizes.size() - 2], n, k},
                        {matrix(a), batches.a}, {matrix(b), batches.b}, {y, n, batches.y},
                        workspace(call));
}

}  // namespace

KernelTable product_kernels() {
  return {
      linear_kernel("fused_linear", fused_linear),
      linear_kernel("linear", linear),
      {"linear_weight_gradient", "cpu", "gemm", anything, linear_weight_gradient, Layout::dense,
       nullptr, linear_weight_gradient_workspace},
      {"matmul", "cpu", "gemm", two_batch_dimensions, matmul, Layout::matrices, nullptr,
       matmul_workspace},
  };
}

}  // namespace hone
