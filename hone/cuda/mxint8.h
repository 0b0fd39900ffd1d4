#pragma once

#include <cstdint>

#include "hone/kernels/mxint_element.h"
#include "hone/tensor/device.h"

/// MXINT from and to a GPU's memory, at the speed of it: the bits of `kernels::dequantize` and
/// `kernels::quantize_mxint8`. All pointers are the device's, whose queue the work is put on.
///
///     dequantize_mxint(device, {.count = n, .group = 32, .codes = codes, .scales = scales}, MxintDialect::ocp, y);
namespace hone::cuda {

/// y (x.count) as bfloat16 or as float.
void dequantize_mxint(Device& device, const kernels::MxintCodes& x, kernels::MxintDialect dialect,
                      std::uint16_t* y);
void dequantize_mxint(Device& device, const kernels::MxintCodes& x, kernels::MxintDialect dialect,
                      float* y);

/// x (count) to codes of 8 bits (count) and scales, a byte for each `group` elements, the last of which may be shorter.
void quantize_mxint8(Device& device, std::int64_t count, std::int64_t group,
                     kernels::MxintDialect dialect, const float* x, std::uint8_t* codes,
                     std::uint8_t* scales);

}  // namespace hone::cuda
