#include "hone/onnx/quantized_form.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "hone/formats/code_table.h"
#include "hone/onnx/operations.h"
#include "hone/passes/pack.h"

namespace hone {
namespace {

constexpr const char* kSaturation =
    "on processors with AVX2 and without VNNI, sums in ONNX Runtime's products of uint8 and int8 "
    "saturate; weights of 7 bits, int(bits=7), have room";

constexpr const char* kRoundedInputs =
    "ONNX Runtime rounds fp32 inputs of products with weights of few bits to int8 by itself; its "
    "session option session.qdq_matmulnbits_accuracy_level=0 keeps them in fp32";

Tensor dense_values(const OnnxBuilder& to, Value parameter) {
  const Tensor tensor = to.values_of(*parameter.node);
  return tensor.contiguous() ? tensor : tensor.contiguous_copy();
}

// Units that are integer multiples of a power of two.
struct WholeUnits {
  float step = 1;
  float lowest = 0, highest = 0;   // in steps
  std::vector<int> of_codes = {};  // in steps
};

std::optional<WholeUnits> whole_units(const CodeUnits& units) {
  if (units.half || units.divides) return std::nullopt;
  WholeUnits whole{.step = smallest_unit(units)};
  int exponent = 0;
  if (!std::isfinite(whole.step) || std::frexp(whole.step, &exponent) != 0.5F) return std::nullopt;
  for (const float unit : units.units) {
    const float steps = std::isnan(unit) ? 0 : unit / whole.step;
    if (std::nearbyint(steps) != steps || std::fabs(steps) > 255) return std::nullopt;
    whole.lowest = std::min(whole.lowest, steps);
    whole.highest = std::max(whole.highest, steps);
    whole.of_codes.push_back(static_cast<int>(steps));
  }
  return whole;
}

// A packed matrix for DequantizeLinear: (code - zero point) * scale.
struct CodedMatrix {
  PackedTensor tensor;
  OnnxType type = OnnxType::i8;
  std::int64_t rows = 0, columns = 0;
  std::int64_t groups = 0;              // per row, each with a scale; 0: one scale for all
  std::vector<float> scales = {};       // row by row
  std::vector<float> zero_points = {};  // one per scale; empty: all are 0
  std::vector<int> of_codes = {};       // by the format's code
};

std::optional<OnnxType> type_for(const WholeUnits& units, bool zero_points, int opset) {
  constexpr int kFirstWithFourBits = 21;
  const bool four = opset >= kFirstWithFourBits;
  if (zero_points) {
    if (units.lowest < 0) return std::nullopt;
    return four && units.highest <= 15 ? OnnxType::u4 : OnnxType::u8;
  }
  if (four && units.lowest >= -8 && units.highest <= 7) return OnnxType::i4;
  if (units.lowest >= -128 && units.highest <= 127) return OnnxType::i8;
  return std::nullopt;
}

// The ONNX type for a format's codes, and the codes in that type.
struct StoredCodes {
  OnnxType type;
  float step;  // the unit of a value of 1
  std::vector<int> of_codes;
};

std::optional<StoredCodes> stored_codes(const CodeUnits& units, bool zero_points,
                                        const PackedTensor& tensor, int opset) {
  constexpr int kFirstWithEightBitFloats = 19;
  if (units.half || units.divides) return std::nullopt;
  if (const std::optional<WholeUnits> whole = whole_units(units))
    if (const std::optional<OnnxType> type = type_for(*whole, zero_points, opset))
      return StoredCodes{*type, whole->step, whole->of_codes};
  if (zero_points || opset < kFirstWithEightBitFloats) return std::nullopt;
  ThreadPool alone(1);
  const std::optional<Recoding> recoding = recoded(units, kFp8Codes);
  const bool fits =
      recoding &&
      (recoding->has_all() || recoding->covers(element_codes(
                                  tensor.layout, tensor.packed.codes.data<std::uint8_t>(), alone)));
  return fits ? std::optional(StoredCodes{OnnxType::f8, recoding->step, recoding->codes})
              : std::nullopt;
}

std::optional<CodedMatrix> coded_matrix(const OnnxBuilder& to, Node& unpack) {
  constexpr int kFirstWithBlocks = 21;
  CodedMatrix matrix{.tensor = packed_tensor(unpack, to.parameters())};
  const PackedTensor& tensor = matrix.tensor;
  const std::optional<CodeUnits> units = units_of(tensor.input());
  if (!units) return std::nullopt;
  const bool has_zeros = units->shared_zero_points || !units->offsets.empty();
  const std::optional<StoredCodes> stored = stored_codes(*units, has_zeros, tensor, to.opset());
  if (!stored) return std::nullopt;
  matrix.type = stored->type;
  matrix.rows = tensor.layout.matrix.rows;
  matrix.columns = tensor.layout.matrix.columns;
  matrix.of_codes = stored->of_codes;
  if (units->group > 0) {
    if (tensor.sizes.size() != 2) return std::nullopt;  // rows are not an axis
    matrix.groups = (matrix.columns + units->group - 1) / units->group;
    if (matrix.groups > 1 && (to.opset() < kFirstWithBlocks || matrix.columns % units->group != 0))
      return std::nullopt;
  }
  tensor.with_rows(&*units, [&](const PackedRows& rows) {
    for (std::int64_t row = 0; row < (units->group > 0 ? matrix.rows : 1); ++row)
      for (std::int64_t group = 0; group < std::max<std::int64_t>(1, matrix.groups); ++group) {
        matrix.scales.push_back(rows.scale(row, group) * stored->step);
        if (has_zeros) matrix.zero_points.push_back(-rows.offset(row, group) / stored->step);
      }
  });
  const float largest = matrix.type == OnnxType::u4 ? 15 : 255;
  const bool fit = std::ranges::all_of(matrix.scales, [](float s) { return std::isfinite(s); }) &&
                   std::ranges::all_of(matrix.zero_points, [&](float zero) {
                     return zero >= 0 && zero <= largest && std::nearbyint(zero) == zero;
                   });
  return fit ? std::optional(std::move(matrix)) : std::nullopt;
}

// Returns codes as bytes of the type.
std::vector<std::byte> bytes_of(OnnxType type, const std::vector<int>& codes) {
  const bool four = type == OnnxType::i4 || type == OnnxType::u4;
  std::vector<std::byte> bytes(onnx_bytes(type, std::ssize(codes)));
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (four)
      bytes[i / 2] |= static_cast<std::byte>((codes[i] & 15) << (i % 2 == 0 ? 0 : 4));
    else
      bytes[i] = static_cast<std::byte>(codes[i] & 255);
  }
  return bytes;
}

std::vector<int> codes_of(const CodedMatrix& m, bool transposed) {
  ThreadPool alone(1);
  const std::vector<std::uint16_t> elements =
      element_codes(m.tensor.layout, m.tensor.packed.codes.data<std::uint8_t>(), alone);
  std::vector<int> codes(elements.size());
  for (std::int64_t row = 0; row < m.rows; ++row)
    for (std::int64_t column = 0; column < m.columns; ++column)
      codes[static_cast<std::size_t>(transposed ? column * m.rows + row
                                                : row * m.columns + column)] =
          m.of_codes[elements[static_cast<std::size_t>(row * m.columns + column)]];
  return codes;
}

Sizes sizes_of(const CodedMatrix& m, bool transposed) {
  return transposed ? Sizes{m.columns, m.rows} : m.tensor.sizes;
}

std::string codes_constant(OnnxBuilder& to, const std::string& parameter, const CodedMatrix& m,
                           bool transposed) {
  const std::int64_t count = m.rows * m.columns;
  return to.constant({.name = parameter + "_quantized",
                      .type = m.type,
                      .sizes = sizes_of(m, transposed),
                      .bytes = onnx_bytes(m.type, count),
                      .write = [m, transposed](const ByteSink& sink) {
                        sink(bytes_of(m.type, codes_of(m, transposed)));
                      }});
}

// Arranges scales and zero points: () for a tensor, (rows) for rows, (rows, groups) or (groups, rows) for groups.
template <typename T>
std::vector<T> laid_out(const CodedMatrix& m, const std::vector<T>& of_groups, bool transposed) {
  if (!transposed || m.groups <= 1) return of_groups;
  std::vector<T> turned;
  for (std::int64_t group = 0; group < m.groups; ++group)
    for (std::int64_t row = 0; row < m.rows; ++row)
      turned.push_back(of_groups[static_cast<std::size_t>(row * m.groups + group)]);
  return turned;
}
Sizes group_sizes(const CodedMatrix& m, bool transposed) {
  if (m.groups == 0) return {};
  if (m.groups == 1) return {m.rows};
  return transposed ? Sizes{m.groups, m.rows} : Sizes{m.rows, m.groups};
}

std::string scales_constant(OnnxBuilder& to, const std::string& parameter, const CodedMatrix& m,
                            bool transposed) {
  return to.constant({.name = parameter + "_scale",
                      .type = OnnxType::f32,
                      .sizes = group_sizes(m, transposed),
                      .bytes = onnx_bytes(OnnxType::f32, std::ssize(m.scales)),
                      .write = [scales = laid_out(m, m.scales, transposed)](const ByteSink& sink) {
                        sink(std::as_bytes(std::span(scales)));
                      }});
}

std::string zero_points_constant(OnnxBuilder& to, const std::string& parameter,
                                 const CodedMatrix& m, bool transposed) {
  if (m.zero_points.empty()) return "";
  const std::vector<int> zeros(m.zero_points.begin(), m.zero_points.end());
  return to.constant({.name = parameter + "_zero_point",
                      .type = m.type,
                      .sizes = group_sizes(m, transposed),
                      .bytes = onnx_bytes(m.type, std::ssize(zeros)),
                      .write = [bytes = bytes_of(m.type, laid_out(m, zeros, transposed))](
                                   const ByteSink& sink) { sink(bytes); }});
}

std::string dequantized(OnnxBuilder& to, Node& unpack, const CodedMatrix& m, bool transposed) {
  const std::string parameter = packed_parameter(unpack);
  std::vector<std::string> inputs = {codes_constant(to, parameter, m, transposed),
                                     scales_constant(to, parameter, m, transposed)};
  if (std::string zeros = zero_points_constant(to, parameter, m, transposed); !zeros.empty())
    inputs.push_back(std::move(zeros));
  OnnxAttributes attributes;
  if (m.groups == 1) {
    attributes = {{"axis", std::int64_t{transposed ? 1 : 0}}};
  } else if (m.groups > 1) {
    attributes = {{"axis", std::int64_t{transposed ? 0 : 1}}, {"block_size", m.columns / m.groups}};
  }
  return to.add("DequantizeLinear", std::move(inputs), std::move(attributes));
}

// Exports weights that cannot be expressed as codes and scales.
std::string values_constant(OnnxBuilder& to, Node& unpack) {
  const PackedTensor tensor = packed_tensor(unpack, to.parameters());
  to.note(
      fmt::format("weights in {} are stored as fp32 values, because opset {} cannot express "
                  "their codes and scales",
                  to_string(tensor.format), to.opset()));
  return to.constant({.name = packed_parameter(unpack),
                      .type = OnnxType::f32,
                      .sizes = tensor.sizes,
                      .bytes = onnx_bytes(OnnxType::f32, element_count(tensor.sizes)),
                      .write = [tensor](const ByteSink& sink) {
                        ThreadPool alone(1);
                        const Tensor values = tensor.values(alone);
                        sink({values.device_pointer(), values.size_bytes()});
                      }});
}

// Returns whether scales are computed from the rounded values.
bool is_dynamic(const Format& format) {
  return format.def->layout(format, {1, 1}).shared_count > 0;
}

// Returns whether the format is 8-bit integers with scales computed from the values.
bool is_dynamic_in_eight_bits(const Format& format) {
  if (!is_dynamic(format) || format.def->layout(format, {1, 1}).element_bits != 8) return false;
  const std::optional<CodeUnits> units = units_for_any_state(format, {1, 1});
  return units && whole_units(*units).has_value();
}

// Returns whether a matrix is int8 with scales per row or one for all, as integer products require.
bool is_of_integers(const std::optional<CodedMatrix>& matrix) {
  return matrix && matrix->groups <= 1 && matrix->type == OnnxType::i8;
}

// Returns whether only integer products, which round it, read a quantizer's result.
bool is_rounded_by_products(const OnnxBuilder& to, Node& quantizer) {
  if (!is_dynamic_in_eight_bits(quantizer.attributes().get<Format>("format"))) return false;
  return std::ranges::all_of(quantizer.users(), [&](Node* user) {
    return user->is("linear") && user->input(0) == quantizer.result() &&
           is_packed_weight(user->input(1)) &&
           is_of_integers(coded_matrix(to, *user->input(1).node));
  });
}

std::string constant_of_quantizer(OnnxBuilder& to, Node& quantizer) {
  const Tensor x = dense_values(to, quantizer.input(0));
  std::vector<Tensor> state;
  for (std::size_t i = 1; i < quantizer.inputs().size(); ++i)
    state.push_back(dense_values(to, quantizer.input(i)));
  return to.constant({.name = quantizer.input(0).node->name(),
                      .type = OnnxType::f32,
                      .sizes = x.sizes(),
                      .bytes = x.size_bytes(),
                      .write = [x, state, format = quantizer.attributes().get<Format>("format")](
                                   const ByteSink& sink) {
                        const Tensor y = Tensor::empty(DType::f32, x.sizes());
                        ThreadPool alone(1);
                        format.def->quantize({format, x.sizes(), x.values<float>(), state}, alone,
                                             y.values<float>());
                        sink({y.device_pointer(), y.size_bytes()});
                      }});
}

// Exports integers of at most 8 bits with one static scale; empty for other formats.
std::string rounded_by_known_scale(OnnxBuilder& to, Node& quantizer) {
  const Format& format = quantizer.attributes().get<Format>("format");
  std::vector<Tensor> state;
  for (std::size_t i = 1; i < quantizer.inputs().size(); ++i)
    state.push_back(dense_values(to, quantizer.input(i)));
  if (is_dynamic(format)) return "";
  const Sizes one = {1};
  const std::optional<CodeUnits> units = units_of({format, one, {}, state});
  if (!units || units->scales.size() != 1) return "";
  const std::optional<WholeUnits> whole = whole_units(*units);
  if (!whole || whole->highest - whole->lowest > 255) return "";
  // uint8, because engines have no fast products of int8 by int8.
  const float offset = units->offsets.empty() ? -128 : units->offsets[0] / whole->step;
  const float scale = units->scales[0] * whole->step;
  const float lowest = whole->lowest + (units->offsets.empty() ? 0 : offset),
              highest = whole->highest + (units->offsets.empty() ? 0 : offset);
  if (-offset < 0 || -offset > 255 || lowest < offset || highest > 255 + offset) return "";
  std::string x = to.name_of(quantizer.input(0));
  if (lowest > offset + 1 || highest < 255 + offset)
    x = to.add("Clip", {x, to.number(lowest * scale), to.number(highest * scale)});
  const std::string by = to.number(scale), zero = to.byte(static_cast<std::uint8_t>(-offset));
  return to.add("DequantizeLinear", {to.add("QuantizeLinear", {x, by, zero}), by, zero});
}

// Returns a matrix (N, K) as (K, N), for a product with x.
std::string packed_matrix(OnnxBuilder& to, Value x, Node& unpack) {
  std::string& name = to.shared(unpack.result(), "matrix");
  if (!name.empty()) return name;
  const std::optional<CodedMatrix> matrix = coded_matrix(to, unpack);
  if (matrix) {
    const bool rounded = x.node->is("quantize") && to.name_of(x) != to.name_of(x.node->input(0));
    if (matrix->type != OnnxType::f8) to.note(rounded ? kSaturation : kRoundedInputs);
    return name = dequantized(to, unpack, *matrix, /*transposed=*/true);
  }
  return name = to.add("Transpose", {values_constant(to, unpack)},
                       {{"perm", std::vector<std::int64_t>{1, 0}}});
}

// Adds the integer product of dynamically quantized x and integer weights. Returns "" if it does not apply.
std::string whole_product(OnnxBuilder& to, Value x, Node& unpack) {
  if (!x.node->is("quantize") || !is_rounded_by_products(to, *x.node)) return "";
  const std::optional<CodedMatrix> matrix = coded_matrix(to, unpack);
  const Format& format = x.node->attributes().get<Format>("format");
  to.note(kSaturation);
  to.note(
      fmt::format("inputs in {} are rounded by DynamicQuantizeLinear: uint8 with a zero point "
                  "and one scale for all values of a call",
                  to_string(format)));
  const Value source = x.node->input(0);
  std::string& rounded = to.shared(source, "rounded");
  std::string &scale = to.shared(source, "scale"), &zero = to.shared(source, "zero");
  if (rounded.empty()) {
    const std::vector<std::string> results =
        to.add_with_results("DynamicQuantizeLinear", {to.name_of(source)}, 3);
    rounded = results[0];
    scale = results[1];
    zero = results[2];
  }
  const std::string parameter = packed_parameter(unpack);
  const std::string product =
      to.add("MatMulInteger",
             {rounded, codes_constant(to, parameter, *matrix, /*transposed=*/true), zero});
  const std::string scales =
      to.add("Mul", {scale, scales_constant(to, parameter, *matrix, /*transposed=*/true)});
  return to.add("Mul", {to.cast(product, OnnxType::f32), scales});
}

}  // namespace

