#include "hone/compressed_tensors/coded_layer.h"

#include <algorithm>
#include <cmath>

#include "hone/formats/code_table.h"
#include "hone/kernels/grain.h"

namespace hone {
namespace {

bool has_zero_points(const CodeUnits& units) {
  return units.shared_zero_points || !units.offsets.empty();
}

// Returns whether values are units times scales.
bool are_products(const std::optional<CodeUnits>& units) {
  return units && !units->half && !units->divides;
}

Json scheme_of(const CodeTable& type, bool symmetric, std::string_view strategy, bool dynamic) {
  return {{"num_bits", type.bits},
          {"type", type.of_floats ? "float" : "int"},
          {"symmetric", symmetric},
          {"strategy", strategy},
          {"dynamic", dynamic}};
}

std::optional<CodedInputs> integers_by_own_scales(const CodeUnits& units, std::int64_t columns) {
  // Scales from a table are powers of two.
  if (!units.scales.empty() || (units.group != 0 && units.group != columns)) return std::nullopt;
  const std::string_view strategy = units.group == 0 ? "tensor" : "token";
  CodedInputs inputs{
      .scheme = scheme_of(kInt8Codes, !has_zero_points(units), strategy, /*dynamic=*/true)};
  if (!has_zero_points(units))
    inputs.note =
        "scales of inputs are the largest magnitude / 127.5 in compressed-tensors and / 127 in "
        "hone";
  return inputs;
}

std::optional<CodedInputs> integers_by_known_scale(const CodeUnits& units, float step) {
  const float scale = units.scales[0] * step;
  CodedInputs inputs{
      .scheme = scheme_of(kInt8Codes, !has_zero_points(units), "tensor", /*dynamic=*/false)};
  inputs.tensors.emplace("input_scale", Tensor::of<float>({1}, {scale}));
  if (!units.offsets.empty()) {
    const float zero = -units.offsets[0] / step - 128;
    if (!(zero >= -128 && zero <= 127)) return std::nullopt;
    inputs.tensors.emplace("input_zero_point",
                           Tensor::of<std::int8_t>({1}, {static_cast<std::int8_t>(zero)}));
  }
  return inputs;
}

// Requires all fp8 values, and no other values in their range.
std::optional<CodedInputs> floats_by_known_scale(const CodeUnits& units) {
  const std::optional<Recoding> recoding = recoded(units, kFp8Codes);
  if (!recoding || has_zero_points(units)) return std::nullopt;
  const float highest = 448 * recoding->step;
  for (std::size_t code = 0; code < units.units.size(); ++code)
    if (recoding->codes[code] < 0 && std::fabs(units.units[code]) <= highest) return std::nullopt;
  for (std::size_t code = 1; code < 127; ++code)
    if (!recoding->encodes(static_cast<int>(code))) return std::nullopt;
  const float scale = units.scales[0] * recoding->step;
  CodedInputs inputs{.scheme = scheme_of(kFp8Codes, true, "tensor", /*dynamic=*/false),
                     .of_floats = true};
  inputs.tensors.emplace("input_scale", Tensor::of<float>({1}, {scale}));
  if (!recoding->has_all())
    inputs.note = fmt::format("inputs above {} are rounded to {}, the largest fp8 (E4M3) value",
                              448 * scale, 448 * scale);
  return inputs;
}

/// The scales of a matrix.
struct Scales {
  std::int64_t group = 0, groups = 0;  // elements per group, groups per row
  std::vector<float> values = {};      // row by row
};

Scales scales_of(const PackedTensor& tensor, const CodeUnits& units) {
  const auto [rows, columns] = std::pair(tensor.layout.matrix.rows, tensor.layout.matrix.columns);
  Scales scales{.group = units.group == 0 ? columns : std::min(units.group, columns)};
  scales.groups = (columns + scales.group - 1) / scales.group;
  tensor.with_rows(&units, [&](const PackedRows& read) {
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t group = 0; group < scales.groups; ++group)
        scales.values.push_back(read.scale(row, group));
  });
  return scales;
}

constexpr std::int64_t kGroupOfMx = 32;
constexpr int kBiasOfE8m0 = 127;

// Stores the scales as exponents of powers of two; nothing if they are not.
std::optional<Tensor> as_e8m0(const Scales& scales, std::int64_t rows, float step) {
  std::vector<std::uint8_t> codes;
  for (const float value : scales.values) {
    if (!is_power_of_two(value)) return std::nullopt;
    const int code = std::ilogb(value) + std::ilogb(step) + kBiasOfE8m0;
    if (code < 0 || code > 254) return std::nullopt;
    codes.push_back(static_cast<std::uint8_t>(code));
  }
  return Tensor::of({rows, scales.groups}, codes);
}

std::optional<Tensor> as_floats(const Scales& scales, std::int64_t rows, float step) {
  std::vector<float> values;
  for (const float value : scales.values) {
    const float scale = value * step;
    if (!std::isfinite(scale) || scale / step != value) return std::nullopt;
    values.push_back(scale);
  }
  return Tensor::of({rows, scales.groups}, values);
}

// Packs codes into rows of bytes with elements of 4 or 8 bits, the first in the lowest bits.
Tensor rows_of_codes(const std::vector<std::uint16_t>& elements, std::int64_t columns,
                     const std::vector<std::uint8_t>& bytes, int bits, DType dtype, Sizes sizes,
                     ThreadPool& pool) {
  Tensor tensor = Tensor::zeros(dtype, std::move(sizes));
  const std::int64_t rows = tensor.size(0);
  const auto stride =
      static_cast<std::int64_t>(tensor.size_bytes()) / std::max<std::int64_t>(rows, 1);
  auto* const to = reinterpret_cast<std::uint8_t*>(tensor.device_pointer());
  parallel_ranges(
      pool, rows, kernels::rows_per_chunk(columns), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
          const std::uint16_t* const from = elements.data() + row * columns;
          std::uint8_t* const line = to + row * stride;
          if (bits == 8) {
            for (std::int64_t i = 0; i < columns; ++i) line[i] = bytes[from[i]];
            continue;
          }
          for (std::int64_t i = 0; i < columns; ++i)
            line[i / 2] =
                static_cast<std::uint8_t>(line[i / 2] | bytes[from[i]] << (i % 2 == 0 ? 0 : 4));
        }
      });
  return tensor;
}

