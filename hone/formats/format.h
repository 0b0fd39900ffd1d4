#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/thread_pool.h"
#include "hone/formats/observation.h"
#include "hone/kernels/half_conversion.h"
#include "hone/tensor/tensor.h"

/// Number formats. A format is one record (`FormatDef`); only its own file refers to it by name.
///
/// A `Format` is a record with its parameters filled in. It prints and parses:
/// `integer(width=8,frac=4)`.
///
///     Format format = parse_format("mxint(bits=8,block=32)", formats);
///     format.def->quantize({format, {128, 768}, x, {}}, pool, y);
namespace hone {

struct FormatDef;

/// The value of a parameter that prints as `auto`: decided by calibration, or by the other parameters when the format
/// is parsed.
inline constexpr std::int64_t kAuto = std::numeric_limits<std::int64_t>::min();

/// A parameter: an integer (or `auto`, if that is the default), or one of a few words.
struct FormatParameterDef {
  std::string_view name;
  std::string_view summary;  ///< with the unit
  std::int64_t minimum = 0;
  std::int64_t maximum = 0;
  std::int64_t default_value = 0;
  /// If not empty, the value is an index into these words, and minimum and maximum are ignored.
  std::vector<std::string_view> words = {};
  bool tunable = true;    ///< the search for better formats varies it
  bool spelled = false;   ///< printed even if it is the default word
  bool optional = false;  ///< a number that is not printed if it is the default
};

/// A format with its parameters.
struct Format {
  const FormatDef* def = nullptr;
  std::vector<std::int64_t> values;  ///< in the order of `def->parameters`

  std::int64_t operator[](std::string_view parameter) const;
  std::int64_t& operator[](std::string_view parameter);
  /// Returns whether a parameter with words has this one.
  bool is(std::string_view parameter, std::string_view word) const;
  bool operator==(const Format&) const = default;
};

/// A tensor stored with the weights that the quantizer reads: a calibrated range or a learned scale.
struct FormatStateDef {
  std::string_view name;  ///< appended to the quantizer's node name: "….quantizer.scale"
  std::string_view summary;
  Sizes sizes = {};      ///< of the f32 tensor for one group of values
  bool per_row = false;  ///< one group per row (see `rows_of`): the tensor is (rows, sizes...)
  bool learned = false;  ///< trains with the weights
};

/// The input of a quantizer: a dense tensor, treated as rows along its last axis.
struct QuantizerInput {
  const Format& format;
  const Sizes& sizes;
  std::span<const float> x;
  std::span<const Tensor> state;  ///< in the order of `FormatDef::state`
};

/// A tensor in a format's own codes: one per element, in the low bits, and codes shared by blocks, rows or the whole
/// tensor, in row-major order.
struct Codes {
  std::vector<std::uint32_t> elements;
  std::vector<std::uint32_t> shared;
};

/// The number of bits of the codes.
struct CodeLayout {
  int element_bits = 0;
  int shared_bits = 0;
  std::int64_t shared_count = 0;
  /// Elements are integers in two's complement. Packed, they are stored in offset binary, as products read them.
  bool twos_complement = false;
  /// Shared codes are float16 scales. The bits above those 16 are integer zero points, subtracted from the units of the
  /// group.
  bool half_scales = false;
};

/// Wider codes have no unit table, which would be as large as a small weight, unless they are 16-bit floats.
inline constexpr int kMostUnitBits = 8;

/// How codes become values, for formats in which that takes one fp32 product: value = (units[code] + offset of its
/// group) * scale of its group.
struct CodeUnits {
  std::vector<float> units;  ///< of the element codes, starting at 0; NaN for unused codes
  /// The number of neighbours along the last axis that share a scale (the last group of a row may have fewer); 0: the
  /// whole tensor.
  std::int64_t group = 0;
  /// With shared codes of up to 8 bits: the scale for each shared code, NaN if it makes its group NaN. Without shared
  /// codes: the scale of each group, in order. Empty if the shared codes are the scales themselves, as 32 bits or
  /// `CodeLayout::half_scales`.
  std::vector<float> scales;
  std::vector<float> offsets = {};  ///< of each group, integers like the units; empty: none
  /// Shared codes contain an integer zero point, which is subtracted from the units of the group: 32 bits after those
  /// of the scale, or the bits above it (`CodeLayout::half_scales`).
  bool shared_zero_points = false;
  bool divides = false;  ///< divides by the scale instead of multiplying
  /// The codes are 16-bit floats of this type and `units` is empty.
  std::optional<kernels::Half> half = std::nullopt;
};

/// A field of an element's code, for display: "sign", "exponent", "fraction", "integer", "index".
struct CodeField {
  std::string_view name;
  int bits = 0;
  /// For exponents: the value is the stored number minus this. Empty if calibration decides it.
  std::optional<std::int64_t> bias = std::nullopt;
};

/// How gradients pass a quantizer.
enum class GradientRule : std::uint8_t {
  straight_through,  ///< identity (Bengio, Leonard and Courville, 2013)
  own,               ///< `FormatDef::backward`: clipped, or with gradients of learned state
};

/// The values that a quantized value depends on, apart from states.
enum class Locality : std::uint8_t {
  element,  ///< the value at the same position
  row,      ///< the values of its row, along the last axis
  tensor,
};

struct FormatDef {
  std::string_view name;
  std::string_view summary;
  std::string_view source = "";  ///< paper or specification
  std::vector<FormatParameterDef> parameters = {};
  /// Fills in defaults that depend on other parameters. Throws `UserError` with the reason for impossible combinations.
  /// May be null.
  void (*complete)(Format&) = nullptr;
  /// Returns the number of bits of a tensor's codes.
  CodeLayout (*layout)(const Format&, const Sizes&);
  /// Returns the fields of an element's code, highest bits first.
  std::vector<CodeField> (*fields)(const Format&);

