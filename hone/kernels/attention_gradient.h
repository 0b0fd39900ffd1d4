#pragma once

#include "hone/kernels/attention.h"

namespace hone::kernels {

/// The gradients of attention's y with respect to q, k and v, from that of a loss with respect to y. Weights are computed again, for some
/// queries of a head at a time, so nothing as large as queries times keys is in memory at once; what it works in for each thread
/// is a few times as large as a head of keys and values, and a head is one thread's.
///
/// With weights P, what dropout multiplies them by F and W = F P: dv = W^T dy, dP = F (dy v^T), dS = P (dP - rowsum(P dP)),
/// dq = scale dS k, dk = scale dS^T q (Dao and others, "FlashAttention", 2022, B.4). Results have the same bits for any number of threads.
void attention_gradient(ThreadPool& pool, const AttentionShape& shape, float scale,
                        const ConstHeads& q, const ConstHeads& k, const ConstHeads& v,
                        const KeyMask& mask, const ConstHeads& dy, const Heads& dq, const Heads& dk,
                        const Heads& dv, const WeightDropout& dropout = {},
                        const TextRuns& runs = {});

}  // namespace hone::kernels