std::int64_t words(std::int64_t bits) { return (bits + 31) / 32; }

// Encodes the weight with elements of this type. Returns nothing if the type lacks its values, or the package has no
// such layout.
std::optional<CodedWeight> coded_as(const CodeTable& type, const PackedTensor& tensor,
                                    const CodeUnits& units, const Scales& scales,
                                    const std::vector<std::uint16_t>& elements,
                                    const std::optional<CodedInputs>& inputs, ThreadPool& pool) {
  const std::int64_t rows = tensor.layout.matrix.rows, columns = tensor.layout.matrix.columns;
  const std::optional<Recoding> recoding = recoded(units, type);
  // Other types must cover the whole format, so that layers of one format have one scheme.
  if (!recoding || !(recoding->has_all() || (&type == &kFp8Codes && recoding->covers(elements))))
    return std::nullopt;
  CodedWeight weight;
  const std::optional<Tensor> exponents = type.of_floats && scales.group == kGroupOfMx
                                              ? as_e8m0(scales, rows, recoding->step)
                                              : std::nullopt;
  if (&type == &kFp4Codes && !exponents) return std::nullopt;
  const std::optional<Tensor> scale =
      exponents ? exponents : as_floats(scales, rows, recoding->step);
  if (!scale) return std::nullopt;
  const bool by_groups = scales.groups > 1 || exponents;
  weight.scheme = scheme_of(type, true, by_groups ? "group" : "channel", /*dynamic=*/false);
  if (by_groups) weight.scheme["group_size"] = scales.group;
  if (exponents) weight.scheme["scale_dtype"] = "torch.uint8";
  weight.in_bfloat16 = exponents.has_value();
  weight.tensors.emplace("weight_scale", *scale);

  std::vector<std::uint8_t> bytes;
  for (const int code : recoding->codes)
    bytes.push_back(static_cast<std::uint8_t>(std::max(code, 0)));
  const auto codes = [&](int bits, DType dtype, std::int64_t width) {
    return rows_of_codes(elements, columns, bytes, bits, dtype, {rows, width}, pool);
  };
  if (&type == &kFp8Codes) {
    weight.format = exponents ? "mxfp8-quantized" : "float-quantized";
    weight.rounds_inputs = inputs && inputs->of_floats && !exponents;
    weight.of_float8 = true;
    weight.tensors.emplace("weight", codes(8, DType::u8, columns));
  } else if (&type == &kFp4Codes) {
    weight.format = "mxfp4-pack-quantized";
    weight.tensors.emplace("weight_packed", codes(4, DType::u8, columns / 2));
  } else if (inputs && !inputs->of_floats) {
    weight.format = "int-quantized";
    weight.rounds_inputs = true;
    for (std::uint8_t& byte : bytes)
      byte = static_cast<std::uint8_t>(byte - (1 << (type.bits - 1)));
    weight.tensors.emplace("weight", codes(8, DType::i8, columns));
  } else {
    weight.format = "pack-quantized";
    weight.tensors.emplace("weight_packed",
                           codes(type.bits, DType::i32, words(columns * type.bits)));
    weight.tensors.emplace("weight_shape", Tensor::of<std::int64_t>({2}, {rows, columns}));
  }
  return weight;
}

}  // namespace

