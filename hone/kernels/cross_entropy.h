#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"

/// Cross entropy of logits (rows, classes) against integer labels (rows).
///
/// A label is a class in [0, classes) or `kIgnoredLabel`; anything else is an internal error.
namespace hone::kernels {

inline constexpr std::int64_t kIgnoredLabel = -100;

/// Returns the mean over the rows that are not ignored of log(sum of e^logits) - logits[label], weighted by
/// class_weights[label] (classes): sum of w loss / sum of w. Null: all weights are 1. NaN if all rows are ignored.
float cross_entropy(ThreadPool& pool, std::int64_t rows, std::int64_t classes, const float* logits,
                    const std::int64_t* labels, const float* class_weights = nullptr);

/// Computes dlogits = dloss (softmax(logits) - one_hot(label)) w[label] / sum of w over the rows that are not ignored;
/// 0 in ignored rows.
void cross_entropy_gradient(ThreadPool& pool, std::int64_t rows, std::int64_t classes,
                            const float* logits, const std::int64_t* labels, float dloss,
                            float* dlogits, const float* class_weights = nullptr);

}  // namespace hone::kernels