  /// Returns the state tensors that this format needs with these parameters. May be null: none.
  std::vector<FormatStateDef> (*state)(const Format&) = nullptr;
  /// Returns the state of one group for its observation. Set if `state` is.
  std::vector<Tensor> (*calibrate)(const Format&, const Observation&) = nullptr;
  /// Explains why the format is unsuitable for the observed values and suggests a better parameter; "" if it is
  /// suitable. May be null.
  std::string (*objection)(const Format&, const Observation&) = nullptr;

  /// y = dequantize(quantize(x)), with plain loops.
  void (*quantize_reference)(const QuantizerInput&, std::span<float> y);
  /// A fast version with bit-identical results. x and y may share memory.
  void (*quantize)(const QuantizerInput&, ThreadPool&, std::span<float> y);

  /// Returns the locality for tensors of this rank. Null: `tensor`, which assumes nothing.
  Locality (*locality)(const Format&, std::int64_t rank) = nullptr;

  /// Null: straight-through.
  GradientRule (*gradient_rule)(const Format&) = nullptr;
  /// Computes dx from dy, and the gradients of the learned states (the other tensors are undefined). Set if the rule
  /// can be `own`. dx and dy may share memory.
  void (*backward)(const QuantizerInput&, ThreadPool&, std::span<const float> dy,
                   std::span<float> dx, std::span<Tensor> state_gradients) = nullptr;

  /// Returns the codes of the quantized x. Throws `UserError` for NaN and infinities without a code.
  Codes (*encode)(const QuantizerInput&);
  /// Returns the values of codes without reading `x` of the input. decode(encode(x)) == quantize(x).
  void (*decode)(const QuantizerInput&, const Codes&, std::span<float> y);
  /// Returns the codes' values as products, for fast reading of packed codes, without reading `x`; empty if they are
  /// not products. Null: only formats that round every value independently have units, derived from `decode`.
  std::optional<CodeUnits> (*units)(const QuantizerInput&) = nullptr;
};

/// The known formats by name. Addresses of the records stay valid while the table lives.
using FormatTable = std::map<std::string, FormatDef, std::less<>>;

/// Returns the formats of this library.
FormatTable builtin_formats();

/// Parses `name` or `name(parameter=value,…)`; missing parameters take their defaults. Throws `UserError` for an
/// unknown name, parameter or word (with the nearest one), a value outside its range, and combinations that the format
/// rejects.
Format parse_format(std::string_view text, const FormatTable& formats);

/// Returns a format's name for tables and figures: "full precision" for "none" of recipes, else the text itself.
inline std::string format_in_words(const std::string& text) {
  return text == "none" ? "full precision" : text;
}

/// Returns the canonical text, in the order of the record: all numbers, and words that are not the default or that
/// identify the format.
std::string to_string(const Format& format);
/// Returns the text without words that follow from the others, as people type it: "int(bits=8,per=row)" for
/// int(bits=8,per=row,scale=static).
std::string short_text(const Format& format);

/// Returns the states of a format, empty for formats without.
std::vector<FormatStateDef> states_of(const Format& format);

GradientRule gradient_rule_of(const Format& format);

/// Returns `tensor` if states are per row, because these depend on the row's position.
Locality locality_of(const Format& format, std::int64_t rank);

/// `FormatDef::locality` of formats that round every value independently.
Locality independent_elements(const Format& format, std::int64_t rank);

/// Returns the bits per element of a tensor, including shared codes and state.
double average_bits(const Format& format, const Sizes& sizes);

/// `FormatDef::units`; empty if the format has none.
std::optional<CodeUnits> units_of(const QuantizerInput& input);

/// A tensor as rows along its last axis: (rows, columns). A scalar is one row of one column.
struct Rows {
  std::int64_t count;
  std::int64_t columns;
};
Rows rows_of(const Sizes& sizes);

}  // namespace hone