std::optional<CodedInputs> coded_inputs(const Format& format, const std::vector<Tensor>& state,
                                        std::int64_t columns) {
  const Sizes sizes = {2, columns};
  const CodeLayout layout = format.def->layout(format, sizes);
  const std::optional<CodeUnits> units = units_of({format, sizes, {}, state});
  if (layout.element_bits != 8 || layout.half_scales || !are_products(units)) return std::nullopt;
  const bool dynamic = layout.shared_count > 0;
  if (!dynamic && units->scales.size() != 1) return std::nullopt;
  const CodeTable& type = has_zero_points(*units) ? kUint8Codes : kInt8Codes;
  if (const auto whole = recoded(*units, type); whole && whole->has_all() && whole->encodes(255))
    return dynamic ? integers_by_own_scales(*units, columns)
                   : integers_by_known_scale(*units, whole->step);
  return dynamic ? std::nullopt : floats_by_known_scale(*units);
}

WeightCoding coded_weight(const PackedTensor& tensor, const std::optional<CodedInputs>& inputs,
                          ThreadPool& pool) {
  const std::optional<CodeUnits> units = units_of(tensor.input());
  if (!are_products(units)) return {{}, "their values are not products of codes and scales"};
  if (has_zero_points(*units))
    return {{}, "transformers does not support weights with zero points"};
  const std::int64_t columns = tensor.layout.matrix.columns;
  const Scales scales = scales_of(tensor, *units);
  if (columns % scales.group != 0)
    return {{}, fmt::format("{} columns do not divide into groups of {}", columns, scales.group)};
  const std::vector<std::uint16_t> elements =
      element_codes(tensor.layout, tensor.packed.codes.data<std::uint8_t>(), pool);
  for (const CodeTable* type : {&kInt4Codes, &kFp4Codes, &kInt8Codes, &kFp8Codes})
    if (auto weight = coded_as(*type, tensor, *units, scales, elements, inputs, pool))
      return {std::move(weight)};
  return {{}, "their values are not int4, int8, fp4 or fp8 numbers times scales"};
}

}  // namespace hone
