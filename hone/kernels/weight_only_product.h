#pragma once

#include "hone/kernels/int8_product.h"

/// Products of float activations with packed weights of integers: what is saved is memory and the
/// reading of it, nothing is rounded but the weights.
///
/// The bits are those of `gemm` with the weights as floats, value(code) of `Int8Weight` rounded once:
/// (values[code] - 128) times the scale of its row, or times 2^(e-127) · unit. So a model gives what
/// its simulation with the same weights gives. Few rows take the weights as they are decoded; many
/// multiply by panels that were decoded once for all of them.
namespace hone::kernels {

/// X (M,K), rows `stride` apart.
struct FloatRows {
  const float* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t stride = 0;
};

/// y[m * y_stride + n], through `epilogue`, whose residual must not overlap y. `block` is the number of
/// columns that share a scale where the weight has scales per block.
void weight_only_product(ThreadPool& pool, const FloatRows& x, const Int8Weight& weight,
                         std::int64_t block, const Epilogue& epilogue, float* y,
                         std::int64_t y_stride);

}  // namespace hone::kernels
