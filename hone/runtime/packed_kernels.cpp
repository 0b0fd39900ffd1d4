#include "hone/runtime/packed_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/formats/packing.h"
#include "hone/kernels/gemm.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/int8_product.h"
#include "hone/kernels/weight_only_product.h"
#include "hone/runtime/activation_name.h"

namespace hone {
namespace {

using kernels::Int8Rows;
using kernels::Int8Shape;
using kernels::Int8Weight;

// Of `packed_linear` and `native_linear`, and of `packed_embedding`; the states of the weight's format follow.
constexpr std::size_t kLinearCodes = 1, kBias = 3, kLinearStates = 4;
constexpr std::size_t kTableCodes = 1, kTableStates = 3;

const Format& format_of(const Attributes& attributes) { return attributes.get<Format>("format"); }
const Format& input_format_of(const Attributes& attributes) {
  return attributes.get<Format>("input_format");
}
Sizes weight_sizes(const Attributes& attributes) {
  return resolve(attributes.get<Shape>("shape"), {});
}
std::int64_t rows_of(const Sizes& x) { return x.back() == 0 ? 0 : element_count(x) / x.back(); }

std::vector<Tensor> states_from(const Call& call, std::size_t first, const Format& format) {
  std::vector<Tensor> state;
  for (std::size_t i = 0; i < states_of(format).size(); ++i) state.push_back(call.input(first + i));
  return state;
}

// ---- how the codes of a weight become values

std::string_view has_fast_values(const CallSite& site) {
  return has_units(format_of(site.attributes), weight_sizes(site.attributes))
             ? ""
             : "values of the format are no products of a code and a scale";
}

/// Made once for as long as codes and states stay.
struct PreparedWeight {
  std::vector<Tensor> state = {};
  PackedLayout layout = {};
  CodeUnits units = {};
  std::vector<float> row_scales = {};  ///< (N), for products of integers with a scale per row
  Int8Weight integers = {};  ///< for products of integers; its pointers to codes are not set
};

PreparedWeight prepare_weight(const Call& call, std::size_t first_state, Arrangement arrangement) {
  const Format& format = format_of(call.attributes);
  const Sizes sizes = weight_sizes(call.attributes);
  PreparedWeight weight{.state = states_from(call, first_state, format),
                        .layout = packed_layout(format, sizes, arrangement)};
  std::optional<CodeUnits> units = units_of({format, sizes, {}, weight.state});
  HONE_ASSERT(units.has_value(), "values of {} are no products", to_string(format));
  weight.units = std::move(*units);
  return weight;
}

PackedRows rows_in(const PreparedWeight& weight, const Call& call, std::size_t codes) {
  return {weight.layout, weight.units, call.input(codes).data<std::uint8_t>(),
          call.input(codes + 1).data<std::uint8_t>()};
}

// Calls body(the weight), prepared before or for this call alone.
template <PreparedWeight (*kPrepare)(const Call&), typename Body>
void with_weight(const Call& call, Body&& body) {
  if (call.prepared != nullptr) return body(*static_cast<const PreparedWeight*>(call.prepared));
  body(kPrepare(call));
}

template <PreparedWeight (*kPrepare)(const Call&)>
std::shared_ptr<const void> prepare_once(const Call& call) {
  return std::make_shared<PreparedWeight>(kPrepare(call));
}

// ---- tables

PreparedWeight prepare_table(const Call& call) {
  return prepare_weight(call, kTableStates, Arrangement::rows);
}

void packed_embedding(Call& call) {
  with_weight<prepare_table>(call, [&](const PreparedWeight& table) {
    const PackedRows rows = rows_in(table, call, kTableCodes);
    const std::int64_t width = table.layout.matrix.columns, count = table.layout.matrix.rows;
    const std::span<const std::int64_t> ids = call.input(0).values<std::int64_t>();
    if (!std::ranges::all_of(ids, [&](std::int64_t id) { return id >= 0 && id < count; }))
      return call.op.reference(call);
    float* const y = call.output().data<float>();
    parallel_ranges(call.pool(), std::ssize(ids), kernels::rows_per_chunk(width),
                    [&](std::int64_t begin, std::int64_t end) {
                      std::vector<std::uint8_t> codes(static_cast<std::size_t>(width));
                      for (std::int64_t i = begin; i < end; ++i)
                        rows.gather(ids[static_cast<std::size_t>(i)], codes, y + i * width);
                    });
  });
}

// ---- products of floats with the values of some panels at a time

constexpr std::int64_t kPartFloats = std::int64_t{1} << 18;

// Rows of the weight, whole panels, whose values are held at a time.
std::int64_t part_rows(const Sizes& weight) {
  constexpr std::int64_t kPanel = kernels::kPackedRows;
  const std::int64_t fit = kPartFloats / std::max<std::int64_t>(1, weight[1]) / kPanel * kPanel;
  return std::min(std::max(fit, kPanel), (weight[0] + kPanel - 1) / kPanel * kPanel);
}

std::int64_t part_bytes(const Sizes& weight) {
  return part_rows(weight) * weight[1] * static_cast<std::int64_t>(sizeof(float));
}

// Multiples of a line of the cache.
std::int64_t lines(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

std::int64_t product_bytes(const Sizes& x, const Sizes& weight) {
  const kernels::GemmShape part{rows_of(x), part_rows(weight), weight[1]};
  return lines(part_bytes(weight)) +
         static_cast<std::int64_t>(kernels::gemm_workspace_floats(part) * sizeof(float));
}

PreparedWeight prepare_panels(const Call& call) {
  return prepare_weight(call, kLinearStates, Arrangement::panels);
}

void multiply_parts(Call& call, const PreparedWeight& weight, const float* x, std::byte* memory) {
  const Sizes sizes = weight_sizes(call.attributes);
  const std::int64_t m = rows_of(call.input(0).sizes()), n = sizes[0], k = sizes[1];
  const PackedRows rows = rows_in(weight, call, kLinearCodes);
  auto* const values = reinterpret_cast<float*>(memory);
  auto* const rest = reinterpret_cast<float*>(memory + lines(part_bytes(sizes)));
  const float* const bias = call.input(kBias).data<float>();
  const kernels::Activation activation =
      activation_called(call.attributes.get<std::string>("activation"));
  float* const y = call.output().data<float>();
  for (std::int64_t first = 0; first < n; first += part_rows(sizes)) {
    const std::int64_t count = std::min(part_rows(sizes), n - first);
    rows.read(call.pool(), first, count, values);
    kernels::gemm(call.pool(), {m, count, k}, {x, k, 1}, {values, 1, k}, y + first, n,
                  {.bias = bias + first, .activation = activation}, rest);
  }
}

std::int64_t packed_linear_bytes(const CallSite& site, const Bindings& bindings) {
  return product_bytes(resolve(site.inputs[0].shape, bindings), weight_sizes(site.attributes));
}

void packed_linear(Call& call) {
  with_weight<prepare_panels>(call, [&](const PreparedWeight& weight) {
    multiply_parts(call, weight, call.input(0).data<float>(),
                   static_cast<std::byte*>(call.workspace));
  });
}

// The same of a rounded input.
std::int64_t rounded_bytes(const Sizes& x) {
  return lines(element_count(x) * static_cast<std::int64_t>(sizeof(float)));
}

std::int64_t rounded_linear_bytes(const CallSite& site, const Bindings& bindings) {
  const Sizes x = resolve(site.inputs[0].shape, bindings);
  return rounded_bytes(x) + product_bytes(x, weight_sizes(site.attributes));
}

void rounded_linear(Call& call) {
  const Tensor& x = call.input(0);
  const Format& format = input_format_of(call.attributes);
  const std::size_t first = kLinearStates + states_of(format_of(call.attributes)).size();
  const std::vector<Tensor> state = states_from(call, first, format);
  auto* const memory = static_cast<std::byte*>(call.workspace);
  auto* const rounded = reinterpret_cast<float*>(memory);
  format.def->quantize({format, x.sizes(), x.values<float>(), state}, call.pool(),
                       {rounded, static_cast<std::size_t>(x.count())});
  with_weight<prepare_panels>(call, [&](const PreparedWeight& weight) {
    multiply_parts(call, weight, rounded, memory + rounded_bytes(x.sizes()));
  });
}

// ---- products of integers: the formats that fit each other

bool is_symmetric_int(const Format& format) {
  return format.def->name == "int" && format["bits"] <= 8 && format.is("range", "symmetric") &&
         format.is("mode", "fixed");
}

bool has_blocks_along_rows(const Format& format, std::int64_t rank) {
  return format.is("mode", "fixed") && (format["axis"] == -1 || format["axis"] == rank - 1);
}

// Weights with a scale per row or one for all, inputs rounded to `int` with a scale per token or one for all.
bool fits_per_row(const CallSite& site) {
  const Format &weight = format_of(site.attributes), &input = input_format_of(site.attributes);
  if (!is_symmetric_int(weight) || !is_symmetric_int(input)) return false;
  return !input.is("scale", "dynamic") || input.is("per", "token");
}

// Whole numbers in blocks with powers of two for scales.
bool is_integer_in_blocks(const Format& weight) {
  const bool is_mxint = weight.def->name == "mxint" && weight["bits"] <= 8;
  const bool is_mxfp4 = weight.def->name == "mxfp" && weight.is("element", "e2m1");
  if (!is_mxint && !is_mxfp4) return false;
  const std::int64_t block = weight["block"];
  return has_blocks_along_rows(weight, 2) && block % 16 == 0 && block <= kernels::kMostInt8Block;
}

// Weights and inputs in blocks of one size.
bool fits_per_block(const CallSite& site) {
  const Format &weight = format_of(site.attributes), &input = input_format_of(site.attributes);
  return is_integer_in_blocks(weight) && input.def->name == "mxint" && input["bits"] <= 8 &&
         has_blocks_along_rows(input, site.inputs[0].rank()) && weight["block"] == input["block"];
}

std::string_view weights_are_integers(const CallSite& site) {
  const Format& weight = format_of(site.attributes);
  return is_symmetric_int(weight) || is_integer_in_blocks(weight)
             ? ""
             : "weights are no whole numbers times scales of rows or blocks";
}

std::string_view sums_of_codes(const CallSite& site) {
  if (weight_sizes(site.attributes)[1] > kernels::kMostInt8Columns)
    return "more columns than integers can sum up";
  return fits_per_row(site) || fits_per_block(site)
             ? ""
             : "no product of integers for these formats of weight and input";
}

Int8Shape int8_shape(const Sizes& x, const Attributes& attributes) {
  const Format& format = format_of(attributes);
  const std::int64_t columns = x.back();
  const bool blocks = format.def->name != "int";
  return {rows_of(x), columns, blocks ? format["block"] : columns};
}

// The whole numbers that units are multiples of, and what of.
void set_integers(const PreparedWeight& weight, Int8Weight& integers) {
  const std::vector<float>& units = weight.units.units;
  float unit = std::numeric_limits<float>::infinity();
  for (const float value : units)
    if (value != 0) unit = std::min(unit, std::fabs(value));
  integers.unit = unit;
  if (integers.bits > 4) return;
  const std::uint8_t flip = weight.layout.matrix.flip;
  for (std::size_t code = 0; code < units.size(); ++code)
    integers.values[code ^ flip] = static_cast<std::uint8_t>(128 + std::lround(units[code] / unit));
}

PreparedWeight prepare_integers(const Call& call) {
  PreparedWeight weight = prepare_panels(call);
  const kernels::PackedMatrix& m = weight.layout.matrix;
  weight.integers = {.rows = m.rows, .columns = m.columns, .bits = m.bits};
  set_integers(weight, weight.integers);
  if (weight.layout.scale_blocks > 0) return weight;
  const PackedRows rows = rows_in(weight, call, kLinearCodes);
  for (std::int64_t row = 0; row < m.rows; ++row)
    weight.row_scales.push_back(rows.scale(row, 0) * weight.integers.unit);
  weight.integers.unit = 1;
  return weight;
}

std::int64_t native_linear_bytes(const CallSite& site, const Bindings& bindings) {
  return static_cast<std::int64_t>(kernels::int8_rows_bytes(
      int8_shape(resolve(site.inputs[0].shape, bindings), site.attributes)));
}

void round_input(Call& call, const Int8Rows& rows) {
  const Tensor& x = call.input(0);
  const Format& format = input_format_of(call.attributes);
  const int bits = static_cast<int>(format["bits"]);
  if (format.def->name == "mxint") {
    kernels::Int8Blocks blocks{.bits = bits};
    // The smallest power of two that makes nothing saturate, see formats/mxint.cpp.
    if (format.is("scale", "ceil")) blocks.next_from = (1u << 23) - (1u << (25 - bits)) + 1;
    return kernels::round_rows_in_blocks(call.pool(), x.data<float>(), blocks, rows);
  }
  kernels::Int8Grid grid{.bits = bits};
  const std::size_t first = kLinearStates + states_of(format_of(call.attributes)).size();
  const std::vector<Tensor> state = states_from(call, first, format);
  if (!state.empty()) grid.scale = units_of({format, x.sizes(), {}, state})->scales.at(0);
  kernels::round_rows(call.pool(), x.data<float>(), grid, rows);
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

kernels::Epilogue epilogue_of(const Call& call) {
  return {.bias = call.input(kBias).data<float>(),
          .activation = activation_called(call.attributes.get<std::string>("activation"))};
}

void native_linear(Call& call) {
  with_weight<prepare_integers>(call, [&](const PreparedWeight& prepared) {
    const Int8Rows rows =
        kernels::int8_rows(int8_shape(call.input(0).sizes(), call.attributes), call.workspace);
    round_input(call, rows);
    kernels::int8_product(call.pool(), rows, weight_of(call, prepared), epilogue_of(call),
                          call.output().data<float>(), prepared.integers.rows);
  });
}

void weight_only_linear(Call& call) {
  with_weight<prepare_integers>(call, [&](const PreparedWeight& prepared) {
    const Int8Shape shape = int8_shape(call.input(0).sizes(), call.attributes);
    kernels::weight_only_product(call.pool(),
                                 {call.input(0).data<float>(), shape.rows, shape.columns},
                                 weight_of(call, prepared), shape.block, epilogue_of(call),
                                 call.output().data<float>(), prepared.integers.rows);
  });
}

}  // namespace

Format native_input(const Format& weight, const FormatTable& formats, InputScales scales) {
  const bool calibrated = scales == InputScales::calibrated;
  if (is_symmetric_int(weight))
    return parse_format(calibrated ? "int(bits=8,scale=static)" : "int(bits=8,per=token)", formats);
  user_check(is_integer_in_blocks(weight),
             "products of weights in {} and rounded inputs are not of codes on this version; those "
             "of int(bits=2 to 8), "
             "mxint(bits=2 to 8) in blocks of 16 to 256, and mxfp(element=e2m1) are",
             to_string(weight));
  user_check(!calibrated,
             "inputs of products with weights in {} take the scales of their blocks from their own "
             "values; leave `static` out, or give weights in int",
             to_string(weight));
  return parse_format(fmt::format("mxint(bits=8,block={})", weight["block"]), formats);
}

KernelTable packed_kernels() {
  return {
      {"native_linear", "cpu", "integers", sums_of_codes, native_linear, Layout::dense,
       prepare_once<prepare_integers>, native_linear_bytes, /*native=*/true},
      {"native_linear", "cpu", "panels", has_fast_values, rounded_linear, Layout::dense,
       prepare_once<prepare_panels>, rounded_linear_bytes},
      {"packed_embedding", "cpu", "rows", has_fast_values, packed_embedding, Layout::dense,
       prepare_once<prepare_table>},
      {"packed_linear", "cpu", "integers", weights_are_integers, weight_only_linear, Layout::dense,
       prepare_once<prepare_integers>},
      {"packed_linear", "cpu", "panels", has_fast_values, packed_linear, Layout::dense,
       prepare_once<prepare_panels>, packed_linear_bytes},
  };
}

}  // namespace hone
