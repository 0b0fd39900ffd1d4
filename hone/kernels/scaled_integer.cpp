#include "hone/kernels/scaled_integer.h"

#include <algorithm>
#include <limits>

#include "hone/kernels/row_loop.h"
#include "hone/kernels/scalar/scaled_integer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/scaled_integer.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/lane_sum-inl.h"
#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

// Min and Max of x86 return their second operand for NaN, so NaN stays NaN.
template <class D>
HWY_INLINE hn::Vec<D> clamped(D d, const ScaledGrid& grid, hn::Vec<D> value) {
  return hn::Max(hn::Set(d, grid.lowest), hn::Min(hn::Set(d, grid.highest), value));
}

void round_range(const ScaledGrid& grid, std::int64_t n, const float* x, float* y) {
  const Floats d;
  const auto scale = hn::Set(d, grid.scale);
  const auto inverse = hn::Set(d, 1.0f / grid.scale);
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto whole = hn::Round(hn::Mul(load(d, x + i, part), inverse));
    store(hn::Mul(clamped(d, grid, whole), scale), d, y + i, part);
  });
}

double gradient_range(const ScaledGrid& grid, std::int64_t n, const float* x, const float* dy,
                      float* dx) {
  const HalfFloats d;
  const auto inverse = hn::Set(d, 1.0f / grid.scale);
  const auto lowest = hn::Set(d, grid.lowest);
  const auto highest = hn::Set(d, grid.highest);
  return sum_in_doubles(n, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto v = hn::Mul(load(d, x + i, part), inverse);
    const auto slope = load(d, dy + i, part);
    const auto inside = hn::And(hn::Ge(v, lowest), hn::Le(v, highest));
    store(hn::IfThenElseZero(inside, slope), d, dx + i, part);
    const auto by_scale = hn::IfThenElse(inside, hn::Sub(hn::Round(v), v), clamped(d, grid, v));
    return hn::Mul(slope, by_scale);
  });
}

ValueRange finite_value_range(std::int64_t n, const float* x) {
  const Floats d;
  const auto infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  auto lowest = hn::Zero(d);
  auto highest = hn::Zero(d);
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto value = load(d, x + i, part);
    const auto finite = hn::IfThenElseZero(hn::Lt(hn::Abs(value), infinity), value);
    lowest = hn::Min(lowest, finite);
    highest = hn::Max(highest, finite);
  });
  return {hn::GetLane(hn::MinOfLanes(d, lowest)), hn::GetLane(hn::MaxOfLanes(d, highest))};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(round_range);
HWY_EXPORT(gradient_range);
HWY_EXPORT(finite_value_range);

}  // namespace

float usable_scale(float scale, float bound) { return scalar::usable_scale(scale, bound); }

void round_to_grid(ThreadPool& pool, const ScaledGrid& grid, std::int64_t n, const float* x,
                   float* y) {
  parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(round_range)(grid, end - begin, x + begin, y + begin);
  });
}

double round_to_grid_gradient(ThreadPool& pool, const ScaledGrid& grid, std::int64_t n,
                              const float* x, const float* dy, float* dx) {
  return of_pieces<double>(
      pool, n,
      [&](std::int64_t begin, std::int64_t end) {
        return HWY_DYNAMIC_DISPATCH(gradient_range)(grid, end - begin, x + begin, dy + begin,
                                                    dx + begin);
      },
      [](double& all, double next) { all += next; });
}

ValueRange finite_range(ThreadPool& pool, std::int64_t n, const float* x) {
  return of_pieces<ValueRange>(
      pool, n,
      [&](std::int64_t begin, std::int64_t end) {
        return HWY_DYNAMIC_DISPATCH(finite_value_range)(end - begin, x + begin);
      },
      [](ValueRange& all, const ValueRange& next) {
        all.lowest = std::min(all.lowest, next.lowest);
        all.highest = std::max(all.highest, next.highest);
      });
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
