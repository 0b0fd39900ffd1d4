#pragma once

#include <cstdint>
#include <span>

#include "hone/base/random.h"
#include "hone/base/thread_pool.h"

/// Dropout whose mask is a pure function of a random stream, so the backward pass recomputes it instead of storing it.
namespace hone::kernels {

/// Returns round(probability 2^32), at most 2^32 - 1: an element is dropped if its word is below it. `probability` must
/// be in [0, 1).
std::uint32_t dropout_threshold(double probability);

/// Element (i0, i1, ...) of the contiguous tensor x of `shape`, at most 6 dimensions, draws word
/// i0 word_strides[0] + i1 word_strides[1] + ... of the stream. With the strides of x that is its position in x, with
/// the strides of a larger tensor its position there.
///
/// Computes y = x / (1 - probability) where that word is at least `dropout_threshold(probability)`, else 0. The
/// quotient is computed as a product with the reciprocal rounded to float. With probability 1, y is 0. Applied to dy,
/// it computes dx. y may be the same array as x.
void dropout(ThreadPool& pool, double probability, const RandomStream& stream,
             std::span<const std::int64_t> shape, std::span<const std::int64_t> word_strides,
             const float* x, float* y);

/// The same for consecutive rows of `columns` elements, on the calling thread: row i draws words from `first_words[i]`
/// on.
void dropout_rows(double probability, const RandomStream& stream,
                  std::span<const std::int64_t> first_words, std::int64_t columns, const float* x,
                  float* y);

}  // namespace hone::kernels
