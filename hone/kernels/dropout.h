#pragma once

#include <cstdint>

#include "hone/base/random.h"
#include "hone/base/thread_pool.h"

/// Dropout whose mask is a pure function of a random stream: the backward pass draws it again
/// instead of keeping it.
namespace hone::kernels {

/// round(probability 2^32), at most 2^32 - 1: element i is dropped when `stream.word(i)` is below
/// it. `probability` must be in [0, 1).
std::uint32_t dropout_threshold(double probability);

/// y[i] = x[i] / (1 - probability) where stream.word(i) >= dropout_threshold(probability), else 0.
/// The quotient is a product with the factor rounded to float. All are 0 for probability 1. Of dy it
/// gives dx. y may be the same array as x.
void dropout(ThreadPool& pool, double probability, const RandomStream& stream, std::int64_t n,
             const float* x, float* y);

}  // namespace hone::kernels
