#include "hone/kernels/magnitude.h"

#include <limits>

#include "hone/kernels/row_loop.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/magnitude.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/lane_sum-inl.h"
#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

Magnitudes above_range(float threshold, std::int64_t n, const float* x) {
  const HalfFloats d;
  const auto least = hn::Set(d, threshold);
  const auto infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  std::int64_t count = 0;
  const double sum = sum_in_doubles(n, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto magnitude = hn::Abs(load(d, x + i, part));
    const auto counts = hn::And(hn::Gt(magnitude, least), hn::Lt(magnitude, infinity));
    count += count_of(counts, part);
    return hn::IfThenElseZero(counts, magnitude);
  });
  return {sum, count};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(above_range);

}  // namespace

Magnitudes magnitudes_above(ThreadPool& pool, float threshold, std::int64_t n, const float* x) {
  return of_pieces<Magnitudes>(
      pool, n,
      [&](std::int64_t begin, std::int64_t end) {
        return HWY_DYNAMIC_DISPATCH(above_range)(threshold, end - begin, x + begin);
      },
      [](Magnitudes& all, const Magnitudes& next) {
        all.sum += next.sum;
        all.count += next.count;
      });
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
