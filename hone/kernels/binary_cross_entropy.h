#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"

/// Binary cross entropy of n logits x and n targets y in [0, 1].
namespace hone::kernels {

/// Returns the mean of max(x, 0) - x y + log(1 + e^-|x|), with terms in float and their sum in double; NaN if n is 0.
float binary_cross_entropy(ThreadPool& pool, std::int64_t n, const float* logits,
                           const float* targets);

/// Computes dlogits = (sigmoid(logits) - targets) dloss / n.
void binary_cross_entropy_gradient(ThreadPool& pool, std::int64_t n, const float* logits,
                                   const float* targets, float dloss, float* dlogits);

}  // namespace hone::kernels
