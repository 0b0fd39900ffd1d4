#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hone/runtime/context.h"

/// Properties of a format that need no data.
namespace hone {

/// The values of a format, with the shared exponents, scales and calibrated state for a tensor from -1 to 1.
struct FormatGrid {
  /// All distinct results of quantization, ascending; empty if there are more than 65 536.
  std::vector<float> values;
  /// Finite values of codes that quantization never writes, ascending: the -2 of `mxint`, whose rounding is symmetric.
  std::vector<float> unwritten;
  /// Whether tiny magnitudes that are not in `values` pass unchanged, as in MASE (mase_rounding.h).
  bool passes_tiny = false;
  float lowest = 0;  ///< of `values`
  float highest = 0;
  float smallest_step = 0;  ///< between neighbours; 0 if `values` is empty
  double average_bits = 0;  ///< of a weight of 768 x 768
  /// Whether the values depend on the tensor: through shared codes, or calibrated state.
  bool scaled = false;
};
FormatGrid format_grid(const Format& format);

/// A number in a format: its quantized value, its code, and the parts of the code.
struct QuantizedNumber {
  float value = 0;                 ///< as given
  float quantized = 0;             ///< its value in the format
  bool saturates = false;          ///< the number is beyond the range, and becomes its end
  std::string code;                ///< binary, with spaces between the parts: "0 1010 011"
  std::string shared;              ///< binary, of the codes it shares with others; "" if none
  std::vector<std::string> parts;  ///< "sign 0", "exponent 1010 = 10 - 7", …
};

/// Numbers that are quantized together.
struct QuantizedNumbers {
  std::vector<QuantizedNumber> numbers;
  /// "independently of each other" if the format shares nothing, else "together, as one block of 2", "together, in 3 blocks",
  /// "together, as one tensor of 2", "as a block of one".
  std::string sharing;
  /// The state that calibration on these numbers chose, by name.
  std::vector<std::pair<std::string, std::vector<float>>> state;
};
/// Quantizes the numbers as one tensor, which shares scales and is calibrated on them. Formats that need whole blocks
/// get zeros appended. Throws `UserError` if a number has no code.
QuantizedNumbers quantize_numbers(const Format& format, std::span<const float> values);

/// Returns the names of the kernels that run quantizers of any format, fastest first: "vector (AVX-512)".
std::vector<std::string> quantizer_kernels(const Library& library);

}  // namespace hone
