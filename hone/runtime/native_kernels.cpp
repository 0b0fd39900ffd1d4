#include <cmath>
#include <utility>

#include "hone/kernels/gemm_bf16.h"
#include "hone/kernels/int8_product.h"
#include "hone/kernels/sign_product.h"
#include "hone/kernels/sparse_int8_product.h"
#include "hone/runtime/native_formats.h"
#include "hone/runtime/packed_kernels.h"
#include "hone/runtime/packed_weight.h"
#include "hone/runtime/sparse_integers.h"

// Products that compute with the codes of weights and inputs: `native_linear` and `native_linear_codes`.
namespace hone {
namespace {

using kernels::Int8Rows;
using kernels::Int8Shape;
using kernels::Int8Weight;

// ---- codes of inputs and results

// Returns the shape of rows of inputs in their format; mxint has blocks.
Int8Shape int8_shape(std::int64_t rows, std::int64_t columns, const Format& input) {
  return {rows, columns, input.def->name == "mxint" ? input["block"] : columns};
}

// Returns the grid of a format for a tensor of these sizes, with its scale if a state stores one.
kernels::Int8Grid grid_of(const Format& format, const Sizes& sizes,
                          const std::vector<Tensor>& state) {
  kernels::Int8Grid grid{.bits = static_cast<int>(format["bits"])};
  if (!state.empty()) grid.scale = units_of({format, sizes, {}, state})->scales.at(0);
  return grid;
}

kernels::Int8Blocks int8_blocks(const Format& mxint) {
  const int bits = static_cast<int>(mxint["bits"]);
  kernels::Int8Blocks blocks{.bits = bits};
  // The smallest power of two that avoids saturation, see formats/mxint.cpp.
  if (mxint.is("scale", "ceil")) blocks.next_from = (1u << 23) - (1u << (25 - bits)) + 1;
  return blocks;
}

kernels::Int8Grid prepare_grid(const Call& call) {
  const Format& format = format_of(call.attributes);
  return grid_of(format, call.input(0).sizes(), states_from(call.inputs, 1, format));
}

void encode_rows(Call& call) {
  const Tensor& x = call.input(0);
  const Format& format = format_of(call.attributes);
  const Int8Rows rows = kernels::int8_rows(int8_shape(row_count(x.sizes()), x.size(-1), format),
                                           call.output().data<std::uint8_t>());
  if (format.def->name == "mxint")
    return kernels::round_rows_in_blocks(call.pool(), x.data<float>(), int8_blocks(format), rows);
  with_prepared<kernels::Int8Grid, prepare_grid>(call, [&](const kernels::Int8Grid& grid) {
    kernels::round_rows(call.pool(), x.data<float>(), grid, rows);
  });
}

// ---- products of integers

/// A weight prepared for integer products.
struct IntegerWeight {
  Int8Weight integers = {};            ///< its pointers to codes and scales are not set
  std::vector<float> row_scales = {};  ///< (N), if each row has one
  std::optional<SparseIntegers> sparse =
      {};                         ///< the same weight, if many are zero and rows have scales
  kernels::Int8Grid output = {};  ///< that results are rounded to
};

// Sets the integers that the units are multiples of, and their common unit.
void set_integers(const PackedWeight& weight, Int8Weight& integers) {
  const std::vector<float>& units = weight.units->units;
  const float unit = smallest_unit(*weight.units);
  integers.unit = unit;
  if (integers.bits > 4) return;
  const std::uint16_t flip = weight.layout.matrix.flip;
  for (std::size_t code = 0; code < units.size(); ++code)
    if (!std::isnan(units[code]))
      integers.values[code ^ flip] =
          static_cast<std::uint8_t>(128 + std::lround(units[code] / unit));
}

// Returns the integers to store sparsely if many are zero, of weights with a scale per row.
SparseSource integers_of(const PackedWeight& weight, std::span<const Tensor* const> inputs) {
  return {weight.layout, *weight.units, inputs[kLinearCodes]->data<std::uint8_t>(),
          kernels::kMaxSparseInt8Blocks};
}

IntegerWeight prepare_integers(const Call& call) {
  const PackedWeight weight = product_weight_of(call.attributes, call.inputs);
  const kernels::PackedMatrix& m = weight.layout.matrix;
  IntegerWeight prepared{.integers = {.rows = m.rows, .columns = m.columns, .bits = m.bits}};
  if (const Format* output = output_format_of(call.attributes))
    prepared.output = grid_of(*output, {1, weight.sizes[0]},
                              states_from(call.inputs, output_states(call.attributes), *output));
  set_integers(weight, prepared.integers);
  if (weight.layout.scale_blocks > 0) {
    prepared.integers.scale_bytes = static_cast<int>(weight.layout.scale_bytes);
    return prepared;
  }
  prepared.row_scales =
      row_scales_of(weight, call.inputs, std::exchange(prepared.integers.unit, 1));
  prepared.sparse = sparse_integers(integers_of(weight, call.inputs), call.pool());
  return prepared;
}

PreparedMemory integer_memory(const CallSite& site, std::span<const Tensor* const> inputs,
                              ThreadPool& pool) {
  const PackedWeight weight = product_weight_of(site.attributes, inputs);
  if (weight.layout.scale_blocks > 0) return {};
  PreparedMemory memory{
      .bytes = weight.layout.matrix.rows * static_cast<std::int64_t>(sizeof(float)),
      .zeros = WeightZeros()};
  if (const auto sparse = sparse_integers_size(integers_of(weight, inputs), pool)) {
    memory.bytes += sparse->bytes;
    memory.zeros = {.pattern = "1x4",
                    .min_rows = kernels::fewest_sparse_int8_rows(sparse->blocks).value(),
                    .dense_bytes = weight.layout.code_bytes,
                    .bytes = sparse->bytes};
  }
  return memory;
}

// Adds the pointers to the codes and scales of this call.
Int8Weight weight_of(const Call& call, const IntegerWeight& prepared) {
  Int8Weight weight = prepared.integers;
  weight.codes = call.input(kLinearCodes).data<std::uint8_t>();
  if (prepared.row_scales.empty())
    weight.block_scales = call.input(kLinearCodes + 1).data<std::uint8_t>();
  else
    weight.scales = prepared.row_scales.data();
  return weight;
}

void native_linear(Call& call) {
  with_prepared<IntegerWeight, prepare_integers>(call, [&](const IntegerWeight& prepared) {
    const Tensor& codes = call.input(0);
    const std::int64_t columns = prepared.integers.columns;
    const Int8Rows rows = kernels::int8_rows(
        int8_shape(row_count(codes.sizes()), columns, input_format_of(call.attributes)),
        codes.data<std::uint8_t>());
    const auto multiply = [&](auto&& product, const auto& weight) {
      const std::int64_t outputs = prepared.integers.rows;
      if (output_format_of(call.attributes) == nullptr)
        return product(call.pool(), rows, weight, epilogue_of(call), call.output().data<float>(),
                       outputs);
      const Int8Rows rounded = kernels::int8_rows({rows.shape.rows, outputs, outputs},
                                                  call.output().data<std::uint8_t>());
      product(call.pool(), rows, weight, epilogue_of(call), prepared.output, rounded);
    };
    if (prepared.sparse && kernels::sparse_int8_is_faster(rows.shape.rows, prepared.sparse->blocks))
      return multiply([](auto&&... operands) { kernels::sparse_int8_product(operands...); },
                      kernels::SparseInt8Weight{
                          prepared.sparse->matrix,
                          reinterpret_cast<const std::uint8_t*>(prepared.sparse->bytes->pointer),
                          prepared.row_scales.data()});
    multiply([](auto&&... operands) { kernels::int8_product(operands...); },
             weight_of(call, prepared));
  });
}

// ---- products of signs

/// The sizes of a weight of signs, and the scale of each row.
struct SignWeight {
  Sizes sizes;
  std::vector<float> row_scales;
};

SignWeight prepare_signs(const Call& call) {
  const PackedWeight weight = product_weight_of(call.attributes, call.inputs);
  return {weight.sizes, row_scales_of(weight, call.inputs, 1)};
}

void binary_linear(Call& call) {
  with_prepared<SignWeight, prepare_signs>(call, [&](const SignWeight& weight) {
    const Tensor& x = call.input(0);
    const std::int64_t outputs = weight.sizes[0], columns = weight.sizes[1];
    const kernels::SignRows rows =
        kernels::sign_rows(row_count(x.sizes()), columns, call.workspace);
    kernels::pack_signs(call.pool(), x.data<float>(),
                        input_format_of(call.attributes).is("scale", "row"), rows);
    kernels::sign_product(
        call.pool(), rows,
        {outputs, columns, call.input(kLinearCodes).data<std::uint8_t>(), weight.row_scales.data()},
        epilogue_of(call), call.output().data<float>(), outputs);
  });
}

std::int64_t binary_linear_bytes(const CallSite& site, const Bindings& bindings) {
  const Sizes x = resolve(site.inputs[0].shape, bindings);
  return static_cast<std::int64_t>(kernels::sign_rows_bytes(row_count(x), x.back()));
}

// ---- products of bfloat16

void bfloat16_linear(Call& call) {
  const Tensor &x = call.input(0), &y = call.output();
  const std::int64_t columns = x.sizes().back(), outputs = y.sizes().back();
  kernels::gemm_bf16(call.pool(), {row_count(x.sizes()), outputs, columns}, x.data<float>(),
                     columns, call.input(kLinearCodes).data<std::uint8_t>(),
                     call.output().data<float>(), outputs, epilogue_of(call),
                     static_cast<std::uint32_t*>(call.workspace));
}

std::int64_t bfloat16_linear_bytes(const CallSite& site, const Bindings& bindings) {
  const Sizes x = resolve(site.inputs[0].shape, bindings);
  return static_cast<std::int64_t>(kernels::gemm_bf16_workspace_words(row_count(x), x.back()) *
                                   sizeof(std::uint32_t));
}

}  // namespace

KernelTable native_kernels() {
  constexpr auto prepare_weight = prepare_once<IntegerWeight, prepare_integers>;
  KernelTable table = {
      {"native_linear", "cpu", "integers", sums_of_codes, native_linear, Layout::dense,
       prepare_weight, nullptr, PeakKind::int8_gops},
      {"native_linear_codes", "cpu", "integers", sums_of_codes, native_linear, Layout::dense,
       prepare_weight, nullptr, PeakKind::int8_gops},
      {"native_linear", "cpu", "bf16", are_bfloat16, bfloat16_linear, Layout::dense, nullptr,
       bfloat16_linear_bytes, PeakKind::bf16_gflops},
      {"native_linear", "cpu", "signs", are_binary, binary_linear, Layout::dense,
       prepare_once<SignWeight, prepare_signs>, binary_linear_bytes, PeakKind::sign_gops},
      {"encode_rows", "cpu", "rows", has_fast_codes, encode_rows, Layout::dense,
       prepare_once<kernels::Int8Grid, prepare_grid>},
  };
  for (Kernel& kernel : table)
    if (kernel.prepare == prepare_weight) kernel.prepared_memory = integer_memory;
  return table;
}

}  // namespace hone
