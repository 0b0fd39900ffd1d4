#pragma once

#include <string>
#include <vector>

#include "hone/base/file.h"
#include "hone/metrics/noise.h"
#include "hone/runtime/context.h"

namespace hone {

/// What a format did to one tensor of a file.
struct QuantizedTensor {
  std::string name;
  Sizes sizes;
  double average_bits = 0;
  Noise noise;
};

/// Quantizes the floating-point tensors of a safetensors file whose names match `glob` and writes
/// all tensors to another: fp32 where they were quantized, as they were otherwise. State is
/// calibrated on each tensor. An empty `output` writes nothing. Throws `UserError` when nothing
/// matches.
std::vector<QuantizedTensor> quantize_file(const fs::path& input, const fs::path& output,
                                           const std::string& glob, const Format& format,
                                           Context& context);

/// Histogram of a tensor of a file with the format's grid on it: `stem`.svg and `stem`.png. The
/// grid is that of the values the tensor takes. Throws `UserError` when the file has no such tensor.
void draw_histogram(const fs::path& input, const std::string& tensor, const Format& format,
                    const fs::path& stem, Context& context);

}  // namespace hone
