#include "hone/runtime/packed_kernels.h"

#include <algorithm>
#include <cmath>

#include "hone/formats/packing.h"
#include "hone/kernels/gemm.h"
#include "hone/kernels/gemm_bf16.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/int8_product.h"
#include "hone/kernels/scratch.h"
#include "hone/kernels/sign_product.h"
#include "hone/kernels/sparse_int8_product.h"
#include "hone/kernels/weight_only_product.h"
#include "hone/runtime/activation_name.h"
#include "hone/runtime/sparse_integers.h"

namespace hone {
namespace {

using kernels::Int8Rows;
using kernels::Int8Shape;
using kernels::Int8Weight;

// Of `packed_linear` and its kind, and of `packed_embedding`; the states of the weight's format follow, those of what results
// are rounded to before them.
constexpr std::size_t kLinearCodes = 1, kPackedBias = 3, kPackedResidual = 4;
constexpr std::size_t kTableCodes = 1, kTableStates = 3;
// Of `packed_rows`.
constexpr std::size_t kRowsCodes = 0, kRowsStates = 2;

const Format& format_of(const Attributes& attributes) { return attributes.get<Format>("format"); }
const Format& input_format_of(const Attributes& attributes) {
  return attributes.get<Format>("input_format");
}
bool adds_residual(const Attributes& attributes) { return attributes.get<bool>("residual"); }
bool rounds_output(const Attributes& attributes) {
  return attributes.find("output_format") != nullptr;
}
const Format& output_format_of(const Attributes& attributes) {
  return attributes.get<Format>("output_format");
}
std::size_t output_states(const Attributes& attributes) {
  return adds_residual(attributes) ? kPackedResidual + 1 : kPackedResidual;
}
std::size_t linear_states(const Attributes& attributes) {
  return output_states(attributes) +
         (rounds_output(attributes) ? states_of(output_format_of(attributes)).size() : 0);
}
Sizes weight_sizes(const Attributes& attributes) {
  return resolve(attributes.get<Shape>("shape"), {});
}
Arrangement arrangement_of(const Attributes& attributes) {
  return parse_arrangement(attributes.get<std::string>("arrangement"));
}

std::vector<Tensor> states_from(const Call& call, std::size_t first, const Format& format) {
  std::vector<Tensor> state;
  for (std::size_t i = 0; i < states_of(format).size(); ++i) state.push_back(call.input(first + i));
  return state;
}

// ---- how the codes of a weight become values

std::string_view reads_rows(const CallSite& site) {
  return has_rows(format_of(site.attributes), weight_sizes(site.attributes))
             ? ""
             : "values of the format depend on those of other rows";
}

/// Made once for as long as codes and states stay.
struct PreparedWeight {
  Format format = {};
  Sizes sizes = {};
  std::vector<Tensor> state = {};
  PackedLayout layout = {};
  std::optional<CodeUnits> units = {};
  std::vector<float> row_scales = {};  ///< (N), for products of integers with a scale per row
  Int8Weight integers = {};  ///< for products of integers; its pointers to codes are not set
  std::optional<SparseIntegers> sparse =
      {};                         ///< the same, where many are zero and rows have scales
  kernels::Int8Grid output = {};  ///< that these round their results to
};

PreparedWeight prepare_weight(const Call& call, std::size_t first_state, Arrangement arrangement) {
  const Format& format = format_of(call.attributes);
  const Sizes sizes = weight_sizes(call.attributes);
  PreparedWeight weight{.format = format,
                        .sizes = sizes,
                        .state = states_from(call, first_state, format),
                        .layout = packed_layout(format, sizes, arrangement)};
  weight.units = units_of({format, sizes, {}, weight.state});
  return weight;
}

// Calls body(rows of the codes that begin with this input).
template <typename Body>
void with_rows(const PreparedWeight& weight, const Call& call, std::size_t codes, Body&& body) {
  const QuantizerInput input{weight.format, weight.sizes, {}, weight.state};
  body(PackedRows{input, weight.layout, weight.units ? &*weight.units : nullptr,
                  call.input(codes).data<std::uint8_t>(),
                  call.input(codes + 1).data<std::uint8_t>()});
}

// Calls body(what kPrepare makes), prepared before or for this call alone.
template <typename Prepared, Prepared (*kPrepare)(const Call&), typename Body>
void with_prepared(const Call& call, Body&& body) {
  if (call.prepared != nullptr) return body(*static_cast<const Prepared*>(call.prepared));
  body(kPrepare(call));
}
template <PreparedWeight (*kPrepare)(const Call&), typename Body>
void with_weight(const Call& call, Body&& body) {
  with_prepared<PreparedWeight, kPrepare>(call, body);
}

template <typename Prepared, Prepared (*kPrepare)(const Call&)>
std::shared_ptr<const void> prepare_once(const Call& call) {
  return std::make_shared<Prepared>(kPrepare(call));
}

// ---- tables

template <std::size_t kFirstState>
PreparedWeight prepare_table(const Call& call) {
  return prepare_weight(call, kFirstState, Arrangement::rows);
}

// y[i] = row row_of(i) of a table.
template <typename RowOf>
void gather_rows(const Call& call, const PackedRows& table, std::int64_t count, float* y,
                 RowOf&& row_of) {
  const std::int64_t width = table.layout.matrix.columns;
  parallel_ranges(call.pool(), count, kernels::rows_per_chunk(width),
                  [&](std::int64_t begin, std::int64_t end) {
                    static thread_local kernels::Scratch scratch;
                    const auto elements = static_cast<std::size_t>(width);
                    const std::span<std::uint16_t> codes(scratch.codes(elements), elements);
                    for (std::int64_t i = begin; i < end; ++i)
                      table.gather(row_of(i), codes, y + i * width);
                  });
}

void packed_embedding(Call& call) {
  with_weight<prepare_table<kTableStates>>(call, [&](const PreparedWeight& table) {
    const std::span<const std::int64_t> ids = call.input(0).values<std::int64_t>();
    const std::int64_t count = table.layout.matrix.rows;
    if (!std::ranges::all_of(ids, [&](std::int64_t id) { return id >= 0 && id < count; }))
      return call.op.reference(call);
    with_rows(table, call, kTableCodes, [&](const PackedRows& rows) {
      gather_rows(call, rows, std::ssize(ids), call.output().data<float>(),
                  [&](std::int64_t i) { return ids[static_cast<std::size_t>(i)]; });
    });
  });
}

void packed_rows(Call& call) {
  with_weight<prepare_table<kRowsStates>>(call, [&](const PreparedWeight& table) {
    const std::int64_t begin = call.attributes.get<std::int64_t>("begin");
    const std::int64_t count = call.output().size(0);
    if (begin + count > table.layout.matrix.rows) return call.op.reference(call);
    with_rows(table, call, kRowsCodes, [&](const PackedRows& rows) {
      gather_rows(call, rows, count, call.output().data<float>(),
                  [&](std::int64_t i) { return begin + i; });
    });
  });
}

// ---- products of floats with codes as they are decoded

kernels::Epilogue epilogue_of(const Call& call) {
  return {.bias = call.input(kPackedBias).data<float>(),
          .activation = activation_called(call.attributes.get<std::string>("activation")),
          .residual =
              adds_residual(call.attributes) ? call.input(kPackedResidual).data<float>() : nullptr,
          .residual_stride = weight_sizes(call.attributes)[0]};
}

PreparedWeight prepare_panels(const Call& call) {
  return prepare_weight(call, linear_states(call.attributes), Arrangement::panels);
}

/// What the bytes of blocks stand for: 2^(e + shift - 127) `unit`.
struct BlockScales {
  int shift = 0;
  float unit = 1;
};

// None where shared codes stand for anything but powers of two, one after the other.
std::optional<BlockScales> block_scales_of(const CodeUnits& units) {
  const std::vector<float>& scales = units.scales;
  if (scales.size() < 2) return std::nullopt;
  // Exponents that begin with 0 mean a block of zeros to kernels, which is as good as what 8 bits begin with.
  BlockScales found{.shift = scales.size() < 256 ? 64 : 0};
  found.unit = std::ldexp(scales[1], 126 - found.shift);
  for (std::size_t e = found.shift == 0 ? 1 : 0; e < scales.size(); ++e)
    if (!std::isnan(scales[e]) &&
        scales[e] != std::ldexp(found.unit, static_cast<int>(e) + found.shift - 127))
      return std::nullopt;
  return std::isnormal(found.unit) ? std::optional(found) : std::nullopt;
}

/// A weight as `weight_only_product` reads it.
struct CodedProduct {
  PreparedWeight weight;
  std::vector<float> values = {}, offsets = {}, row_scales = {};
  kernels::CodedWeight coded = {};  ///< its pointers to codes and scales are not set
};

std::string_view has_scales_of_rows_or_blocks(const CallSite& site) {
  const Format& format = format_of(site.attributes);
  const Sizes sizes = weight_sizes(site.attributes);
  const std::optional<CodeUnits> units = units_for_any_state(format, sizes);
  if (!units) return "values of the format are no products of a code and a scale";
  if (arrangement_of(site.attributes) != Arrangement::panels) return "codes do not lie in panels";
  if (units->divides) return "scales are divided by";
  const bool by_row = units->group == 0 || units->group >= sizes.back();
  const PackedLayout layout = packed_layout(format, sizes, Arrangement::panels);
  const bool in_panels = layout.scale_blocks > 0;
  return layout.codes.half_scales || (in_panels ? block_scales_of(*units).has_value() : by_row)
             ? ""
             : "scales are neither of rows nor float16 or powers of two of blocks";
}

// Whole numbers are fastest: the smallest value may be their unit, where to divide by it is exact.
float unit_of_values(const CodeUnits& units) {
  const float unit = smallest_unit(units);
  int exponent = 0;
  const bool adds = units.shared_zero_points || !units.offsets.empty();
  return adds || !std::isfinite(unit) || std::frexp(unit, &exponent) != 0.5f ? 1 : unit;
}

CodedProduct prepare_codes(const Call& call) {
  CodedProduct product{.weight = prepare_panels(call)};
  const PackedLayout& layout = product.weight.layout;
  const CodeUnits& units = product.weight.units.value();
  const kernels::PackedMatrix& m = layout.matrix;
  product.coded = {.rows = m.rows, .columns = m.columns, .bits = m.bits, .half = units.half};
  const float unit = unit_of_values(units);
  product.values.resize(units.units.size());
  for (std::size_t code = 0; code < units.units.size(); ++code)
    product.values[code ^ m.flip] = units.units[code] / unit;
  if (layout.codes.half_scales) {
    product.coded.block = units.group;
    product.coded.scale_bytes = static_cast<int>(layout.scale_bytes);
    product.coded.unit = unit;
    return product;
  }
  if (layout.scale_blocks > 0) {
    const BlockScales scales = block_scales_of(units).value();
    product.coded.block = units.group;
    product.coded.scale_shift = scales.shift;
    product.coded.unit = scales.unit * unit;
    return product;
  }
  with_rows(product.weight, call, kLinearCodes, [&](const PackedRows& rows) {
    for (std::int64_t row = 0; row < m.rows; ++row) {
      product.row_scales.push_back(rows.scale(row, 0) * unit);
      if (units.shared_zero_points || !units.offsets.empty())
        product.offsets.push_back(rows.offset(row, 0));
    }
  });
  return product;
}

void coded_linear(Call& call) {
  with_prepared<CodedProduct, prepare_codes>(call, [&](const CodedProduct& product) {
    kernels::CodedWeight weight = product.coded;
    weight.codes = call.input(kLinearCodes).data<std::uint8_t>();
    weight.values = product.values.data();
    if (!product.offsets.empty()) weight.offsets = product.offsets.data();
    if (product.row_scales.empty())
      weight.block_scales = call.input(kLinearCodes + 1).data<std::uint8_t>();
    else
      weight.scales = product.row_scales.data();
    const Tensor& x = call.input(0);
    kernels::weight_only_product(call.pool(),
                                 {x.data<float>(), row_count(x.sizes()), weight.columns}, weight,
                                 epilogue_of(call), call.output().data<float>(), weight.rows);
  });
}

// ---- products of floats with some rows of a weight after the other, whatever its format

template <Arrangement kArrangement>
PreparedWeight prepare_arranged(const Call& call) {
  return prepare_weight(call, linear_states(call.attributes), kArrangement);
}

// Rows of a weight at a time: a MiB of them, whole panels of packed codes and of float products.
std::int64_t rows_at_a_time(const Sizes& weight) {
  constexpr std::int64_t kElements = 256 << 10, kPanels = 96;
  const std::int64_t panels = kElements / std::max<std::int64_t>(1, kPanels * weight[1]);
  return std::min(weight[0], std::max<std::int64_t>(1, panels) * kPanels);
}

std::int64_t linear_by_rows_bytes(const CallSite& site, const Bindings& /*bindings*/) {
  const Sizes weight = weight_sizes(site.attributes);
  return rows_at_a_time(weight) * weight[1] * static_cast<std::int64_t>(sizeof(float));
}

template <Arrangement kArrangement>
void linear_by_rows(Call& call) {
  with_weight<prepare_arranged<kArrangement>>(call, [&](const PreparedWeight& weight) {
    const Tensor& x = call.input(0);
    const std::int64_t outputs = weight.sizes[0], columns = weight.sizes[1],
                       together = rows_at_a_time(weight.sizes);
    auto* const values = static_cast<float*>(call.workspace);
    float* const y = call.output().data<float>();
    with_rows(weight, call, kLinearCodes, [&](const PackedRows& rows) {
      kernels::Epilogue epilogue = epilogue_of(call);
      for (std::int64_t begin = 0; begin < outputs; begin += together) {
        const std::int64_t count = std::min(together, outputs - begin);
        rows.read(call.pool(), begin, count, values);
        kernels::gemm(call.pool(), {row_count(x.sizes()), count, columns},
                      {x.data<float>(), columns, 1}, {values, 1, columns}, y + begin, outputs,
                      epilogue);
        epilogue.bias += count;
        if (epilogue.residual != nullptr) epilogue.residual += count;
      }
    });
  });
}

template <Arrangement kArrangement>
std::string_view reads_arranged_rows(const CallSite& site) {
  if (arrangement_of(site.attributes) != kArrangement) return "codes are arranged otherwise";
  return reads_rows(site);
}

template <Arrangement kArrangement>
Kernel linear_by_rows_kernel() {
  return {"packed_linear",
          "cpu",
          "rows",
          reads_arranged_rows<kArrangement>,
          linear_by_rows<kArrangement>,
          Layout::dense,
          prepare_once<PreparedWeight, prepare_arranged<kArrangement>>,
          linear_by_rows_bytes};
}

// ---- products of integers: the formats that fit each other

bool is_symmetric_int(const Format& format) {
  return format.def->name == "int" && format["bits"] <= 8 && format["group"] == 0 &&
         format.is("range", "symmetric") && format.is("mode", "fixed");
}

bool has_blocks_along_rows(const Format& format, std::int64_t rank) {
  return format.is("mode", "fixed") && (format["axis"] == -1 || format["axis"] == rank - 1);
}

bool is_block_of_sums(std::int64_t block) {
  return block % 16 == 0 && block <= kernels::kMostInt8Block;
}

// Two or three values around 0.
bool is_signs(const Format& format) {
  return (format.def->name == "binary" || format.def->name == "ternary") &&
         format.is("mode", "fixed");
}

}  // namespace

bool is_int_of_rows(const Format& format) {
  return is_symmetric_int(format) && (!format.is("scale", "dynamic") || format.is("per", "token"));
}

namespace {

bool is_mxint_along_rows(const Format& format, std::int64_t rank) {
  return format.def->name == "mxint" && format["bits"] <= 8 &&
         has_blocks_along_rows(format, rank) && is_block_of_sums(format["block"]);
}

// Weights with a scale per row or one for all, inputs rounded to `int` with a scale per token or one for all.
bool fits_per_row(const CallSite& site) {
  const Format &weight = format_of(site.attributes), &input = input_format_of(site.attributes);
  return (is_symmetric_int(weight) || is_signs(weight)) && is_int_of_rows(input);
}

// Of whole numbers in blocks along rows, with powers of two or float16 for scales, the columns of a block; else 0.
std::int64_t integer_block(const Format& weight) {
  const std::string_view name = weight.def->name;
  std::int64_t block = 0;
  if (name == "int") block = weight["group"];
  if ((name == "mxint" && weight["bits"] <= 8) || (name == "mxfp" && weight.is("element", "e2m1")))
    block = has_blocks_along_rows(weight, 2) ? weight["block"] : 0;
  return is_block_of_sums(block) ? block : 0;
}

// Weights and inputs in blocks of one size.
bool fits_per_block(const CallSite& site) {
  const Format &weight = format_of(site.attributes), &input = input_format_of(site.attributes);
  return is_mxint_along_rows(input, site.inputs[0].rank()) &&
         integer_block(weight) == input["block"];
}

// How rows of so many columns in a format of inputs lie: mxint has blocks.
Int8Shape int8_shape(std::int64_t rows, std::int64_t columns, const Format& input) {
  return {rows, columns, input.def->name == "mxint" ? input["block"] : columns};
}

// With one scale for all, which is known before the values are.
bool is_calibrated_int(const Format& format) {
  return is_symmetric_int(format) && !format.is("scale", "dynamic") && format.is("per", "tensor");
}

}  // namespace

std::string_view sums_of_codes(const CallSite& site) {
  if (site.inputs[0].dtype != DType::u8) return "inputs are no codes";
  if (weight_sizes(site.attributes)[1] > kernels::kMostInt8Columns)
    return "more columns than integers can sum up";
  if (rounds_output(site.attributes) && !is_calibrated_int(output_format_of(site.attributes)))
    return "results are rounded at once to int with one scale that is known before";
  return fits_per_row(site) || fits_per_block(site)
             ? ""
             : "no product of integers for these formats of weight and input";
}

namespace {

// The whole numbers that units are multiples of, and what of.
void set_integers(const PreparedWeight& weight, Int8Weight& integers) {
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

// Of a format that a tensor of these sizes is rounded to: its scale, where a state says which.
kernels::Int8Grid grid_of(const Format& format, const Sizes& sizes,
                          const std::vector<Tensor>& state) {
  kernels::Int8Grid grid{.bits = static_cast<int>(format["bits"])};
  if (!state.empty()) grid.scale = units_of({format, sizes, {}, state})->scales.at(0);
  return grid;
}

PreparedWeight prepare_integers(const Call& call) {
  PreparedWeight weight = prepare_panels(call);
  if (rounds_output(call.attributes)) {
    const Format& format = output_format_of(call.attributes);
    weight.output = grid_of(format, {1, weight.sizes[0]},
                            states_from(call, output_states(call.attributes), format));
  }
  const kernels::PackedMatrix& m = weight.layout.matrix;
  weight.integers = {.rows = m.rows, .columns = m.columns, .bits = m.bits};
  set_integers(weight, weight.integers);
  if (weight.layout.scale_blocks > 0) {
    weight.integers.scale_bytes = static_cast<int>(weight.layout.scale_bytes);
    return weight;
  }
  with_rows(weight, call, kLinearCodes, [&](const PackedRows& rows) {
    for (std::int64_t row = 0; row < m.rows; ++row)
      weight.row_scales.push_back(rows.scale(row, 0) * weight.integers.unit);
  });
  weight.integers.unit = 1;
  weight.sparse =
      sparse_integers(weight.layout, *weight.units, call.input(kLinearCodes).data<std::uint8_t>(),
                      kernels::kMostSparseInt8Blocks, call.pool());
  return weight;
}

// Formats of inputs that products sum codes of.
std::string_view has_fast_codes(const CallSite& site) {
  const Format& format = format_of(site.attributes);
  const std::int64_t rank = site.inputs[0].rank();
  const bool fits = is_int_of_rows(format) || is_mxint_along_rows(format, rank);
  return fits && site.inputs[0].dim(-1).size <= kernels::kMostInt8Columns
             ? ""
             : "products do not read codes of the format as bytes of rows";
}

kernels::Int8Blocks int8_blocks(const Format& mxint) {
  const int bits = static_cast<int>(mxint["bits"]);
  kernels::Int8Blocks blocks{.bits = bits};
  // The smallest power of two that makes nothing saturate, see formats/mxint.cpp.
  if (mxint.is("scale", "ceil")) blocks.next_from = (1u << 23) - (1u << (25 - bits)) + 1;
  return blocks;
}

kernels::Int8Grid prepare_grid(const Call& call) {
  const Format& format = format_of(call.attributes);
  return grid_of(format, call.input(0).sizes(), states_from(call, 1, format));
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

// With where codes and scales of this call lie.
Int8Weight weight_of(const Call& call, const PreparedWeight& prepared) {
  Int8Weight weight = prepared.integers;
  weight.codes = call.input(kLinearCodes).data<std::uint8_t>();
  if (prepared.row_scales.empty())
    weight.block_scales = call.input(kLinearCodes + 1).data<std::uint8_t>();
  else
    weight.scales = prepared.row_scales.data();
  return weight;
}

void native_linear(Call& call) {
  with_weight<prepare_integers>(call, [&](const PreparedWeight& prepared) {
    const Tensor& codes = call.input(0);
    const std::int64_t columns = prepared.integers.columns;
    const Int8Rows rows = kernels::int8_rows(
        int8_shape(row_count(codes.sizes()), columns, input_format_of(call.attributes)),
        codes.data<std::uint8_t>());
    const auto multiply = [&](auto&& product, const auto& weight) {
      const std::int64_t outputs = prepared.integers.rows;
      if (!rounds_output(call.attributes))
        return product(call.pool(), rows, weight, epilogue_of(call), call.output().data<float>(),
                       outputs);
      const Int8Rows rounded = kernels::int8_rows({rows.shape.rows, outputs, outputs},
                                                  call.output().data<std::uint8_t>());
      product(call.pool(), rows, weight, epilogue_of(call), prepared.output, rounded);
    };
    if (prepared.sparse && kernels::sparse_int8_is_faster(rows.shape.rows, prepared.sparse->stored))
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

bool is_binary(const Format& format) { return format.def->name == "binary" && is_signs(format); }

std::string_view are_binary(const CallSite& site) {
  if (site.inputs[0].dtype != DType::f32) return "inputs are codes";
  return is_binary(format_of(site.attributes)) && is_binary(input_format_of(site.attributes))
             ? ""
             : "weight and input are not both signs";
}

PreparedWeight prepare_signs(const Call& call) {
  PreparedWeight weight = prepare_panels(call);
  with_rows(weight, call, kLinearCodes, [&](const PackedRows& rows) {
    for (std::int64_t row = 0; row < weight.sizes[0]; ++row)
      weight.row_scales.push_back(rows.scale(row, 0));
  });
  return weight;
}

void binary_linear(Call& call) {
  with_weight<prepare_signs>(call, [&](const PreparedWeight& weight) {
    const Tensor& x = call.input(0);
    const std::int64_t outputs = weight.sizes[0], columns = weight.sizes[1];
    const kernels::SignRows rows =
        kernels::sign_rows(row_count(x.sizes()), columns, call.workspace);
    kernels::take_signs(call.pool(), x.data<float>(),
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

bool is_bfloat16(const Format& format) { return format.def->name == "bf16"; }

std::string_view are_bfloat16(const CallSite& site) {
  if (site.inputs[0].dtype != DType::f32) return "inputs are codes";
  return is_bfloat16(format_of(site.attributes)) && is_bfloat16(input_format_of(site.attributes))
             ? ""
             : "weight and input are not both bfloat16";
}

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

std::string native_objection(const Format& weight, InputScales scales) {
  const bool calibrated = scales == InputScales::calibrated;
  if (is_symmetric_int(weight) || is_signs(weight)) return "";
  if (!is_bfloat16(weight) && integer_block(weight) == 0)
    return fmt::format(
        "native computation does not support weights in {}; it supports int(bits=2 to 8), also in "
        "groups of 16 to 256, binary, ternary, bf16, mxint(bits=2 to 8) in blocks of 16 to 256, "
        "and mxfp(element=e2m1)",
        to_string(weight));
  if (!calibrated) return "";
  return fmt::format(
      "inputs of products with weights in {} {}; leave `static` out, or give weights in int "
      "without groups",
      to_string(weight),
      is_bfloat16(weight) ? "have no scales"
                          : "take the scales of their blocks from their own values");
}

Format native_input(const Format& weight, const FormatTable& formats, InputScales scales) {
  const std::string objection = native_objection(weight, scales);
  user_check(native_objection(weight).empty(),
             "{}. Give one of these, or store the weights in few bits with inputs in fp32: `hone "
             "quantize --weight_format '{}'`, then `hone pack`",
             objection, to_string(weight));
  user_check(objection.empty(), "{}", objection);
  if (is_bfloat16(weight)) return weight;
  const bool calibrated = scales == InputScales::calibrated;
  if (is_symmetric_int(weight) || is_signs(weight))
    return parse_format(calibrated ? "int(bits=8,scale=static)" : "int(bits=8,per=token)", formats);
  return parse_format(fmt::format("mxint(bits=8,block={})", integer_block(weight)), formats);
}

KernelTable packed_kernels() {
  return {
      {"native_linear", "cpu", "integers", sums_of_codes, native_linear, Layout::dense,
       prepare_once<PreparedWeight, prepare_integers>, nullptr, PeakKind::int8_gops},
      {"native_linear_codes", "cpu", "integers", sums_of_codes, native_linear, Layout::dense,
       prepare_once<PreparedWeight, prepare_integers>, nullptr, PeakKind::int8_gops},
      {"native_linear", "cpu", "bf16", are_bfloat16, bfloat16_linear, Layout::dense, nullptr,
       bfloat16_linear_bytes, PeakKind::bf16_gflops},
      {"native_linear", "cpu", "signs", are_binary, binary_linear, Layout::dense,
       prepare_once<PreparedWeight, prepare_signs>, binary_linear_bytes, PeakKind::sign_gops},
      {"encode_rows", "cpu", "rows", has_fast_codes, encode_rows, Layout::dense,
       prepare_once<kernels::Int8Grid, prepare_grid>},
      {"packed_embedding", "cpu", "rows", reads_rows, packed_embedding, Layout::dense,
       prepare_once<PreparedWeight, prepare_table<kTableStates>>},
      {"packed_rows", "cpu", "rows", reads_rows, packed_rows, Layout::dense,
       prepare_once<PreparedWeight, prepare_table<kRowsStates>>},
      {"packed_linear", "cpu", "codes", has_scales_of_rows_or_blocks, coded_linear, Layout::dense,
       prepare_once<CodedProduct, prepare_codes>},
      linear_by_rows_kernel<Arrangement::panels>(),
      linear_by_rows_kernel<Arrangement::rows>(),
  };
}

}  // namespace hone
