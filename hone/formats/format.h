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

/// Number formats. A format is one record (`FormatDef`); nothing outside its own file knows it by
/// name.
///
/// A `Format` is a record with its parameters filled in. It prints and parses:
/// `integer(width=8,frac=4)`.
///
///     Format format = parse_format("mxint(bits=8,block=32)", formats);
///     format.def->quantize({format, {128, 768}, x, {}}, pool, y);
namespace hone {

struct FormatDef;

/// The value of a parameter that prints as `auto`: decided by calibration, or by the other
/// parameters when the format is parsed.
inline constexpr std::int64_t kAuto = std::numeric_limits<std::int64_t>::min();

/// One parameter: a whole number (or `auto` where that is the default), or one of a few words.
struct FormatParameterDef {
  std::string_view name;
  std::string_view summary;  ///< with the unit
  std::int64_t minimum = 0;
  std::int64_t maximum = 0;
  std::int64_t default_value = 0;
  /// Not empty: the value is an index into these words, and minimum and maximum do not count.
  std::vector<std::string_view> words = {};
  bool tunable = true;    ///< worth trying other values of when a better format is looked for
  bool spelled = false;   ///< printed even where it is the default word
  bool optional = false;  ///< a number that is not printed where it is the default
};

/// A format with its parameters.
struct Format {
  const FormatDef* def = nullptr;
  std::vector<std::int64_t> values;  ///< in the order of `def->parameters`

  std::int64_t operator[](std::string_view parameter) const;
  std::int64_t& operator[](std::string_view parameter);
  /// Whether a parameter of words has this one.
  bool is(std::string_view parameter, std::string_view word) const;
  bool operator==(const Format&) const = default;
};

/// A tensor that lives beside the weights and that the quantizer reads: a calibrated range, a
/// learned scale.
struct FormatStateDef {
  std::string_view name;  ///< appended to the quantizer's node name: "….quantizer.scale"
  std::string_view summary;
  Sizes sizes = {};      ///< of the f32 tensor for one group of values
  bool per_row = false;  ///< one group per row (see `rows_of`): the tensor is (rows, sizes...)
  bool learned = false;  ///< trains with the weights
};

/// What a quantizer reads: a dense tensor, seen as rows along its last axis.
struct QuantizerInput {
  const Format& format;
  const Sizes& sizes;
  std::span<const float> x;
  std::span<const Tensor> state;  ///< in the order of `FormatDef::state`
};

/// A tensor in a format's own codes, one per element in the low bits, and codes shared by blocks,
/// rows or the whole tensor, in row-major order.
struct Codes {
  std::vector<std::uint32_t> elements;
  std::vector<std::uint32_t> shared;
};

/// How many bits the codes take.
struct CodeLayout {
  int element_bits = 0;
  int shared_bits = 0;
  std::int64_t shared_count = 0;
  /// Elements are whole numbers in two's complement. Packed they lie in offset binary, as products read them.
  bool twos_complement = false;
  /// Shared codes are scales as float16, and, in the bits above those 16, whole numbers that are taken from the units of
  /// their groups.
  bool half_scales = false;
};

/// Codes of more bits have no units but those that are halves: a table for each weight would be as large as small weights are.
inline constexpr int kMostUnitBits = 8;

/// How codes become values where that is one product in fp32: value = (units[code] + offset of its group) * scale of its
/// group.
struct CodeUnits {
  std::vector<float> units;  ///< of the element codes from 0 on; NaN for one that no value has
  /// Neighbours along the last axis that share a scale, the last of a row perhaps fewer; 0: the whole tensor.
  std::int64_t group = 0;
  /// With shared codes of up to 8 bits the scale of each of these, NaN where it makes its group NaN; without shared codes
  /// the scale of each group, in order. Empty where shared codes are the scales, as 32 bits or `CodeLayout::half_scales`.
  std::vector<float> scales;
  std::vector<float> offsets =
      {};  ///< of each group, whole numbers, as units then are; empty: none
  /// Shared codes have a whole number that is taken from the units of their group: one of 32 bits behind that of the scale,
  /// or above it (`CodeLayout::half_scales`).
  bool shared_zero_points = false;
  bool divides = false;  ///< by the scale, instead of multiplying by it
  /// Codes are such numbers, and their own units; `units` is empty then.
  std::optional<kernels::Half> half = std::nullopt;
};

/// A part of an element's code, for people: "sign", "exponent", "fraction", "integer", "index".
struct CodeField {
  std::string_view name;
  int bits = 0;
  /// Of exponents: the stored number minus this is meant. None where calibration decides.
  std::optional<std::int64_t> bias = std::nullopt;
};

/// How gradients pass a quantizer.
enum class GradientRule : std::uint8_t {
  straight_through,  ///< as if it were not there (Bengio, Leonard and Courville, 2013)
  own,               ///< `FormatDef::backward`: clipped, or with gradients of learned state
};

/// What a quantized value depends on, states aside, which all may read.
enum class Locality : std::uint8_t {
  element,  ///< the value at its place
  row,      ///< the values of its row, along the last axis
  tensor,
};

struct FormatDef {
  std::string_view name;
  std::string_view summary;
  std::string_view source = "";  ///< paper or specification
  std::vector<FormatParameterDef> parameters = {};
  /// Fills in defaults that follow from other parameters, and refuses impossible combinations with
  /// a `UserError` that gives the reason. May be null.
  void (*complete)(Format&) = nullptr;
  /// Bits of the codes of a tensor.
  CodeLayout (*layout)(const Format&, const Sizes&);
  /// The parts of an element's code, highest bits first.
  std::vector<CodeField> (*fields)(const Format&);

