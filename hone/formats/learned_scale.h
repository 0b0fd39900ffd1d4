#pragma once

#include "hone/formats/format.h"
#include "hone/kernels/scaled_integer.h"

/// Scales learned with the weights: Esser et al., "Learned step size quantization", 2020.
namespace hone {

/// Returns the grid -bound, …, bound times the magnitude of a learned scale, which is kept above zero and low enough
/// for all multiples to stay finite.
kernels::ScaledGrid learned_grid(float scale, float bound);

using kernels::usable_scale;

/// Returns the factor for gradients of learned constants, 1 / sqrt(elements bound), so that constants and weights learn
/// at a similar pace.
double gradient_scale(std::int64_t elements, double bound);

/// `FormatDef::backward` of y = clamp(round(x / s), -bound, bound) s, with one learned s per group.
void learned_scale_backward(const QuantizerInput& input, const Rows& groups, float bound,
                            ThreadPool& pool, std::span<const float> dy, std::span<float> dx,
                            Tensor& scale_gradient);

}  // namespace hone
