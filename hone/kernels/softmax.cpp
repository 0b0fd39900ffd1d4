#include "hone/kernels/softmax.h"

#include "hone/kernels/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/softmax.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

void softmax_rows(std::int64_t rows, std::int64_t n, const float* x, float* y) {
  const Floats d;
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const auto keep = [&](std::int64_t i, auto part, auto term)
                          HWY_ATTR { store(term, d, y + i, part); };
    const float sum = sum_of_exponentials(n, x, row_maximum(n, x), keep);
    scale_row(n, 1.0f / sum, y);
  }
}

void softmax_gradient_rows(std::int64_t rows, std::int64_t n, const float* y, const float* dy,
                           float* dx) {
  const Floats d;
  for (std::int64_t r = 0; r < rows; ++r, y += n, dy += n, dx += n) {
    const float dot = sum_of_terms(n, [&](std::int64_t i, auto part) HWY_ATTR {
      return hn::Mul(load(d, y + i, part), load(d, dy + i, part));
    });
    for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
      const auto centred = hn::Sub(load(d, dy + i, part), hn::Set(d, dot));
      store(hn::Mul(load(d, y + i, part), centred), d, dx + i, part);
    });
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(softmax_rows);
HWY_EXPORT(softmax_gradient_rows);

}  // namespace

void softmax(ThreadPool& pool, std::int64_t rows, std::int64_t n, const float* x, float* y) {
  parallel_ranges(pool, rows, rows_per_chunk(n), [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(softmax_rows)(end - begin, n, x + begin * n, y + begin * n);
  });
}

void softmax_gradient(ThreadPool& pool, std::int64_t rows, std::int64_t n, const float* y,
                      const float* dy, float* dx) {
  parallel_ranges(pool, rows, rows_per_chunk(n), [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(softmax_gradient_rows)
    (end - begin, n, y + begin * n, dy + begin * n, dx + begin * n);
  });
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
