#include <algorithm>
#include <cmath>

#include "hone/kernels/gemm.h"
#include "hone/kernels/weight_only_product.h"
#include "hone/runtime/packed_kernels.h"
#include "hone/runtime/packed_weight.h"

// Products of floats with packed weights: `packed_linear`.
namespace hone {
namespace {

PackedWeight prepare_product(const Call& call) {
  return product_weight_of(call.attributes, call.inputs);
}

// ---- codes decoded inside the product

/// The scales that the bytes of blocks encode: 2^(e + shift - 127) `unit`.
struct BlockScales {
  int shift = 0;
  float unit = 1;
};

// Returns nothing unless the shared codes encode consecutive powers of two.
std::optional<BlockScales> block_scales_of(const CodeUnits& units) {
  const std::vector<float>& scales = units.scales;
  if (scales.size() < 2) return std::nullopt;
  // Kernels read the exponent 0 as a block of zeros. The first 8-bit exponent is as good as zero; shorter exponents
  // are shifted away from 0.
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
  PackedWeight weight;
  std::vector<float> values = {}, offsets = {}, row_scales = {};
  kernels::CodedWeight coded = {};  ///< its pointers to codes and scales are not set
};

std::string_view has_scales_of_rows_or_blocks(const CallSite& site) {
  const Format& format = format_of(site.attributes);
  const Sizes sizes = weight_sizes(site.attributes);
  const std::optional<CodeUnits> units = units_for_any_state(format, sizes);
  if (!units) return "values of the format are not products of a code and a scale";
  if (arrangement_of(site.attributes) != Arrangement::panels) return "codes are not in panels";
  if (units->divides) return "codes are divided by scales";
  const bool by_row = units->group == 0 || units->group >= sizes.back();
  const PackedLayout layout = packed_layout(format, sizes, Arrangement::panels);
  const bool in_panels = layout.scale_blocks > 0;
  return layout.codes.half_scales || (in_panels ? block_scales_of(*units).has_value() : by_row)
             ? ""
             : "scales are neither of rows nor float16 or powers of two of blocks";
}

// Integers are fastest: the smallest value becomes the unit if division by it is exact.
float unit_of_values(const CodeUnits& units) {
  const float unit = smallest_unit(units);
  int exponent = 0;
  const bool adds = units.shared_zero_points || !units.offsets.empty();
  return adds || !std::isfinite(unit) || std::frexp(unit, &exponent) != 0.5f ? 1 : unit;
}

CodedProduct prepare_codes(const Call& call) {
  CodedProduct product{.weight = prepare_product(call)};
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
  product.row_scales = row_scales_of(product.weight, call.inputs, unit);
  if (units.shared_zero_points || !units.offsets.empty())
    with_rows(product.weight, call.inputs, kLinearCodes, [&](const PackedRows& rows) {
      for (std::int64_t row = 0; row < m.rows; ++row)
        product.offsets.push_back(rows.offset(row, 0));
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

// ---- weights in any format, decoded a few rows at a time

// Returns the rows of a weight to decode at a time: a MiB of them, whole panels of packed codes and of float products.
std::int64_t rows_at_a_time(const Sizes& weight) {
  constexpr std::int64_t kElements = 256 << 10, kPanels = 96;
  const std::int64_t panels = kElements / std::max<std::int64_t>(1, kPanels * weight[1]);
  return std::min(weight[0], std::max<std::int64_t>(1, panels) * kPanels);
}

std::int64_t linear_by_rows_bytes(const CallSite& site, const Bindings& /*bindings*/) {
  const Sizes weight = weight_sizes(site.attributes);
  return rows_at_a_time(weight) * weight[1] * static_cast<std::int64_t>(sizeof(float));
}

void linear_by_rows(Call& call) {
  with_prepared<PackedWeight, prepare_product>(call, [&](const PackedWeight& weight) {
    const Tensor& x = call.input(0);
    const std::int64_t outputs = weight.sizes[0], columns = weight.sizes[1],
                       together = rows_at_a_time(weight.sizes);
    auto* const values = static_cast<float*>(call.workspace);
    float* const y = call.output().data<float>();
    with_rows(weight, call.inputs, kLinearCodes, [&](const PackedRows& rows) {
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

}  // namespace

KernelTable packed_linear_kernels() {
  return {{"packed_linear", "cpu", "codes", has_scales_of_rows_or_blocks, coded_linear,
           Layout::dense, prepare_once<CodedProduct, prepare_codes>},
          {"packed_linear", "cpu", "rows", reads_rows, linear_by_rows, Layout::dense,
           prepare_once<PackedWeight, prepare_product>, linear_by_rows_bytes}};
}

}  // namespace hone
