#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/thread_pool.h"
#include "hone/tensor/tensor.h"

/// Number formats. A format is one record (`FormatDef`); nothing outside its own file knows it by
/// name.
///
/// A `Format` is a record with its parameters filled in. It prints and parses:
/// `integer(width=8,frac=4)`.
///
///     Format format = parse_format("integer(width=8,frac=4)", formats);
///     format.def->quantize(format, pool, x.values<float>(), {}, y.values<float>());
namespace hone {

struct FormatDef;

/// One parameter: an integer, or `auto` where that is the default.
struct FormatParameterDef {
  std::string_view name;
  std::string_view summary;  ///< with the unit
  std::int64_t minimum;
  std::int64_t maximum;
  std::int64_t default_value;
};

/// A format with its parameters. Two are equal when they print the same.
struct Format {
  const FormatDef* def = nullptr;
  std::vector<std::int64_t> values;  ///< in the order of `def->parameters`

  std::int64_t operator[](std::string_view parameter) const;
  bool operator==(const Format&) const = default;
};

/// What calibration saw of one tensor over all its batches. Memory does not grow with the number of
/// samples.
struct Observation {
  float minimum = std::numeric_limits<float>::infinity();
  float maximum = -std::numeric_limits<float>::infinity();
  void include(std::span<const float> values);
};

/// A tensor that lives beside the weights and that the quantizer reads: a calibrated range, a
/// learned scale.
struct FormatStateDef {
  std::string_view name;  ///< appended to the quantizer's node name: "…x.quantize.frac"
  std::string_view summary;
  Sizes sizes;  ///< of the f32 tensor
};

struct FormatDef {
  std::string_view name;
  std::string_view summary;
  std::vector<FormatParameterDef> parameters = {};
  /// Refuses impossible combinations with a `UserError`. May be null.
  void (*check)(const Format&) = nullptr;
  /// Bits per element, shared exponents included.
  double (*average_bits)(const Format&);
  /// The state tensors this format needs with these parameters. May be null: none.
  std::vector<FormatStateDef> (*state)(const Format&) = nullptr;
  /// The values of the state for what was observed. Set where `state` is.
  std::vector<Tensor> (*calibrate)(const Format&, const Observation&) = nullptr;
  /// y = quantize-then-dequantize(x), plain loops. `state` in the order of `state()`.
  void (*quantize_reference)(const Format&, std::span<const float> x, std::span<const Tensor> state,
                             std::span<float> y);
  /// The same bits, fast. x and y may be the same memory.
  void (*quantize)(const Format&, ThreadPool&, std::span<const float> x,
                   std::span<const Tensor> state, std::span<float> y);
};

/// The known formats by name. Addresses of the records stay valid while the table lives.
using FormatTable = std::map<std::string, FormatDef, std::less<>>;

/// The formats of this library.
FormatTable builtin_formats();

/// `name` or `name(parameter=value,…)`; parameters left out take their defaults; `auto` stands for
/// a default that the data decides. Throws `UserError` for an unknown name or parameter (naming the
/// nearest), a value outside its range, and combinations the format refuses.
Format parse_format(std::string_view text, const FormatTable& formats);

/// The canonical text: every parameter spelled out, in the record's order.
std::string to_string(const Format& format);

/// The value that prints as `auto`.
inline constexpr std::int64_t kAuto = std::numeric_limits<std::int64_t>::min();

}  // namespace hone
