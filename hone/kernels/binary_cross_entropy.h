#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"

/// Binary cross entropy of n logits x against as many targets y within [0, 1].
namespace hone::kernels {

/// Mean of max(x, 0) - x y + log(1 + e^-|x|), the terms in float, their sum in double. NaN where n is 0.
float binary_cross_entropy(ThreadPool& pool, std::int64_t n, const float* logits,
                           const float* targets);

/// dlogits = (sigmoid(logits) - targets) dloss / n.
void binary_cross_entropy_gradient(ThreadPool& pool, std::int64_t n, const float* logits,
                                   const float* targets, float dloss, float* dlogits);

}  // namespace hone::kernels
