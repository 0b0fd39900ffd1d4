#include "hone/kernels/fixed_point.h"

#include <cmath>

#include "hone/base/error.h"
#include "hone/kernels/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/fixed_point.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

using V = hn::Vec<Floats>;

// Computes y[i] = clamp(integral(x[i], x[i] scale)) / scale. Min and Max of x86 return their second operand for NaN and
// for zeros of either sign, so these are unchanged.
template <class Integral>
HWY_INLINE void quantize(const FixedPoint& format, float scale, std::int64_t n, const float* x,
                         float* y, Integral&& integral) {
  const Floats d;
  const V reciprocal = hn::Set(d, 1.0f / scale);
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    const V value = load(d, x + i, part);
    const V whole = integral(value, hn::Mul(value, hn::Set(d, scale)));
    const V clamped =
        hn::Max(hn::Set(d, format.lowest), hn::Min(hn::Set(d, format.highest), whole));
    store(hn::Mul(clamped, reciprocal), d, y + i, part);
  });
}

void round_range(const FixedPoint& format, float scale, std::int64_t n, const float* x, float* y) {
  quantize(format, scale, n, x, y, [](V, V scaled) HWY_ATTR { return hn::Round(scaled); });
}

void floor_range(const FixedPoint& format, float scale, std::int64_t n, const float* x, float* y) {
  quantize(format, scale, n, x, y, [](V value, V scaled) HWY_ATTR {
    const Floats d;
    // A negative value stays below 0 even if the product underflows to 0.
    const auto vanished = hn::And(hn::Lt(value, hn::Zero(d)), hn::Eq(scaled, hn::Zero(d)));
    return hn::IfThenElse(vanished, hn::Set(d, -1.0f), hn::Floor(scaled));
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(round_range);
HWY_EXPORT(floor_range);

using Range = void (*)(const FixedPoint&, float, std::int64_t, const float*, float*);

void run(ThreadPool& pool, const FixedPoint& format, std::int64_t n, const float* x, float* y,
         Range range) {
  HONE_ASSERT(std::abs(format.fraction_bits) <= 126 && format.lowest <= format.highest,
              "fixed point {} in {} to {}", format.fraction_bits, format.lowest, format.highest);
  const float scale = std::ldexp(1.0f, format.fraction_bits);
  parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    range(format, scale, end - begin, x + begin, y + begin);
  });
}

}  // namespace

void round_to_fixed_point(ThreadPool& pool, const FixedPoint& format, std::int64_t n,
                          const float* x, float* y) {
  run(pool, format, n, x, y, &HWY_DYNAMIC_DISPATCH(round_range));
}

void floor_to_fixed_point(ThreadPool& pool, const FixedPoint& format, std::int64_t n,
                          const float* x, float* y) {
  run(pool, format, n, x, y, &HWY_DYNAMIC_DISPATCH(floor_range));
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
