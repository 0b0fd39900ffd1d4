#include "hone/kernels/adamw.h"

#include <cmath>
#include <limits>
#include <vector>

#include "hone/base/error.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/adamw.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/lane_sum-inl.h"
#include "hone/kernels/vector_loop-inl.h"

#ifndef HONE_KERNELS_ADAMW_FACTORS
#define HONE_KERNELS_ADAMW_FACTORS
namespace hone::kernels {
namespace {

// Factors of a step; the same for all targets.
struct Factors {
  float gradient_scale;
  float decay;  // learning_rate weight_decay
  float one_minus_beta1;
  float beta2;
  float one_minus_beta2;
  float step_size;                // learning_rate / (1 - beta1^step)
  float reciprocal_second_scale;  // 1 / sqrt(1 - beta2^step)
  float eps;
};

}  // namespace
}  // namespace hone::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

// Flushes subnormal values to 0.
HWY_INLINE hn::Vec<Floats> normal_or_zero(hn::Vec<Floats> value) {
  const auto least = hn::Set(Floats(), std::numeric_limits<float>::min());
  return hn::IfThenZeroElse(hn::Lt(hn::Abs(value), least), value);
}

// Returns whether all bits of all three are 0.
HWY_INLINE bool all_zero(hn::Vec<Floats> a, hn::Vec<Floats> b, hn::Vec<Floats> c) {
  const hn::RebindToUnsigned<Floats> d;
  const auto bits = hn::Or3(hn::BitCast(d, a), hn::BitCast(d, b), hn::BitCast(d, c));
  return hn::AllTrue(d, hn::Eq(bits, hn::Zero(d)));
}

// Updates a range; without kHasGradient the gradient is 0.
template <bool kHasGradient>
void update_range(const Factors& factors, std::int64_t n, const float* gradient, float* parameter,
                  float* m, float* v) {
  const Floats d;
  const auto gradient_scale = hn::Set(d, factors.gradient_scale);
  const auto decay = hn::Set(d, factors.decay);
  const auto one_minus_beta1 = hn::Set(d, factors.one_minus_beta1);
  const auto beta2 = hn::Set(d, factors.beta2);
  const auto one_minus_beta2 = hn::Set(d, factors.one_minus_beta2);
  const auto step_size = hn::Set(d, factors.step_size);
  const auto reciprocal_second_scale = hn::Set(d, factors.reciprocal_second_scale);
  const auto eps = hn::Set(d, factors.eps);
  // Skips rows of a table whose tokens have not appeared yet. Nothing in them would change, and usually most of the
  // table is never read.
  const bool zeros_stay = factors.decay == 0 && factors.eps > 0;
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    auto raw = hn::Zero(d);
    if constexpr (kHasGradient) raw = load(d, gradient + i, part);
    const auto old_m = load(d, m + i, part);
    const auto old_v = load(d, v + i, part);
    if (zeros_stay && all_zero(raw, old_m, old_v)) return;
    const auto g = hn::Mul(raw, gradient_scale);
    const auto new_m = hn::MulAdd(hn::Sub(g, old_m), one_minus_beta1, old_m);
    const auto new_v = hn::MulAdd(hn::Mul(g, g), one_minus_beta2, hn::Mul(old_v, beta2));
    const auto deviation = hn::MulAdd(hn::Sqrt(new_v), reciprocal_second_scale, eps);
    const auto old_parameter = load(d, parameter + i, part);
    // Decay alone may be too small to change the parameter, so decay and step are added first and rounded once.
    const auto update =
        hn::MulAdd(step_size, hn::Div(new_m, deviation), hn::Mul(decay, old_parameter));
    store(normal_or_zero(new_m), d, m + i, part);
    store(normal_or_zero(new_v), d, v + i, part);
    store(hn::Sub(old_parameter, update), d, parameter + i, part);
  });
}

void adamw_range(const Factors& factors, std::int64_t n, const float* gradient, float* parameter,
                 float* m, float* v) {
  if (gradient != nullptr)
    update_range<true>(factors, n, gradient, parameter, m, v);
  else
    update_range<false>(factors, n, gradient, parameter, m, v);
}

