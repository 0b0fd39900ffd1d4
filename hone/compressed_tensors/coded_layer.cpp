#include "hone/compressed_tensors/coded_layer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/kernels/grain.h"

namespace hone {
namespace {

// What elements of a type stand for, by their codes. Those of signed integers are in offset binary.
struct ElementType {
  bool of_floats;
  int bits;
  std::vector<float> values;  // NaN: the code has none
};

ElementType integers(int bits, int lowest) {
  ElementType type{.of_floats = false, .bits = bits, .values = {}};
  for (int code = 0; code < 1 << bits; ++code)
    type.values.push_back(static_cast<float>(code + lowest));
  return type;
}

// Without infinities, as E2M1 and E4M3 are defined by OCP.
ElementType floats(int exponent_bits, int mantissa_bits, float highest) {
  ElementType type{.of_floats = true, .bits = 1 + exponent_bits + mantissa_bits, .values = {}};
  const int one = 1 << mantissa_bits, bias = (1 << (exponent_bits - 1)) - 1;
  for (int code = 0; code < 1 << type.bits; ++code) {
    const int magnitude = code & ((1 << (type.bits - 1)) - 1), exponent = magnitude / one;
    const int significand = magnitude % one + (exponent > 0 ? one : 0);
    float value =
        std::ldexp(static_cast<float>(significand), std::max(exponent, 1) - bias - mantissa_bits);
    if (value > highest) value = std::numeric_limits<float>::quiet_NaN();
    type.values.push_back(code == magnitude ? value : -value);
  }
  return type;
}

const ElementType kInt4 = integers(4, -8), kInt8 = integers(8, -128), kUint8 = integers(8, 0),
                  kFp4 = floats(2, 1, 6), kFp8 = floats(4, 3, 448);

bool is_power_of_two(float value) {
  int exponent = 0;
  return std::isfinite(value) && std::frexp(value, &exponent) == 0.5F;
}

// The codes of a format as those of an element type with the same values but for a power of two.
struct Recoding {
  float step = 1;          // the format's unit for a value of 1
  std::vector<int> codes;  // -1: the type has no such value

