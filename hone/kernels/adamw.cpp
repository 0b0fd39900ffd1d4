#include "hone/kernels/adamw.h"

#include <cmath>

#include "hone/base/error.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/adamw.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/vector_loop-inl.h"

#ifndef HONE_KERNELS_ADAMW_FACTORS
#define HONE_KERNELS_ADAMW_FACTORS
namespace hone::kernels {
namespace {

// What a step multiplies with; the same for all targets.
struct Factors {
  float gradient_scale;
  float decay;
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

void adamw_range(const Factors& factors, std::int64_t n, const float* gradient, float* parameter,
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
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto g = hn::Mul(load(d, gradient + i, part), gradient_scale);
    const auto old_m = load(d, m + i, part);
    const auto new_m = hn::MulAdd(hn::Sub(g, old_m), one_minus_beta1, old_m);
    const auto new_v =
        hn::MulAdd(hn::Mul(g, g), one_minus_beta2, hn::Mul(load(d, v + i, part), beta2));
    const auto deviation = hn::MulAdd(hn::Sqrt(new_v), reciprocal_second_scale, eps);
    const auto decayed = hn::Mul(load(d, parameter + i, part), decay);
    store(new_m, d, m + i, part);
    store(new_v, d, v + i, part);
    store(hn::NegMulAdd(step_size, hn::Div(new_m, deviation), decayed), d, parameter + i, part);
  });
}

double sum_of_squares_range(std::int64_t n, const float* x) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> half;  // as many floats as a vector has doubles
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto sum0 = hn::Zero(d);
  auto sum1 = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto x0 = hn::PromoteTo(d, hn::LoadU(half, x + i));
    const auto x1 = hn::PromoteTo(d, hn::LoadU(half, x + i + lanes));
    sum0 = hn::MulAdd(x0, x0, sum0);
    sum1 = hn::MulAdd(x1, x1, sum1);
  }
  double rest = 0.0;
  for (; i < n; ++i) rest += double{x[i]} * double{x[i]};
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1))) + rest;
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
          .decay = static_cast<float>(1.0 - adamw.learning_rate * adamw.weight_decay),
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
