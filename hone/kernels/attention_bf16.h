#pragma once

#include <cstdint>

#include "hone/kernels/attention.h"

/// Attention of bfloat16: products of pairs, summed in float.
namespace hone::kernels {

/// Computes `attention` on bits of bfloat16. Scores, masks, softmax and sums are floats. Weights are rounded to
/// bfloat16 before they multiply values; the sum that divides them is of unrounded weights. Results are rounded once.
/// They have the same bits for any number of threads, with products of pairs or with fused multiply-adds of float.
void attention_bf16(ThreadPool& pool, const AttentionShape& shape, float scale,
                    const HeadsOf<const std::uint16_t>& q, const HeadsOf<const std::uint16_t>& k,
                    const HeadsOf<const std::uint16_t>& v, const KeyMask& mask,
                    const HeadsOf<std::uint16_t>& y, const WeightDropout& dropout = {},
                    const TextRuns& runs = {});

}  // namespace hone::kernels
