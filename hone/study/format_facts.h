#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hone/runtime/context.h"

/// What there is to know about a format without any data.
namespace hone {

/// A format with the shared exponents, scales and calibrated state that a tensor from -1 to 1 gets.
struct FormatGrid {
  /// All different ones that quantization gives, rising; empty where there are more than 65 536.
  std::vector<float> values;
  /// Finite values of codes that quantization never writes, rising: the -2 of `mxint`, whose rounding is symmetric.
  std::vector<float> unwritten;
  /// Whether magnitudes next to nothing come out as they are beside `values`, as MASE lets them (mase_rounding.h).
  bool passes_tiny = false;
  float lowest = 0;  ///< of `values`
  float highest = 0;
  float smallest_step = 0;  ///< between neighbours; 0 when `values` is empty
  double average_bits = 0;  ///< of a weight of 768 x 768
  /// Whether the values depend on the tensor: through shared codes, or calibrated state.
  bool scaled = false;
};
FormatGrid format_grid(const Format& format);

/// A number spelled out in a format: what it becomes, its code, and the parts of the code.
struct SpelledNumber {
  float value = 0;                 ///< as given
  float quantized = 0;             ///< what it becomes
  bool saturates = false;          ///< that is the end of the range, and the number is beyond it
  std::string code;                ///< binary, with the parts set apart: "0 1010 011"
  std::string shared;              ///< binary, of the codes it shares with others; "" without
  std::vector<std::string> parts;  ///< "sign 0", "exponent 1010 = 10 - 7", …
};

/// Numbers that were given together.
struct SpelledNumbers {
  std::vector<SpelledNumber> numbers;
  /// "each by itself" where the format shares nothing, else "together, as one block of 2", "together, in 3 blocks",
  /// "together, as one tensor of 2", "alone, as a block of one".
  std::string sharing;
  /// What calibration on these numbers chose, by the name of the state.
  std::vector<std::pair<std::string, std::vector<float>>> state;
};
/// The numbers as one tensor, which is what shares scales and is calibrated on. Formats that take whole blocks only see
/// zeros after them. Throws `UserError` when a number has no code.
SpelledNumbers spell(const Format& format, std::span<const float> values);

/// The names of the kernels that run quantizers of any format, fastest first: "vector (AVX-512)".
std::vector<std::string> quantizer_kernels(const Library& library);

}  // namespace hone
