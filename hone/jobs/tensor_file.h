#pragma once

#include <string>
#include <vector>

#include "hone/base/file.h"
#include "hone/metrics/noise.h"
#include "hone/runtime/context.h"

namespace hone {

/// The effect of a format on one tensor of a file.
struct QuantizedTensor {
  std::string name;
  Sizes sizes;
  double average_bits = 0;
  Noise noise;
};

/// Quantizes the floating-point tensors of a safetensors file whose names match `glob`. Writes all tensors to `output`:
/// quantized ones in fp32, others unchanged. State is calibrated on each tensor. An empty `output` writes nothing.
/// Throws `UserError` if nothing matches.
std::vector<QuantizedTensor> quantize_file(const fs::path& input, const fs::path& output,
                                           const std::string& glob, const Format& format,
                                           Context& context);

/// Draws `stem`.svg and .png: the histogram of a tensor in a file, and the values that the tensor takes in the format.
/// Throws `UserError` if the file has no such tensor.
void draw_histogram(const fs::path& input, const std::string& tensor, const Format& format,
                    const fs::path& stem, Context& context);

}  // namespace hone