bool is_packed_weight(Value value) {
  return value.node->kind() == NodeKind::operation && value.node->is("unpack");
}

std::string packed_weight(OnnxBuilder& to, Node& unpack) {
  // Products and embeddings request their weight in the form they need; their bias is read as it is.
  const auto is_its_weight = [&](const Node* user) {
    if (!user->is("linear") && !user->is("embedding")) return false;
    for (std::size_t i = 0; i < user->inputs().size(); ++i)
      if ((user->input(i) == unpack.result()) != (i == 1)) return false;
    return true;
  };
  const bool asked = std::ranges::all_of(unpack.users(), is_its_weight);
  if (asked) return "";
  const std::optional<CodedMatrix> matrix = coded_matrix(to, unpack);
  return matrix ? dequantized(to, unpack, *matrix, /*transposed=*/false)
                : values_constant(to, unpack);
}

std::string packed_product(OnnxBuilder& to, Value x, Node& unpack) {
  if (std::string product = whole_product(to, x, unpack); !product.empty()) return product;
  return to.add("MatMul", {to.name_of(x), packed_matrix(to, x, unpack)});
}

std::string packed_rows(OnnxBuilder& to, Node& unpack, const std::string& ids) {
  const std::optional<CodedMatrix> matrix = coded_matrix(to, unpack);
  if (!matrix) return to.add("Gather", {values_constant(to, unpack), ids});
  const CodedMatrix& m = *matrix;
  const bool whole_bytes = m.type == OnnxType::i8 || m.type == OnnxType::u8;
  if (m.groups > 1 || !whole_bytes || !m.zero_points.empty())
    return to.add("Gather", {dequantized(to, unpack, m, /*transposed=*/false), ids});
  const std::string parameter = packed_parameter(unpack);
  const std::string codes =
      to.add("Gather", {codes_constant(to, parameter, m, /*transposed=*/false), ids});
  const std::string scales = scales_constant(to, parameter, m, /*transposed=*/false);
  if (m.groups == 0) return to.add("DequantizeLinear", {codes, scales});
  const std::string of_rows =
      to.add("Unsqueeze", {to.add("Gather", {scales, ids}), to.integers({-1})});
  return to.add("Mul", {to.cast(codes, OnnxType::f32), of_rows});
}

std::string rounded_value(OnnxBuilder& to, Node& quantizer) {
  if (quantizer.input(0).node->kind() == NodeKind::parameter)
    return constant_of_quantizer(to, quantizer);
  if (std::string rounded = rounded_by_known_scale(to, quantizer); !rounded.empty()) return rounded;
  if (!is_rounded_by_products(to, quantizer))
    to.note(fmt::format("inputs and outputs in {} are not rounded, because ONNX has no such format",
                        to_string(quantizer.attributes().get<Format>("format"))));
  return to.name_of(quantizer.input(0));
}

}  // namespace hone
