#include "hone/jobs/sparse_linears.h"

#include <algorithm>
#include <memory>

#include "hone/kernels/sparse_float_product.h"
#include "hone/kernels/sparse_int8_product.h"
#include "hone/runtime/native_formats.h"
#include "hone/runtime/sparse_integers.h"
#include "hone/tensor/shape.h"

namespace hone {

PruneBlock default_sparse_block(LinearImplementation implementation) {
  return implementation == LinearImplementation::native ? PruneBlock{1, 4} : PruneBlock{4, 1};
}

bool has_sparse_kernel(LinearImplementation implementation, const Format* format,
                       const Sizes& sizes, const FormatTable& formats) {
  if (implementation == LinearImplementation::fp32 || implementation == LinearImplementation::bf16)
    return true;
  if (implementation != LinearImplementation::native ||
      !packing_objection(*format, sizes).empty() || !native_unsupported_reason(*format).empty() ||
      !is_int_of_rows(native_input(*format, formats)))
    return false;
  const std::optional<CodeUnits> units = units_for_any_state(*format, sizes);
  return units && std::ranges::find(units->units, 0.0f) != units->units.end();
}

Tensor with_zeros(const Tensor& weight, double sparsity, const PruneBlock& block) {
  const Tensor kept = kept_elements({.sparsity = sparsity, .structure = {.block = block}},
                                    {{.name = "weight", .values = weight}})
                          .front();
  Tensor zeroed = Tensor::empty(DType::f32, weight.sizes());
  std::ranges::transform(weight.values<float>(), kept.values<bool>(),
                         zeroed.values<float>().begin(),
                         [](float value, bool is_kept) { return is_kept ? value : 0.0f; });
  return zeroed;
}

namespace {

// ---- floats

template <int kTogether, int kBits>
std::shared_ptr<const void> arrange_floats(const Call& call) {
  const Tensor& weight = call.input(1);
  const kernels::SparseFloatMatrix matrix{weight.size(0), weight.size(1), kTogether, kBits};
  const float* const values = weight.data<float>();
  StoragePointer packed = cpu().allocate(
      kernels::sparse_bytes(matrix, kernels::sparse_entries(call.pool(), matrix, values)));
  kernels::sparse_arrange(call.pool(), matrix, values,
                          reinterpret_cast<std::uint8_t*>(packed->pointer));
  return packed;
}

template <int kTogether, int kBits>
void sparse_linear(Call& call) {
  std::shared_ptr<const void> own;
  if (call.prepared == nullptr) own = arrange_floats<kTogether, kBits>(call);
  const auto* const packed = static_cast<const Storage*>(own ? own.get() : call.prepared);
  const Tensor &x = call.input(0), &weight = call.input(1);
  const std::int64_t outputs = weight.size(0), inputs = weight.size(1);
  kernels::sparse_product(
      call.pool(), {x.data<float>(), row_count(x.sizes()), inputs},
      {{outputs, inputs, kTogether, kBits}, reinterpret_cast<const std::uint8_t*>(packed->pointer)},
      {.bias = call.input(2).data<float>()}, call.output().data<float>(), outputs);
}

std::string_view any_linear(const CallSite& /*site*/) { return ""; }

template <int kTogether, int kBits>
Kernel float_kernel() {
  return {"linear",
          "cpu",
          kTogether == 4 ? "sparse 4x1" : "sparse weights",
          any_linear,
          sparse_linear<kTogether, kBits>,
          Layout::dense,
          arrange_floats<kTogether, kBits>};
}

// ---- codes

/// Sparse integers in the runtime's layout, for any share of zeros, with the scales of rows.
struct ScaledIntegers {
  SparseIntegers integers;
  std::vector<float> scales;
};

ScaledIntegers integers_of(const QuantizerInput& input, const std::uint8_t* codes,
                           const std::uint8_t* shared, ThreadPool& pool) {
  const PackedLayout layout = packed_layout(input.format, input.sizes, Arrangement::panels);
  const CodeUnits units = units_of(input).value();
  ScaledIntegers weight{sparse_integers({layout, units, codes}, pool).value(), {}};
  const PackedRows rows{input, layout, &units, codes, shared};
  for (std::int64_t row = 0; row < layout.matrix.rows; ++row)
    weight.scales.push_back(rows.scale(row, 0) * smallest_unit(units));
  return weight;
}

// Inputs of `native_linear`.
constexpr std::size_t kCodes = 1, kBias = 3, kStates = 4;

std::shared_ptr<const void> arrange_codes(const Call& call) {
  const Format& format = call.attributes.get<Format>("format");
  const Sizes sizes = resolve(call.attributes.get<Shape>("shape"), {});
  std::vector<Tensor> state;
  for (std::size_t i = kStates; i < call.inputs.size(); ++i) state.push_back(call.input(i));
  return std::make_shared<ScaledIntegers>(
      integers_of({format, sizes, {}, state}, call.input(kCodes).data<std::uint8_t>(),
                  call.input(kCodes + 1).data<std::uint8_t>(), call.pool()));
}

void sparse_native_linear(Call& call) {
  std::shared_ptr<const void> own;
  if (call.prepared == nullptr) own = arrange_codes(call);
  const auto& [integers, scales] =
      *static_cast<const ScaledIntegers*>(own ? own.get() : call.prepared);
  const Tensor& x = call.input(0);
  const kernels::SparseInt8Matrix& matrix = integers.matrix;
  kernels::sparse_int8_product(
      call.pool(),
      kernels::int8_rows({row_count(x.sizes()), matrix.columns, matrix.columns},
                         x.data<std::uint8_t>()),
      {matrix, reinterpret_cast<const std::uint8_t*>(integers.bytes->pointer), scales.data()},
      {.bias = call.input(kBias).data<float>()}, call.output().data<float>(), matrix.rows);
}

}  // namespace

SparseWeight sparse_floats(LinearImplementation implementation, const Tensor& dense,
                           ThreadPool& pool) {
  const std::int64_t outputs = dense.size(0), inputs = dense.size(1);
  const float* const values = dense.data<float>();
  const bool is_bf16 = implementation == LinearImplementation::bf16;
  const std::optional<kernels::CountedSparseFloats> faster =
      kernels::faster_sparse_matrix(pool, outputs, inputs, values);
  kernels::SparseFloatMatrix matrix{outputs, inputs, 4, is_bf16 ? 16 : 32};
  const kernels::SparseFloatMatrix single{outputs, inputs, 1, matrix.bits};
  const auto counted = [&](const kernels::SparseFloatMatrix& one) {
    return kernels::CountedSparseFloats{one, kernels::sparse_entries(pool, one, values)};
  };
  // A product of few rows is limited by the bytes of values and indices.
  const auto bytes_of = [&](const kernels::SparseFloatMatrix& one) {
    return kernels::sparse_bytes(one, counted(one).entries);
  };
  if (faster ? faster->matrix.together == 1 : bytes_of(single) < bytes_of(matrix)) matrix = single;
  const bool is_single = matrix.together == 1;
  return {
      .dense = dense,
      .stored = counted(matrix).kept().share(),
      .bytes = static_cast<std::int64_t>(bytes_of(matrix)),
      .min_rows = faster && !is_bf16 ? kernels::fewest_sparse_float_rows(*faster) : std::nullopt,
      .kernel = is_bf16 ? (is_single ? float_kernel<1, 16>() : float_kernel<4, 16>())
                        : (is_single ? float_kernel<1, 32>() : float_kernel<4, 32>())};
}

SparseWeight sparse_codes(const QuantizerInput& input, const PackedCodes& packed,
                          ThreadPool& pool) {
  const auto [integers, scales] = integers_of(input, packed.codes.data<std::uint8_t>(),
                                              packed.shared.data<std::uint8_t>(), pool);
  return {
      .stored = integers.blocks.share(),
      .bytes = static_cast<std::int64_t>(kernels::sparse_bytes(integers.matrix, integers.entries) +
                                         scales.size() * sizeof(float)),
      .min_rows = kernels::fewest_sparse_int8_rows(integers.blocks),
      .kernel = {"native_linear", "cpu", "sparse 1x4", sums_of_codes, sparse_native_linear,
                 Layout::dense, arrange_codes}};
}

}  // namespace hone
