#include "hone/formats/minifloat.h"

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/formats/codes.h"
#include "hone/formats/mase_rounding.h"
#include "hone/formats/mode.h"
#include "hone/formats/range_objection.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/minifloat.h"

namespace hone {
namespace {

// kImplicitOne distinguishes the two formats throughout this file.
struct CodeFields {
  int width;
  int exponent_width;
  int bias;
  int mantissa;

  explicit CodeFields(const Format& format)
      : width(static_cast<int>(format["width"])),
        exponent_width(static_cast<int>(format["exponent_width"])),
        bias(static_cast<int>(format["exponent_bias"])),
        mantissa(width - exponent_width - 1) {}

  int highest_field() const { return (1 << exponent_width) - 1; }
};

// The bits after the leading one of normal numbers, and the exponent of the smallest of them. Without an implicit one,
// the leading one is the first mantissa bit.
template <bool kImplicitOne>
int fraction_bits(const CodeFields& fields) {
  return kImplicitOne ? fields.mantissa : fields.mantissa - 1;
}

template <bool kImplicitOne>
int lowest_exponent(const CodeFields& fields) {
  return kImplicitOne ? 1 - fields.bias : -fields.bias - 1;
}

template <bool kImplicitOne>
int highest_exponent(const CodeFields& fields) {
  return fields.highest_field() - fields.bias - (kImplicitOne ? 0 : 1);
}

template <bool kImplicitOne>
kernels::Minifloat grid(const CodeFields& fields) {
  const int bits = fraction_bits<kImplicitOne>(fields);
  const double significand = 2 - std::ldexp(1.0, -bits);
  const int highest = std::min(highest_exponent<kImplicitOne>(fields), 127);
  return {bits, lowest_exponent<kImplicitOne>(fields),
          static_cast<float>(std::ldexp(significand, highest))};
}

template <bool kImplicitOne>
void complete(Format& format) {
  if (format["exponent_bias"] == kAuto)
    format["exponent_bias"] = (std::int64_t{1} << (format["exponent_width"] - 1)) - 1;
  const CodeFields fields(format);
  const int least = fields.exponent_width + (kImplicitOne ? 1 : 2);
  user_check(fields.width >= least,
             "width={} is too small for {}exponent_width={}; make it at least {}", fields.width,
             kImplicitOne ? "a sign and " : "a sign, a mantissa bit and ", fields.exponent_width,
             least);
  user_check(fraction_bits<kImplicitOne>(fields) <= 23,
             "{} mantissa bits are more than a float has; make width at most {}", fields.mantissa,
             fields.exponent_width + (kImplicitOne ? 24 : 25));
  const int low = lowest_exponent<kImplicitOne>(fields);
  const int high = highest_exponent<kImplicitOne>(fields);
  user_check(high >= -126 && low <= 127,
             "exponents from {} to {} exceed those of a float (-126 … 127); use "
             "exponent_bias=auto",
             low, high);
}

template <bool kImplicitOne>
void quantize_reference(const QuantizerInput& input, std::span<float> y) {
  const CodeFields fields(input.format);
  if (!is_mase(input.format)) {
    const kernels::Minifloat values = grid<kImplicitOne>(fields);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = kernels::round_scalar(values, input.x[i]);
    return;
  }
  const MaseFloat mase{fields.exponent_width, fields.mantissa, fields.bias};
  const auto round = kImplicitOne ? mase_minifloat_ieee : mase_minifloat_denorm;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = round(mase, input.x[i]);
}

template <bool kImplicitOne>
void quantize(const QuantizerInput& input, ThreadPool& pool, std::span<float> y) {
  const auto count = static_cast<std::int64_t>(y.size());
  if (!is_mase(input.format)) {
    return kernels::round_to_minifloat(pool, grid<kImplicitOne>(CodeFields(input.format)), count,
                                       input.x.data(), y.data());
  }
  parallel_ranges(pool, count, kernels::kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    const auto first = static_cast<std::size_t>(begin);
    const auto size = static_cast<std::size_t>(end - begin);
    quantize_reference<kImplicitOne>({input.format, input.sizes, input.x.subspan(first, size), {}},
                                     y.subspan(first, size));
  });
}

template <bool kImplicitOne>
float value_of(const CodeFields& fields, std::uint32_t code) {
  const std::uint32_t magnitude = code & ((std::uint32_t{1} << (fields.width - 1)) - 1);
  const auto field = static_cast<int>(magnitude >> fields.mantissa);
  const std::uint32_t one = std::uint32_t{1} << fields.mantissa;
  double significand = magnitude & (one - 1);
  if (kImplicitOne && field > 0) significand += one;
  const int exponent = (kImplicitOne ? std::max(field, 1) : field) - fields.bias - fields.mantissa;
  const auto value = static_cast<float>(std::ldexp(significand, exponent));
  return code == magnitude ? value : -value;
}

// Returns the code of a value of the format; for any other float, a code with another value.
template <bool kImplicitOne>
std::uint32_t code_of(const CodeFields& fields, float y) {
  if (!std::isfinite(y) || y == 0) return 0;
  const int bits = fraction_bits<kImplicitOne>(fields);
  const int lowest = lowest_exponent<kImplicitOne>(fields);
  const double size = std::fabs(static_cast<double>(y));
  const int exponent = std::max(std::ilogb(size), lowest);
  const auto significand = static_cast<std::uint32_t>(std::ldexp(size, bits - exponent));
  // Adding the significand's leading one raises the exponent field by one.
  const auto field = static_cast<std::uint32_t>(exponent - lowest);
  const std::uint32_t sign = std::signbit(y) ? std::uint32_t{1} << (fields.width - 1) : 0;
  return sign | ((field << fields.mantissa) + significand);
}

template <bool kImplicitOne>
Codes encode(const QuantizerInput& input) {
  const CodeFields fields(input.format);
  std::vector<float> y(input.x.size());
  quantize_reference<kImplicitOne>(input, y);
  Codes codes;
  codes.elements.reserve(input.x.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::uint32_t code = code_of<kImplicitOne>(fields, y[i]);
    check_has_code(input.format, value_of<kImplicitOne>(fields, code) == y[i], input.x[i]);
    codes.elements.push_back(code);
  }
  return codes;
}

template <bool kImplicitOne>
void decode(const QuantizerInput& input, const Codes& codes, std::span<float> y) {
  const CodeFields fields(input.format);
  for (std::size_t i = 0; i < y.size(); ++i)
    y[i] = value_of<kImplicitOne>(fields, codes.elements[i]);
}

// The suggested bias puts the largest magnitude into the topmost binade.
template <bool kImplicitOne>
std::string objection(const Format& format, const Observation& seen) {
  if (seen.magnitude() == 0) return "";
  const CodeFields fields(format);
  const kernels::Minifloat values = grid<kImplicitOne>(fields);
  const int top = floor_log2(seen.magnitude()) + (kImplicitOne ? 0 : 1);
  return range_objection(
      seen, {std::ldexp(1.0, values.min_exponent - values.mantissa_bits), values.highest},
      fields.bias, fields.highest_field() - top, "exponent_width");
}

template <bool kImplicitOne>
FormatDef format_def(std::string_view name, std::string_view summary) {
  return {.name = name,
          .summary = summary,
          .parameters = {{"width", "total bits", 2, 32, 8},
                         {"exponent_width", "bits of the exponent", 1, 8, 4},
                         {"exponent_bias", "subtracted from the exponent field", -256, 512, kAuto},
                         mode_parameter()},
          .complete = complete<kImplicitOne>,
          .layout = [](const Format& format,
                       const Sizes&) { return CodeLayout{static_cast<int>(format["width"])}; },
          .fields = [](const Format& format) -> std::vector<CodeField> {
            const CodeFields fields(format);
            return {{"sign", 1},
                    {"exponent", fields.exponent_width, fields.bias},
                    {kImplicitOne ? "fraction" : "mantissa", fields.mantissa}};
          },
          .objection = objection<kImplicitOne>,
          .quantize_reference = quantize_reference<kImplicitOne>,
          .quantize = quantize<kImplicitOne>,
          .locality = independent_elements,
          .encode = encode<kImplicitOne>,
          .decode = decode<kImplicitOne>};
}

}  // namespace

FormatDef minifloat_ieee_format() {
  return format_def<true>("minifloat_ieee", "small floats with an implicit leading one");
}

FormatDef minifloat_denorm_format() {
  return format_def<false>("minifloat_denorm", "small floats without an implicit leading one");
}

}  // namespace hone
