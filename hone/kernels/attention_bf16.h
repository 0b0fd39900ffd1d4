#pragma once

#include <cstdint>

#include "hone/kernels/attention.h"

/// Attention of bfloat16: products of pairs, summed in float.
namespace hone::kernels {

/// As `attention`, of bits of bfloat16: scores, masks, softmax and sums are floats; weights are rounded to bfloat16 before values
/// are multiplied by them, the sum that divides them is of those not rounded; results are rounded once. Results have the same
/// bits for any number of threads, and with products of pairs as with fused multiply-adds of float.
void attention_bf16(ThreadPool& pool, const AttentionShape& shape, float scale,
                    const HeadsOf<const std::uint16_t>& q, const HeadsOf<const std::uint16_t>& k,
                    const HeadsOf<const std::uint16_t>& v, const KeyMask& mask,
                    const HeadsOf<std::uint16_t>& y, const WeightDropout& dropout = {},
                    const TextRuns& runs = {});

}  // namespace hone::kernels
