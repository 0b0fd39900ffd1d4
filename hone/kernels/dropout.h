#pragma once

#include <cstdint>
#include <span>

#include "hone/base/random.h"
#include "hone/base/thread_pool.h"

/// Dropout whose mask is a pure function of a random stream: the backward pass draws it again
/// instead of keeping it.
namespace hone::kernels {

/// round(probability 2^32), at most 2^32 - 1: an element is dropped when its word is below it.
/// `probability` must be in [0, 1).
std::uint32_t dropout_threshold(double probability);

/// Element (i0, i1, ...) of the contiguous tensor x of `shape`, at most 6 dimensions, draws word
/// i0 word_strides[0] + i1 word_strides[1] + ... of the stream: with its own strides those of its
/// place in x, with the strides of a larger tensor those of its place in that.
///
/// y = x / (1 - probability) where that word is at least `dropout_threshold(probability)`, else 0.
/// The quotient is a product with the factor rounded to float. All are 0 for probability 1. Of dy it
/// gives dx. y may be the same array as x.
void dropout(ThreadPool& pool, double probability, const RandomStream& stream,
             std::span<const std::int64_t> shape, std::span<const std::int64_t> word_strides,
             const float* x, float* y);

/// The same for rows of `columns` elements that lie one behind the other, on the calling thread: row i draws the words from
/// `first_words[i]` on.
void dropout_rows(double probability, const RandomStream& stream,
                  std::span<const std::int64_t> first_words, std::int64_t columns, const float* x,
                  float* y);

}  // namespace hone::kernels