// Sums in lanes of double, in which the squares of floats are exact.
double sum_of_squares_range(std::int64_t n, const float* x) {
  LaneSum<Doubles, kSumLanes> sum;
  for_lanes<kSumLanes>(HalfFloats(), n, [&](std::int64_t i, auto part, std::int64_t k) HWY_ATTR {
    const auto value = hn::PromoteTo(Doubles(), load(HalfFloats(), x + i, part));
    sum.add(k, hn::Mul(value, value));
  });
  return sum.total();
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(adamw_range);
HWY_EXPORT(sum_of_squares_range);

Factors factors_of(const AdamW& adamw, std::int64_t step, double gradient_scale) {
  const auto steps = static_cast<double>(step);
  const double first_scale = 1.0 - std::pow(adamw.beta1, steps);
  const double second_scale = 1.0 - std::pow(adamw.beta2, steps);
  return {.gradient_scale = static_cast<float>(gradient_scale),
          .decay = static_cast<float>(adamw.learning_rate * adamw.weight_decay),
          .one_minus_beta1 = static_cast<float>(1.0 - adamw.beta1),
          .beta2 = static_cast<float>(adamw.beta2),
          .one_minus_beta2 = static_cast<float>(1.0 - adamw.beta2),
          .step_size = static_cast<float>(adamw.learning_rate / first_scale),
          .reciprocal_second_scale = static_cast<float>(1.0 / std::sqrt(second_scale)),
          .eps = static_cast<float>(adamw.eps)};
}

}  // namespace

void adamw_step(ThreadPool& pool, const AdamW& adamw, std::int64_t step, double gradient_scale,
                std::int64_t n, const float* gradient, float* parameter, float* m, float* v) {
  HONE_ASSERT(step >= 1, "adamw step {}", step);
  const Factors factors = factors_of(adamw, step, gradient_scale);
  parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(adamw_range)
    (factors, end - begin, gradient + begin, parameter + begin, m + begin, v + begin);
  });
}

void adamw_step_by_row(ThreadPool& pool, const AdamW& adamw, std::int64_t step,
                       double gradient_scale, std::int64_t rows, std::int64_t width,
                       std::int64_t count, const std::int64_t* named, const float* sums,
                       float* table, float* m, float* v) {
  HONE_ASSERT(step >= 1, "adamw step {}", step);
  static thread_local std::vector<const float*> gradient_of_row;
  gradient_of_row.assign(static_cast<std::size_t>(rows), nullptr);
  for (std::int64_t i = 0; i < count; ++i)
    if (named[i] >= 0) gradient_of_row[static_cast<std::size_t>(named[i])] = sums + i * width;
  const float* const* const gradients = gradient_of_row.data();  // that of the calling thread
  const Factors factors = factors_of(adamw, step, gradient_scale);
  parallel_ranges(pool, rows, rows_per_chunk(width), [&](std::int64_t begin, std::int64_t end) {
    // Consecutive rows without a gradient are one range.
    for (std::int64_t row = begin; row < end;) {
      std::int64_t next = row + 1;
      while (gradients[row] == nullptr && next < end && gradients[next] == nullptr) ++next;
      HWY_DYNAMIC_DISPATCH(adamw_range)
      (factors, (next - row) * width, gradients[row], table + row * width, m + row * width,
       v + row * width);
      row = next;
    }
  });
}

double sum_of_squares(ThreadPool& pool, std::int64_t n, const float* x) {
  static thread_local Scratch scratch;
  const std::int64_t chunks = (n + kChunkElements - 1) / kChunkElements;
  double* const partials = scratch.doubles(static_cast<std::size_t>(chunks));
  parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    partials[begin / kChunkElements] =
        HWY_DYNAMIC_DISPATCH(sum_of_squares_range)(end - begin, x + begin);
  });
  double sum = 0.0;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) sum += partials[chunk];
  return sum;
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
