#pragma once

#include <cstdint>

#include "hone/kernels/mxint_element.h"
#include "hone/tensor/device.h"

/// Converts MXINT in GPU memory at memory bandwidth, with the same bits as `kernels::dequantize` and
/// `kernels::quantize_mxint8`. All pointers are to the device's memory, and the work is put on its queue.
///
///     dequantize_mxint(device, {.count = n, .group = 32, .codes = codes, .scales = scales}, MxintDialect::ocp, y);
namespace hone::cuda {

/// Decodes x to y (x.count) as bfloat16 or as float.
void dequantize_mxint(Device& device, const kernels::MxintCodes& x, kernels::MxintDialect dialect,
                      std::uint16_t* y);
void dequantize_mxint(Device& device, const kernels::MxintCodes& x, kernels::MxintDialect dialect,
                      float* y);

/// Quantizes x (count) to 8-bit codes (count) and scales, one byte per group of `group` elements. The last group may be
/// shorter.
void quantize_mxint8(Device& device, std::int64_t count, std::int64_t group,
                     kernels::MxintDialect dialect, const float* x, std::uint8_t* codes,
                     std::uint8_t* scales);

}  // namespace hone::cuda