  bool has_all() const { return std::ranges::find(codes, -1) == codes.end(); }
  bool reaches(int code) const { return std::ranges::find(codes, code) != codes.end(); }
};

std::optional<Recoding> recoded(const CodeUnits& units, const ElementType& type) {
  float smallest = std::numeric_limits<float>::infinity();
  for (const float value : type.values)
    if (value != 0) smallest = std::fmin(smallest, std::fabs(value));
  Recoding recoding{.step = smallest_unit(units) / smallest, .codes = {}};
  if (!is_power_of_two(recoding.step)) return std::nullopt;
  for (const float unit : units.units) {
    // No weight has a code that stands for no number.
    const float value = std::isnan(unit) ? 0 : unit / recoding.step;
    const auto found = std::ranges::find(type.values, value);
    recoding.codes.push_back(
        found == type.values.end() ? -1 : static_cast<int>(found - type.values.begin()));
  }
  return recoding;
}

bool has_zero_points(const CodeUnits& units) {
  return units.shared_zero_points || !units.offsets.empty();
}

// Whether values are units times scales.
bool are_products(const std::optional<CodeUnits>& units) {
  return units && !units->half && !units->divides;
}

Json scheme_of(const ElementType& type, bool symmetric, std::string_view strategy, bool dynamic) {
  return {{"num_bits", type.bits},
          {"type", type.of_floats ? "float" : "int"},
          {"symmetric", symmetric},
          {"strategy", strategy},
          {"dynamic", dynamic}};
}

std::optional<CodedInputs> integers_by_own_scales(const CodeUnits& units, std::int64_t columns) {
  // Scales out of a table are powers of two.
  if (!units.scales.empty() || (units.group != 0 && units.group != columns)) return std::nullopt;
  const std::string_view strategy = units.group == 0 ? "tensor" : "token";
  CodedInputs inputs{.scheme =
                         scheme_of(kInt8, !has_zero_points(units), strategy, /*dynamic=*/true)};
  if (!has_zero_points(units))
    inputs.note =
        "scales of inputs are the largest magnitude / 127.5 in compressed-tensors and / 127 in "
        "hone";
  return inputs;
}

std::optional<CodedInputs> integers_by_known_scale(const CodeUnits& units, float step) {
  const float scale = units.scales[0] * step;
  CodedInputs inputs{.scheme =
                         scheme_of(kInt8, !has_zero_points(units), "tensor", /*dynamic=*/false)};
  inputs.tensors.emplace("input_scale", Tensor::of<float>({1}, {scale}));
  if (!units.offsets.empty()) {
    const float zero = -units.offsets[0] / step - 128;
    if (!(zero >= -128 && zero <= 127)) return std::nullopt;
    inputs.tensors.emplace("input_zero_point",
                           Tensor::of<std::int8_t>({1}, {static_cast<std::int8_t>(zero)}));
  }
  return inputs;
}

// All values of fp8, and none that is no larger.
std::optional<CodedInputs> floats_by_known_scale(const CodeUnits& units) {
  const std::optional<Recoding> recoding = recoded(units, kFp8);
  if (!recoding || has_zero_points(units)) return std::nullopt;
  const float highest = 448 * recoding->step;
  for (std::size_t code = 0; code < units.units.size(); ++code)
    if (recoding->codes[code] < 0 && std::fabs(units.units[code]) <= highest) return std::nullopt;
  for (std::size_t code = 1; code < 127; ++code)
    if (!recoding->reaches(static_cast<int>(code))) return std::nullopt;
  const float scale = units.scales[0] * recoding->step;
  CodedInputs inputs{.scheme = scheme_of(kFp8, true, "tensor", /*dynamic=*/false),
                     .of_floats = true};
  inputs.tensors.emplace("input_scale", Tensor::of<float>({1}, {scale}));
  if (!recoding->has_all())
    inputs.note = fmt::format("inputs above {} are rounded to {}, the largest fp8 (E4M3) value",
                              448 * scale, 448 * scale);
  return inputs;
}

/// Where the scales of a matrix are.
struct Scales {
  std::int64_t group = 0, groups = 0;  // in a row
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

// Exponents of powers of two.
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

// A matrix of bytes whose rows have elements of 4 or 8 bits, the first in the lowest.
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

// Codes that a weight really has.
bool covers(const Recoding& recoding, const std::vector<std::uint16_t>& elements) {
  return std::ranges::all_of(elements,
                             [&](std::uint16_t code) { return recoding.codes[code] >= 0; });
}

std::int64_t words(std::int64_t bits) { return (bits + 31) / 32; }

// The weight as elements of the type; nothing where the type does not have its values, or the package no such layout.
std::optional<CodedWeight> coded_as(const ElementType& type, const PackedTensor& tensor,
                                    const CodeUnits& units, const Scales& scales,
                                    const std::vector<std::uint16_t>& elements,
                                    const std::optional<CodedInputs>& inputs, ThreadPool& pool) {
  const std::int64_t rows = tensor.layout.matrix.rows, columns = tensor.layout.matrix.columns;
  const std::optional<Recoding> recoding = recoded(units, type);
  // Other types are chosen by the format alone, so that layers of one format have one scheme.
  if (!recoding || !(recoding->has_all() || (&type == &kFp8 && covers(*recoding, elements))))
    return std::nullopt;
  CodedWeight weight;
  const std::optional<Tensor> exponents = type.of_floats && scales.group == kGroupOfMx
                                              ? as_e8m0(scales, rows, recoding->step)
                                              : std::nullopt;
  if (&type == &kFp4 && !exponents) return std::nullopt;
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
  if (&type == &kFp8) {
    weight.format = exponents ? "mxfp8-quantized" : "float-quantized";
    weight.rounds_inputs = inputs && inputs->of_floats && !exponents;
    weight.of_float8 = true;
    weight.tensors.emplace("weight", codes(8, DType::u8, columns));
  } else if (&type == &kFp4) {
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
  const ElementType& type = has_zero_points(*units) ? kUint8 : kInt8;
  if (const auto whole = recoded(*units, type); whole && whole->has_all() && whole->reaches(255))
    return dynamic ? integers_by_own_scales(*units, columns)
                   : integers_by_known_scale(*units, whole->step);
  return dynamic ? std::nullopt : floats_by_known_scale(*units);
}

WeightCoding coded_weight(const PackedTensor& tensor, const std::optional<CodedInputs>& inputs,
                          ThreadPool& pool) {
  const std::optional<CodeUnits> units = units_of(tensor.input());
  if (!are_products(units)) return {{}, "their values are no products of codes and scales"};
  if (has_zero_points(*units)) return {{}, "transformers loads no weights with zero points"};
  const std::int64_t columns = tensor.layout.matrix.columns;
  const Scales scales = scales_of(tensor, *units);
  if (columns % scales.group != 0)
    return {{}, fmt::format("{} columns do not divide into groups of {}", columns, scales.group)};
  const std::vector<std::uint16_t> elements =
      element_codes(tensor.layout, tensor.packed.codes.data<std::uint8_t>(), pool);
  for (const ElementType* type : {&kInt4, &kFp4, &kInt8, &kFp8})
    if (auto weight = coded_as(*type, tensor, *units, scales, elements, inputs, pool))
      return {std::move(weight)};
  return {{}, "their values are no int4, int8, fp4 or fp8 numbers times scales"};
}

}  // namespace hone
