#include "hone/formats/mase_rounding.h"

#include "hone/kernels/scalar/mase.h"

namespace hone {
namespace {

scalar::MaseFields fields_of(const MaseFloat& format) {
  return {format.exponent_width, format.mantissa_bits, format.exponent_bias};
}

}  // namespace

float mase_minifloat_ieee(const MaseFloat& format, float x) {
  return scalar::MaseIeee{fields_of(format)}(x);
}

float mase_minifloat_denorm(const MaseFloat& format, float x) {
  return scalar::MaseDenorm{fields_of(format)}(x);
}

float mase_mantissa(int mantissa_bits, float exponent, float x) {
  return scalar::MaseMantissa{mantissa_bits, exponent}(x);
}

float mase_log2(float x) { return scalar::mase_log2(x); }

float mase_log(int exponent_width, std::int64_t exponent_bias, float offset, float x) {
  return scalar::MaseLog{exponent_width, exponent_bias, offset}(x);
}

}  // namespace hone