  /// The state tensors this format needs with these parameters. May be null: none.
  std::vector<FormatStateDef> (*state)(const Format&) = nullptr;
  /// The values of the state of one group for what was observed of it. Set where `state` is.
  std::vector<Tensor> (*calibrate)(const Format&, const Observation&) = nullptr;
  /// Why the format is hopeless for what was observed, with a better parameter; "" when it is not.
  /// May be null.
  std::string (*objection)(const Format&, const Observation&) = nullptr;

  /// y = quantize-then-dequantize(x), plain loops.
  void (*quantize_reference)(const QuantizerInput&, std::span<float> y);
  /// The same bits, fast. x and y may be the same memory.
  void (*quantize)(const QuantizerInput&, ThreadPool&, std::span<float> y);

  /// For tensors of so many dimensions. Null: the tensor, which claims nothing.
  Locality (*locality)(const Format&, std::int64_t rank) = nullptr;

  /// Null: straight through.
  GradientRule (*gradient_rule)(const Format&) = nullptr;
  /// dx from dy, and the gradients of the learned states (the other tensors are undefined). Set
  /// where the rule can be `own`. dx and dy may be the same memory.
  void (*backward)(const QuantizerInput&, ThreadPool&, std::span<const float> dy,
                   std::span<float> dx, std::span<Tensor> state_gradients) = nullptr;

  /// The codes of the values x takes. Throws `UserError` for NaN and infinities that have no code.
  Codes (*encode)(const QuantizerInput&);
  /// The values of codes; `x` of the input is not read. decode(encode(x)) == quantize(x).
  void (*decode)(const QuantizerInput&, const Codes&, std::span<float> y);
  /// The same as products, `x` not read, for what reads packed codes fast; none where they are not such. Null: none but of
  /// formats that round every value by itself, whose units follow from `decode`.
  std::optional<CodeUnits> (*units)(const QuantizerInput&) = nullptr;
};

/// The known formats by name. Addresses of the records stay valid while the table lives.
using FormatTable = std::map<std::string, FormatDef, std::less<>>;

/// The formats of this library.
FormatTable builtin_formats();

/// `name` or `name(parameter=value,…)`; parameters left out take their defaults. Throws `UserError`
/// for an unknown name, parameter or word (naming the nearest), a value outside its range, and
/// combinations the format refuses.
Format parse_format(std::string_view text, const FormatTable& formats);

/// Returns what tables and figures call what a recipe calls "none": "full precision". Any other format is called as it is written.
inline std::string format_in_words(const std::string& text) {
  return text == "none" ? "full precision" : text;
}

/// The canonical text: every number spelled out, words where they are not the default or say what
/// the format is, in the record's order.
std::string to_string(const Format& format);
/// The same without words that follow from the others, as people type it: "int(bits=8,per=row)" for int(bits=8,per=row,scale=static).
std::string short_text(const Format& format);

/// The states of a format, none for formats without.
std::vector<FormatStateDef> states_of(const Format& format);

GradientRule gradient_rule_of(const Format& format);

/// The tensor where states are of rows: those belong to places.
Locality locality_of(const Format& format, std::int64_t rank);

/// `FormatDef::locality` of formats that round every value by itself.
Locality element_alone(const Format& format, std::int64_t rank);

/// Bits per element of a tensor, shared codes and state included.
double average_bits(const Format& format, const Sizes& sizes);

/// `FormatDef::units`; none where a format has none.
std::optional<CodeUnits> units_of(const QuantizerInput& input);

/// A tensor seen as rows along its last axis: (rows, columns). A scalar is one row of one.
struct Rows {
  std::int64_t count;
  std::int64_t columns;
};
Rows rows_of(const Sizes& sizes);

}  // namespace hone
