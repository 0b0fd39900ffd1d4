#include "hone/kernels/sign.h"

#include "hone/base/error.h"
#include "hone/kernels/row_loop.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/sign.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/lane_sum-inl.h"
#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

// Returns magnitude sign(value), with sign(0) = +1.
template <class D>
HWY_INLINE hn::Vec<D> with_sign(D d, hn::Vec<D> value, hn::Vec<D> magnitude) {
  return hn::IfThenElse(hn::Lt(value, hn::Zero(d)), hn::Neg(magnitude), magnitude);
}

template <int Levels>
HWY_INLINE void quantize(const float* means, std::int64_t n, const float* x, float* y) {
  const Floats d;
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto value = load(d, x + i, part);
    auto sum = with_sign(d, value, hn::Set(d, means[0]));
    auto residual = hn::Sub(value, sum);
    for (int l = 1; l < Levels; ++l) {
      const auto step = with_sign(d, residual, hn::Set(d, means[l]));
      sum = hn::Add(sum, step);
      residual = hn::Sub(residual, step);
    }
    store(hn::IfThenElse(hn::IsNaN(value), value, sum), d, y + i, part);
  });
}

void residual_range(int levels, const float* means, std::int64_t n, const float* x, float* y) {
  if (levels == 1) quantize<1>(means, n, x, y);
  if (levels == 2) quantize<2>(means, n, x, y);
  if (levels == 3) quantize<3>(means, n, x, y);
  if (levels == 4) quantize<4>(means, n, x, y);
}

double residual_gradient_range(const float* means, int level, std::int64_t n, const float* x,
                               const float* dy) {
  const HalfFloats d;
  return sum_in_doubles(n, [&](std::int64_t i, auto part) HWY_ATTR {
    auto residual = load(d, x + i, part);
    for (int l = 0; l < level; ++l)
      residual = hn::Sub(residual, with_sign(d, residual, hn::Set(d, means[l])));
    return with_sign(d, residual, load(d, dy + i, part));
  });
}

void clip_range(float bound, std::int64_t n, const float* x, const float* dy, float* dx) {
  const Floats d;
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto inside = hn::Le(hn::Abs(load(d, x + i, part)), hn::Set(d, bound));
    store(hn::IfThenElseZero(inside, load(d, dy + i, part)), d, dx + i, part);
  });
}

void above_range(float threshold, float alpha, std::int64_t n, const float* x, float* y) {
  const Floats d;
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto value = load(d, x + i, part);
    const auto above = hn::Gt(hn::Abs(value), hn::Set(d, threshold));
    const auto ternary = hn::IfThenElseZero(above, with_sign(d, value, hn::Set(d, alpha)));
    store(hn::IfThenElse(hn::IsNaN(value), value, ternary), d, y + i, part);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(residual_range);
HWY_EXPORT(residual_gradient_range);
HWY_EXPORT(clip_range);
HWY_EXPORT(above_range);

}  // namespace

void residual_signs(ThreadPool& pool, std::span<const float> means, std::int64_t n, const float* x,
                    float* y) {
  const int levels = static_cast<int>(means.size());
  HONE_ASSERT(levels >= 1 && levels <= kMaxSignLevels, "{} levels of signs", levels);
  parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(residual_range)(levels, means.data(), end - begin, x + begin, y + begin);
  });
}

double residual_sign_gradient(ThreadPool& pool, std::span<const float> means, int l, std::int64_t n,
                              const float* x, const float* dy) {
  HONE_ASSERT(l >= 0 && l < static_cast<int>(means.size()), "level {} of {}", l, means.size());
  return of_pieces<double>(
      pool, n,
      [&](std::int64_t begin, std::int64_t end) {
        return HWY_DYNAMIC_DISPATCH(residual_gradient_range)(means.data(), l, end - begin,
                                                             x + begin, dy + begin);
      },
      [](double& all, double next) { all += next; });
}

void clip_gradient(ThreadPool& pool, float bound, std::int64_t n, const float* x, const float* dy,
                   float* dx) {
  parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(clip_range)(bound, end - begin, x + begin, dy + begin, dx + begin);
  });
}

void signs_above(ThreadPool& pool, float threshold, float alpha, std::int64_t n, const float* x,
                 float* y) {
  parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(above_range)(threshold, alpha, end - begin, x + begin, y + begin);
  });
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
