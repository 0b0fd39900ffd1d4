#pragma once

#include <string>
#include <vector>

#include "hone/app/context.h"

/// What there is to know about a format without any data.
namespace hone {

/// A format where the largest magnitude of the block, the row or the whole tensor is 1, so that
/// shared exponents, scales and calibrated state have a definite value.
struct FormatGrid {
  std::vector<float> values;  ///< all different ones, rising; empty when there are more than 65 536
  float lowest = 0;
  float highest = 0;
  float smallest_step = 0;  ///< between neighbours; 0 when `values` is empty
  double average_bits = 0;  ///< of a weight of 768 x 768
};
FormatGrid format_grid(const Format& format);

/// A number spelled out in a format: what it becomes, its code, and the parts of the code.
struct SpelledNumber {
  float value = 0;                 ///< as given
  float quantized = 0;             ///< what it becomes, alone in its block
  std::string code;                ///< binary, with the parts set apart: "0 1010 011"
  std::string shared;              ///< binary, of the shared code; "" without
  std::vector<std::string> parts;  ///< "sign 0", "exponent 1010 = 10 - 7", …
};
/// Throws `UserError` when the number has no code.
SpelledNumber spell(const Format& format, float value);

/// The names of the kernels that run quantizers of any format, fastest first: "vector (AVX-512)".
std::vector<std::string> quantizer_kernels(const Library& library);

}  // namespace hone
