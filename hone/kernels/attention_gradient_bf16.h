#pragma once

#include <cstdint>

#include "hone/kernels/attention.h"

namespace hone::kernels {

/// As `attention_gradient`, of bits of bfloat16: weights and the gradients of scores, floats, are rounded to bfloat16 before they are
/// multiplied, gradients once more when they are summed. Results have the same bits for any number of threads, and with products of
/// pairs as with fused multiply-adds of float.
void attention_gradient_bf16(ThreadPool& pool, const AttentionShape& shape, float scale,
                             const HeadsOf<const std::uint16_t>& q,
                             const HeadsOf<const std::uint16_t>& k,
                             const HeadsOf<const std::uint16_t>& v, const KeyMask& mask,
                             const HeadsOf<const std::uint16_t>& dy,
                             const HeadsOf<std::uint16_t>& dq, const HeadsOf<std::uint16_t>& dk,
                             const HeadsOf<std::uint16_t>& dv, const WeightDropout& dropout = {},
                             const TextRuns& runs = {});

}  // namespace hone::kernels
