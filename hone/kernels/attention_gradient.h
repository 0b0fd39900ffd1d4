#pragma once

#include "hone/kernels/attention.h"

namespace hone::kernels {

/// Computes the gradients of a loss with respect to q, k and v of attention from that with respect to y. Weights are
/// recomputed for some queries of a head at a time, so no matrix of queries by keys is stored. A thread computes a
/// whole head, in a workspace a few times as large as its keys and values.
///
/// With weights P, dropout factors F and W = F P: dv = W^T dy, dP = F (dy v^T), dS = P (dP - rowsum(P dP)),
/// dq = scale dS k, dk = scale dS^T q (Dao and others, "FlashAttention", 2022, B.4). Results have the same bits for any
/// number of threads.
void attention_gradient(ThreadPool& pool, const AttentionShape& shape, float scale,
                        const ConstHeads& q, const ConstHeads& k, const ConstHeads& v,
                        const KeyMask& mask, const ConstHeads& dy, const Heads& dq, const Heads& dk,
                        const Heads& dv, const WeightDropout& dropout = {},
                        const TextRuns& runs = {});

}  // namespace hone::kernels
