#pragma once

#include <algorithm>
#include <cstdint>

/// How kernels split their work into chunks: by shape alone, so that results do not depend on the number of threads.
namespace hone::kernels {

/// Returns a / b, rounded up.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

/// Elements per chunk of an element-wise kernel, 128 KiB of floats: some microseconds of work, far more than the cost
/// of claiming a chunk. Smaller problems run on the calling thread.
inline constexpr std::int64_t kChunkElements = 32768;

/// Returns the number of rows of `width` elements per chunk.
inline std::int64_t rows_per_chunk(std::int64_t width) {
  return std::max<std::int64_t>(1, kChunkElements / std::max<std::int64_t>(1, width));
}

/// Largest number of chunks if every chunk keeps partial sums.
inline constexpr std::int64_t kMaxPartials = 16;

/// Returns the number of rows per chunk that makes at most `kMaxPartials` chunks.
inline std::int64_t rows_per_partial(std::int64_t rows, std::int64_t width) {
  return std::max((rows + kMaxPartials - 1) / kMaxPartials, rows_per_chunk(width));
}

}  // namespace hone::kernels
