#include <algorithm>
#include <cmath>
#include <functional>

#include "hone/base/random.h"
#include "hone/kernels/activation.h"
#include "hone/kernels/adamw.h"
#include "hone/kernels/attention.h"
#include "hone/kernels/attention_gradient.h"
#include "hone/kernels/binary_cross_entropy.h"
#include "hone/kernels/cross_entropy.h"
#include "hone/kernels/dropout.h"
#include "hone/kernels/dropped_product.h"
#include "hone/kernels/elementwise.h"
#include "hone/kernels/embedding.h"
#include "hone/kernels/gemm.h"
#include "hone/kernels/layer_norm.h"
#include "hone/kernels/mask.h"
#include "hone/kernels/mean_squared_error.h"
#include "hone/kernels/softmax.h"
#include "hone/kernels/sparse_float_product.h"
#include "hone/kernels/sum.h"
#include "hone/kernels/target.h"
#include "hone/runtime/activation_name.h"
#include "hone/runtime/attention_call.h"
#include "hone/runtime/bf16_kernels.h"
#include "hone/runtime/image_kernels.h"
#include "hone/runtime/kernel.h"
#include "hone/runtime/operand_strides.h"
#include "hone/runtime/packed_kernels.h"
#include "hone/tensor/mapped.h"

// The CPU kernels of hone/kernels as rows of the kernel table: each takes the tensors of a call apart into pointers and
// sizes. A kernel here refuses what it does not take, and hands on what the reference is to report.
namespace hone {
namespace {

const float* floats(const Call& call, std::size_t index) { return call.input(index).data<float>(); }

// Null when the input was left out.
const float* optional_floats(const Call& call, std::size_t index) {
  return call.has_input(index) ? floats(call, index) : nullptr;
}
std::int64_t count(const Call& call) { return call.input(0).count(); }
std::int64_t row_length(const Tensor& tensor) { return tensor.size(-1); }

std::string_view anything(const CallSite&) { return ""; }

std::string_view at_most_six_dimensions(const CallSite& site) {
  return site.outputs[0].rank() <= 6 && site.inputs[0].rank() <= 6 ? "" : "more than 6 dimensions";
}

// ---- element-wise

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
  const Sizes a = stretched(call.input(0), sizes), b = stretched(call.input(1), sizes);
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

// The shape in whose places elements draw: see hone/ops/dropout_factors.h.
Sizes dropout_limits(const Call& call) {
  const Shape& limits = call.attributes.get<Shape>("limits");
  return limits.empty() ? call.input(0).sizes() : resolve(limits, call.bindings);
}

// Rows of x that say themselves where they would stand.
void dropout_of_places(Call& call, const RandomStream& stream) {
  const double probability = call.attributes.get<double>("p");
  const std::int64_t columns = row_length(call.input(0));
  const std::int64_t* const places = call.input(2).data<std::int64_t>();
  const float* const x = floats(call, 0);
  float* const y = call.output().data<float>();
  constexpr std::int64_t kRows = 64;
  parallel_ranges(call.pool(), row_count(call.input(0).sizes()), kRows,
                  [&](std::int64_t begin, std::int64_t end) {
                    std::int64_t words[kRows];
                    for (std::int64_t i = begin; i < end; ++i)
                      words[i - begin] = places[i] * columns;
                    kernels::dropout_rows(probability, stream,
                                          {words, static_cast<std::size_t>(end - begin)}, columns,
                                          x + begin * columns, y + begin * columns);
                  });
}

void dropout(Call& call) {
  // What is larger than its limits is the reference's to report.
  if (!std::ranges::equal(call.input(0).sizes(), dropout_limits(call), std::less_equal<>()))
    return call.op.reference(call);
  const RandomStream stream{
      static_cast<std::uint64_t>(*call.input(1).data<std::int64_t>()),
      static_cast<std::uint64_t>(call.attributes.get<std::int64_t>("stream"))};
  if (call.has_input(2)) return dropout_of_places(call, stream);
  const Sizes sizes = call.input(0).sizes(), words = contiguous_strides(dropout_limits(call));
  const float* x = floats(call, 0);
  kernels::dropout(call.pool(), call.attributes.get<double>("p"), stream, sizes, words, x,
                   call.output().data<float>());
}

// The words that rows of x begin with.
std::vector<std::int64_t> first_words(const Call& call, std::size_t places_at) {
  if (call.has_input(places_at)) {
    const std::span<const std::int64_t> places = call.input(places_at).values<std::int64_t>();
    std::vector<std::int64_t> words;
    for (const std::int64_t place : places) words.push_back(place * row_length(call.input(0)));
    return words;
  }
  Sizes sizes = call.input(0).sizes(), strides = contiguous_strides(dropout_limits(call));
  sizes.pop_back();
  strides.pop_back();
  std::vector<std::int64_t> words;
  for_each_element<1>(sizes, {&strides}, [&](const auto& at) { words.push_back(at[0]); });
  return words;
}

kernels::DroppedRows dropped_rows(const Call& call, std::span<const std::int64_t> words) {
  const RandomStream stream{
      static_cast<std::uint64_t>(*call.input(1).data<std::int64_t>()),
      static_cast<std::uint64_t>(call.attributes.get<std::int64_t>("stream"))};
  return {call.attributes.get<double>("p"), stream, words, row_length(call.input(0))};
}

bool is_within_limits(const Call& call) {
  return std::ranges::equal(call.input(0).sizes(), dropout_limits(call), std::less_equal<>());
}

void dropped_linear(Call& call) {
  if (!is_within_limits(call)) return call.op.reference(call);
  const std::vector<std::int64_t> words = first_words(call, 3);
  kernels::dropped_product(call.pool(), dropped_rows(call, words), call.input(2).size(0),
                           floats(call, 0), floats(call, 2), call.output().data<float>());
}

std::int64_t dropped_linear_gradient_workspace(const CallSite& site, const Bindings& bindings) {
  const Sizes x = resolve(site.inputs[0].shape, bindings);
  const std::int64_t rows = row_count(x);
  return static_cast<std::int64_t>(sizeof(float)) *
         kernels::dropped_product_workspace_floats(rows, x.back(),
                                                   resolve(site.inputs[2].dim(0), bindings));
}

void dropped_linear_gradient(Call& call) {
  if (!is_within_limits(call)) return call.op.reference(call);
  const std::vector<std::int64_t> words = first_words(call, 4);
  kernels::dropped_product_gradient(call.pool(), dropped_rows(call, words), call.input(2).size(0),
                                    floats(call, 0), floats(call, 2), floats(call, 3),
                                    call.output().data<float>(), call.output(1).data<float>(),
                                    static_cast<float*>(call.workspace));
}

void quantize(Call& call) {
  const Format& format = call.attributes.get<Format>("format");
  std::vector<Tensor> state;
  for (std::size_t i = 1; i < call.inputs.size(); ++i) state.push_back(call.input(i));
  // A second Tensor of x would keep its memory from being taken for the result.
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

// ---- rows

void softmax(Call& call) {
  const Tensor& x = call.input(0);
  const std::int64_t rows = row_count(x.sizes()), length = row_length(x);
  const float* in = floats(call, 0);
  kernels::softmax(call.pool(), rows, length, in, call.output().data<float>());
}

void softmax_gradient(Call& call) {
  const std::int64_t rows = row_count(call.input(0).sizes()), length = row_length(call.input(0));
  const float *y = floats(call, 0), *dy = floats(call, 1);
  kernels::softmax_gradient(call.pool(), rows, length, y, dy, call.output().data<float>());
}

float epsilon(const Call& call) { return static_cast<float>(call.attributes.get<double>("eps")); }

void layer_norm(Call& call) {
  const std::int64_t rows = row_count(call.input(0).sizes()), length = row_length(call.input(0));
  const float *x = floats(call, 0), *gamma = floats(call, 1), *beta = floats(call, 2);
  kernels::layer_norm(call.pool(), rows, length, x, gamma, beta, epsilon(call),
                      call.output().data<float>());
}

void layer_norm_gradient(Call& call) {
  const std::int64_t rows = row_count(call.input(0).sizes()), length = row_length(call.input(0));
  const float *x = floats(call, 0), *gamma = floats(call, 1), *dy = floats(call, 2);
  kernels::layer_norm_gradient(call.pool(), rows, length, x, gamma, epsilon(call), dy,
                               call.output().data<float>(), call.output(1).data<float>(),
                               call.output(2).data<float>());
}

// Labels outside the classes are the reference's to report.
bool valid_labels(const Call& call) {
  const std::int64_t classes = call.input(0).size(1);
  return std::ranges::all_of(call.input(1).values<std::int64_t>(), [&](std::int64_t label) {
    return label == kernels::kIgnoredLabel || (label >= 0 && label < classes);
  });
}

void cross_entropy(Call& call) {
  if (!valid_labels(call)) return call.op.reference(call);
  const Tensor& logits = call.input(0);
  *call.output().data<float>() =
      kernels::cross_entropy(call.pool(), logits.size(0), logits.size(1), logits.data<float>(),
                             call.input(1).data<std::int64_t>(), optional_floats(call, 2));
}

void cross_entropy_gradient(Call& call) {
  if (!valid_labels(call)) return call.op.reference(call);
  const Tensor& logits = call.input(0);
  kernels::cross_entropy_gradient(call.pool(), logits.size(0), logits.size(1), logits.data<float>(),
                                  call.input(1).data<std::int64_t>(), *floats(call, 2),
                                  call.output().data<float>(), optional_floats(call, 3));
}

// Targets that are no finite numbers are the reference's to report.
bool finite_targets(const Call& call) {
  return std::ranges::all_of(call.input(1).values<float>(),
                             [](float target) { return std::isfinite(target); });
}

void mean_squared_error(Call& call) {
  if (!finite_targets(call)) return call.op.reference(call);
  *call.output().data<float>() =
      kernels::mean_squared_error(call.pool(), count(call), floats(call, 0), floats(call, 1));
}

void mean_squared_error_gradient(Call& call) {
  if (!finite_targets(call)) return call.op.reference(call);
  kernels::mean_squared_error_gradient(call.pool(), count(call), floats(call, 0), floats(call, 1),
                                       *floats(call, 2), call.output().data<float>());
}

// Targets that are no probabilities are the reference's to report.
bool targets_within_0_and_1(const Call& call) {
  return std::ranges::all_of(call.input(1).values<float>(),
                             [](float target) { return target >= 0 && target <= 1; });
}

void binary_cross_entropy(Call& call) {
  if (!targets_within_0_and_1(call)) return call.op.reference(call);
  *call.output().data<float>() =
      kernels::binary_cross_entropy(call.pool(), count(call), floats(call, 0), floats(call, 1));
}

void binary_cross_entropy_gradient(Call& call) {
  if (!targets_within_0_and_1(call)) return call.op.reference(call);
  kernels::binary_cross_entropy_gradient(call.pool(), count(call), floats(call, 0), floats(call, 1),
                                         *floats(call, 2), call.output().data<float>());
}

// ---- embeddings

// Ids outside the table are the reference's to report.
bool valid_ids(const Call& call, std::int64_t rows) {
  return std::ranges::all_of(call.input(0).values<std::int64_t>(),
                             [rows](std::int64_t id) { return id >= 0 && id < rows; });
}

void embedding(Call& call) {
  if (!valid_ids(call, call.input(1).size(0))) return call.op.reference(call);
  kernels::gather_rows(call.pool(), row_length(call.input(1)), floats(call, 1), count(call),
                       call.input(0).data<std::int64_t>(), call.output().data<float>());
}

void embedding_gradient(Call& call) {
  if (!valid_ids(call, call.attributes.get<std::int64_t>("rows"))) return call.op.reference(call);
  Tensor& table = call.output();
  kernels::gather_rows_gradient(call.pool(), table.size(0), table.size(1), count(call),
                                call.input(0).data<std::int64_t>(), floats(call, 1),
                                table.data<float>());
  const std::int64_t padding = call.attributes.get<std::int64_t>("padding");
  if (padding >= 0 && padding < table.size(0))
    std::ranges::fill(table.slice(0, padding, padding + 1).values<float>(), 0.0f);
}

void embedding_gradient_by_row(Call& call) {
  const std::int64_t rows = call.attributes.get<std::int64_t>("rows");
  if (!valid_ids(call, rows)) return call.op.reference(call);
  kernels::gather_rows_gradient_by_row(
      call.pool(), rows, row_length(call.input(1)), count(call), call.input(0).data<std::int64_t>(),
      call.attributes.get<std::int64_t>("padding"), floats(call, 1),
      call.output(0).data<std::int64_t>(), call.output(1).data<float>());
}

// ---- products

// How products read a weight that they keep a copy of: without its zeros where these are many, else dense.
struct LinearCopy {
  std::optional<kernels::SparseFloatMatrix> sparse = {};
  std::size_t bytes = 0;
};

// A dense copy is made only of a file's weight: its plain pages go back to the system, so memory holds one of the two, where a
// weight in other memory would be held twice. What is left of a sparse one takes little.
std::optional<LinearCopy> linear_copy(const Tensor& weight, ThreadPool& pool) {
  const std::int64_t outputs = weight.size(0), inputs = weight.size(1);
  const float* const values = weight.data<float>();
  const auto sparse = kernels::faster_sparse_matrix(pool, outputs, inputs, values);
  if (sparse)
    return LinearCopy{
        sparse, kernels::sparse_bytes(*sparse, kernels::sparse_entries(pool, *sparse, values))};
  if (!weight.storage()->mapped) return std::nullopt;
  return LinearCopy{std::nullopt, kernels::gemm_packed_floats(outputs, inputs) * sizeof(float)};
}

PreparedMemory prepared_linear_memory(const CallSite& /*site*/,
                                      std::span<const Tensor* const> inputs, ThreadPool& pool) {
  const std::optional<LinearCopy> copy = linear_copy(*inputs[1], pool);
  if (!copy) return {};
  return {.bytes = static_cast<std::int64_t>(copy->bytes), .releases_pages = true};
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
  release_pages(weight);
  return std::make_shared<PreparedLinear>(std::move(prepared));
}

float* workspace(const Call& call) { return static_cast<float*>(call.workspace); }

std::int64_t bytes_of(std::size_t float_count) {
  return static_cast<std::int64_t>(float_count * sizeof(float));
}

// Sizes of the operands of a call, known before it is made.
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
  if (const auto* prepared = static_cast<const PreparedLinear*>(call.prepared)) {
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

// Of few inputs, as those of low-rank adapters, a product gives the transpose: rows of dy are read as they lie.
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

// Whether rows of the first operand are multiplied by one matrix is known when they have come, so it is as much as either
// way takes.
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

// ---- attention

kernels::ConstHeads heads_of(const Call& call, std::size_t index) {
  return heads_of_operand(call, index, floats(call, index));
}
kernels::Heads heads_of_output(Call& call, std::size_t index) {
  return heads_of_result(call, index, call.output(index).data<float>());
}

void attention(Call& call) {
  const AttentionCall c(call, 3);
  if (!c.is_right) return call.op.reference(call);
  clear_rest(call);
  kernels::attention(call.pool(), c.shape, c.scale, heads_of(call, 0), heads_of(call, 1),
                     heads_of(call, 2), c.mask, heads_of_output(call, 0), c.dropout, c.runs);
}

void attention_gradient(Call& call) {
  const AttentionCall c(call, 4);
  if (!c.is_right) return call.op.reference(call);
  clear_rest(call);
  kernels::attention_gradient(call.pool(), c.shape, c.scale, heads_of(call, 0), heads_of(call, 1),
                              heads_of(call, 2), c.mask, heads_of(call, 3),
                              heads_of_output(call, 0), heads_of_output(call, 1),
                              heads_of_output(call, 2), c.dropout, c.runs);
}

// ---- the rest

void reshape(Call& call) { call.set_output(0, call.input(0).reshape(call.output_sizes())); }

void sum_to(Call& call) {
  const Tensor& x = call.input(0);
  Sizes shape(x.sizes().size(), 1);
  const Sizes target = call.output_sizes();
  std::copy(target.begin(), target.end(), shape.end() - static_cast<std::ptrdiff_t>(target.size()));
  kernels::sum_to(call.pool(), x.sizes(), x.data<float>(), shape, call.output().data<float>());
}

void global_norm(Call& call) {
  double sum = 0;
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    sum += kernels::sum_of_squares(call.pool(), call.input(i).count(), floats(call, i));
  *call.output().data<float>() = static_cast<float>(std::sqrt(sum));
}

void accumulate(Call& call) {
  float* const sum = call.input(0).data<float>();
  const std::int64_t n = count(call), contiguous[] = {1}, shape[] = {n};
  const kernels::Strided x{floats(call, 1), contiguous};
  if (*call.input(2).data<std::int64_t>() != 0) {
    kernels::copy(call.pool(), shape, x, sum);
  } else {
    kernels::add(call.pool(), shape, {sum, contiguous}, x, sum);
  }
  call.set_output(0, call.input(0));
}

/// What a step of AdamW is given behind its tensors: norm, learning rate and number of the step.
struct AdamWStep {
  kernels::AdamW options;
  std::int64_t step;
  double clip;
};

AdamWStep adamw_step_of(const Call& call, std::size_t norm_index) {
  const auto attribute = [&](const char* name) { return call.attributes.get<double>(name); };
  const double norm = static_cast<double>(*floats(call, norm_index)),
               limit = attribute("max_grad_norm");
  return {{static_cast<double>(*floats(call, norm_index + 1)), attribute("beta1"),
           attribute("beta2"), attribute("eps"), attribute("weight_decay")},
          *call.input(norm_index + 2).data<std::int64_t>(),
          limit > 0 ? std::min(1.0, limit / (norm + 1e-6)) : 1.0};
}

void adamw(Call& call) {
  const AdamWStep step = adamw_step_of(call, 4);
  kernels::adamw_step(call.pool(), step.options, step.step, step.clip, count(call), floats(call, 1),
                      call.input(0).data<float>(), call.input(2).data<float>(),
                      call.input(3).data<float>());
  call.set_output(0, call.input(0));
  call.set_output(1, call.input(2));
  call.set_output(2, call.input(3));
}

void adamw_by_row(Call& call) {
  const Tensor& table = call.input(0);
  const std::span<const std::int64_t> named = call.input(1).values<std::int64_t>();
  if (!std::ranges::all_of(named,
                           [&](std::int64_t row) { return row >= -1 && row < table.size(0); }))
    return call.op.reference(call);
  const AdamWStep step = adamw_step_of(call, 5);
  kernels::adamw_step_by_row(call.pool(), step.options, step.step, step.clip, table.size(0),
                             table.size(1), std::ssize(named), named.data(), floats(call, 2),
                             table.data<float>(), call.input(3).data<float>(),
                             call.input(4).data<float>());
  call.set_output(0, table);
  call.set_output(1, call.input(3));
  call.set_output(2, call.input(4));
}

}  // namespace

KernelTable cpu_kernels() {
  kernels::choose_vector_target();
  KernelTable table = {
      {"accumulate", "cpu", "vector", anything, accumulate},
      {"adamw", "cpu", "fused", anything, adamw},
      {"adamw_by_row", "cpu", "fused", anything, adamw_by_row},
      {"add", "cpu", "vector", at_most_six_dimensions, binary<kernels::add>, Layout::strided},
      {"attention", "cpu", "fused", anything, attention, Layout::rows},
      {"attention_gradient", "cpu", "fused", anything, attention_gradient, Layout::rows},
      {"binary_cross_entropy", "cpu", "vector", anything, binary_cross_entropy},
      {"binary_cross_entropy_gradient", "cpu", "vector", anything, binary_cross_entropy_gradient},
      {"cross_entropy", "cpu", "vector", anything, cross_entropy},
      {"cross_entropy_gradient", "cpu", "vector", anything, cross_entropy_gradient},
      {"dropout", "cpu", "vector", at_most_six_dimensions, dropout},
      {"dropped_linear", "cpu", "blocks", anything, dropped_linear},
      {"dropped_linear_gradient", "cpu", "blocks", anything, dropped_linear_gradient, Layout::dense,
       nullptr, dropped_linear_gradient_workspace},
      {"embedding", "cpu", "rows", anything, embedding},
      {"embedding_gradient", "cpu", "rows", anything, embedding_gradient},
      {"embedding_gradient_by_row", "cpu", "rows", anything, embedding_gradient_by_row},
      {"full", "cpu", "vector", float_result, full},
      linear_kernel("fused_linear", fused_linear),
      {"gelu", "cpu", "vector", anything, gelu},
      {"gelu_gradient", "cpu", "vector", anything, gelu_gradient},
      {"global_norm", "cpu", "vector", anything, global_norm},
      {"layer_norm", "cpu", "rows", anything, layer_norm},
      {"layer_norm_gradient", "cpu", "rows", anything, layer_norm_gradient},
      linear_kernel("linear", linear),
      {"linear_weight_gradient", "cpu", "gemm", anything, linear_weight_gradient, Layout::dense,
       nullptr, linear_weight_gradient_workspace},
      {"mask", "cpu", "vector", anything, mask},
      {"matmul", "cpu", "gemm", two_batch_dimensions, matmul, Layout::matrices, nullptr,
       matmul_workspace},
      {"mean_squared_error", "cpu", "vector", anything, mean_squared_error},
      {"mean_squared_error_gradient", "cpu", "vector", anything, mean_squared_error_gradient},
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
      {"softmax", "cpu", "rows", anything, softmax},
      {"softmax_gradient", "cpu", "rows", anything, softmax_gradient},
      {"sum_to", "cpu", "columns", at_most_six_dimensions, sum_to},
      {"tanh", "cpu", "vector", anything, unary<kernels::tanh>},
      {"tanh_gradient", "cpu", "vector", anything, unary_gradient<kernels::tanh_gradient>},
      {"threshold", "cpu", "vector", anything, threshold},
      {"threshold_gradient", "cpu", "vector", anything, threshold_gradient},
  };
  for (const KernelTable& more :
       {image_kernels(), native_kernels(), packed_table_kernels(), packed_linear_kernels()})
    table.insert(table.end(), more.begin(), more.end());
  // In front, for those that take f32 alone would take all by widening it.
  const KernelTable halves = bf16_kernels();
  table.insert(table.begin(), halves.begin(), halves.end());
  return table;
}

}  // namespace hone
