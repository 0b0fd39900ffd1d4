#include "hone/kernels/mask.h"

#include <cmath>

// Loops that a compiler makes vectors of, bound by memory.
namespace hone::kernels {
namespace {

constexpr std::int64_t kChunkElements = 32 << 10;

}  // namespace

void mask(ThreadPool& pool, std::int64_t n, const float* x, const bool* kept, float* y) {
  parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) y[i] = kept[i] ? x[i] : 0.0f;
  });
}

void threshold(ThreadPool& pool, std::int64_t n, float least, const float* x, float* y) {
  threshold_gradient(pool, n, least, x, x, y);
}

void threshold_gradient(ThreadPool& pool, std::int64_t n, float least, const float* x,
                        const float* dy, float* dx) {
  parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) dx[i] = std::fabs(x[i]) < least ? 0.0f : dy[i];
  });
}

}  // namespace hone::kernels
