#pragma once

#include <cstdint>
#include <span>

#include "hone/base/random.h"
#include "hone/base/thread_pool.h"

/// Products with few outputs of an input after dropout, for the first factor of a low-rank adapter. The input after
/// dropout is computed block by block in the cache and never stored as a whole.
namespace hone::kernels {

/// Dropout of the rows of an input: row i draws the words of the stream from `first_words[i]` on, see dropout.h.
struct DroppedRows {
  double probability = 0;
  RandomStream stream;
  std::span<const std::int64_t> first_words;  ///< (T)
  std::int64_t columns = 0;                   ///< K

  std::int64_t count() const { return static_cast<std::int64_t>(first_words.size()); }
};

/// Computes y (T, N) = dropout(x (T, K)) weight (N, K)^T.
void dropped_product(ThreadPool& pool, const DroppedRows& rows, std::int64_t outputs,
                     const float* x, const float* weight, float* y);

/// Computes dx (T, K) = dropout(dy (T, N) weight (N, K)) and dweight (N, K) = dy^T dropout(x). `workspace` holds
/// `dropped_product_workspace_floats` floats.
void dropped_product_gradient(ThreadPool& pool, const DroppedRows& rows, std::int64_t outputs,
                              const float* x, const float* weight, const float* dy, float* dx,
                              float* dweight, float* workspace);
std::int64_t dropped_product_workspace_floats(std::int64_t rows, std::int64_t columns,
                                              std::int64_t outputs);

}  // namespace hone::kernels
