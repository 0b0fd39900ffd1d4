#pragma once

#include <cstdint>
#include <span>

#include "hone/base/thread_pool.h"

/// Sums over dimensions of a contiguous tensor, for bias gradients and gradients of broadcasts.
namespace hone::kernels {

/// Computes out = x summed over the dimensions where `out_shape` is 1 and `shape` is not. Both have the same rank, at
/// most 6, and are equal in all other dimensions. x and out are contiguous and must not overlap.
///
///     sum_to(pool, {T, H}, dy, {1, H}, dbias);
void sum_to(ThreadPool& pool, std::span<const std::int64_t> shape, const float* x,
            std::span<const std::int64_t> out_shape, float* out);

}  // namespace hone::kernels
