#include "hone/kernels/mean_squared_error.h"

#include "hone/kernels/grain.h"
#include "hone/kernels/row_loop.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/mean_squared_error.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/lane_sum-inl.h"
#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

// Returns the sum of (x - y)² in lanes of double, in which differences of nearby floats are exact.
double sum_of_squared_errors(std::int64_t n, const float* x, const float* y) {
  const Doubles d;
  LaneSum<Doubles, kSumLanes> sum;
  for_lanes<kSumLanes>(HalfFloats(), n, [&](std::int64_t i, auto part, std::int64_t k) HWY_ATTR {
    const auto error = hn::Sub(hn::PromoteTo(d, load(HalfFloats(), x + i, part)),
                               hn::PromoteTo(d, load(HalfFloats(), y + i, part)));
    sum.add(k, hn::Mul(error, error));
  });
  return sum.total();
}

void scaled_errors(std::int64_t n, const float* x, const float* y, float factor, float* to) {
  const Floats d;
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto error = hn::Sub(load(d, x + i, part), load(d, y + i, part));
    store(hn::Mul(error, hn::Set(d, factor)), d, to + i, part);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(sum_of_squared_errors);
HWY_EXPORT(scaled_errors);

}  // namespace

float mean_squared_error(ThreadPool& pool, std::int64_t n, const float* predictions,
                         const float* targets) {
  const double sum = of_pieces<double>(
      pool, n,
      [&](std::int64_t begin, std::int64_t end) {
        return HWY_DYNAMIC_DISPATCH(sum_of_squared_errors)(end - begin, predictions + begin,
                                                           targets + begin);
      },
      [](double& all, double next) { all += next; });
  return static_cast<float>(sum / static_cast<double>(n));
}

void mean_squared_error_gradient(ThreadPool& pool, std::int64_t n, const float* predictions,
                                 const float* targets, float dloss, float* dpredictions) {
  const auto factor = static_cast<float>(2 * double{dloss} / static_cast<double>(n));
  parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(scaled_errors)
    (end - begin, predictions + begin, targets + begin, factor, dpredictions + begin);
  });
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
