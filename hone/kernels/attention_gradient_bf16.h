#pragma once

#include <cstdint>

#include "hone/kernels/attention.h"

namespace hone::kernels {

/// Computes `attention_gradient` on bits of bfloat16. Weights and gradients of scores are floats, rounded to bfloat16
/// before they are multiplied; the resulting gradients are rounded once. Results have the same bits for any number of
/// threads, with products of pairs or with fused multiply-adds of float.
void attention_gradient_bf16(ThreadPool& pool, const AttentionShape& shape, float scale,
                             const HeadsOf<const std::uint16_t>& q,
                             const HeadsOf<const std::uint16_t>& k,
                             const HeadsOf<const std::uint16_t>& v, const KeyMask& mask,
                             const HeadsOf<const std::uint16_t>& dy,
                             const HeadsOf<std::uint16_t>& dq, const HeadsOf<std::uint16_t>& dk,
                             const HeadsOf<std::uint16_t>& dv, const WeightDropout& dropout = {},
                             const TextRuns& runs = {});

}  // namespace hone::kernels
