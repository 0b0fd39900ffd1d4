#include "hone/kernels/layer_norm.h"

#include <algorithm>
#include <cmath>

#include "hone/kernels/grain.h"
#include "hone/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/layer_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/lane_sum-inl.h"
#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

struct Moments {
  float mean;
  float reciprocal_deviation;  // 1 / sqrt(variance + eps)
};

// Two passes: the variance is computed around the mean, which avoids cancellation.
HWY_INLINE Moments moments_of(std::int64_t c, const float* x, float eps) {
  const Floats d;
  const float sum =
      sum_of_terms(c, [&](std::int64_t i, auto part) HWY_ATTR { return load(d, x + i, part); });
  const float mean = sum / static_cast<float>(c);
  const float squares = sum_of_terms(c, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto centred = existing(d, hn::Sub(load(d, x + i, part), hn::Set(d, mean)), part);
    return hn::Mul(centred, centred);
  });
  return {mean, 1.0f / std::sqrt(squares / static_cast<float>(c) + eps)};
}

// Returns xhat at i.
template <class Part>
HWY_INLINE hn::Vec<Floats> normalized(const float* x, std::int64_t i, Part part,
                                      const Moments& moments) {
  const Floats d;
  const auto centred = hn::Sub(load(d, x + i, part), hn::Set(d, moments.mean));
  return hn::Mul(centred, hn::Set(d, moments.reciprocal_deviation));
}

void layer_norm_rows(std::int64_t rows, std::int64_t c, const float* x, const float* gamma,
                     const float* beta, float eps, float* y) {
  const Floats d;
  for (std::int64_t r = 0; r < rows; ++r, x += c, y += c) {
    const Moments moments = moments_of(c, x, eps);
    for_vectors(d, c, [&](std::int64_t i, auto part) HWY_ATTR {
      const auto xhat = normalized(x, i, part, moments);
      store(hn::MulAdd(xhat, load(d, gamma + i, part), load(d, beta + i, part)), d, y + i, part);
    });
  }
}

// The sums of g and of g xhat over a row.
struct RowSums {
  float g;
  float g_xhat;
};

// Computes the sums of a row and adds the row to dgamma and dbeta.
HWY_INLINE RowSums accumulate_row(std::int64_t c, const float* x, const float* gamma,
                                  const Moments& moments, const float* dy, float* dgamma,
                                  float* dbeta) {
  constexpr std::int64_t kLanes = 32;  // two sums that leave registers for the rest
  const Floats d;
  LaneSum<Floats, kLanes> sum_g, sum_g_xhat;
  for_lanes<kLanes>(d, c, [&](std::int64_t i, auto part, std::int64_t k) HWY_ATTR {
    const auto slope = load(d, dy + i, part);
    const auto xhat = normalized(x, i, part, moments);
    const auto g = hn::Mul(slope, load(d, gamma + i, part));
    store(hn::MulAdd(slope, xhat, load(d, dgamma + i, part)), d, dgamma + i, part);
    store(hn::Add(slope, load(d, dbeta + i, part)), d, dbeta + i, part);
    sum_g.add(k, g);
    sum_g_xhat.add(k, hn::Mul(g, xhat));  // 0 in missing lanes, like g
  });
  return {sum_g.total(), sum_g_xhat.total()};
}

// Computes dx of the rows and adds to dgamma and dbeta.
void layer_norm_gradient_rows(std::int64_t rows, std::int64_t c, const float* x, const float* gamma,
                              float eps, const float* dy, float* dx, float* dgamma, float* dbeta) {
  const Floats d;
  for (std::int64_t r = 0; r < rows; ++r, x += c, dy += c, dx += c) {
    const Moments moments = moments_of(c, x, eps);
    const RowSums sums = accumulate_row(c, x, gamma, moments, dy, dgamma, dbeta);
    const auto mean_g = hn::Set(d, sums.g / static_cast<float>(c));
    const auto mean_g_xhat = hn::Set(d, sums.g_xhat / static_cast<float>(c));
    for_vectors(d, c, [&](std::int64_t i, auto part) HWY_ATTR {
      const auto xhat = normalized(x, i, part, moments);
      const auto g = hn::Mul(load(d, dy + i, part), load(d, gamma + i, part));
      const auto centred = hn::NegMulAdd(xhat, mean_g_xhat, hn::Sub(g, mean_g));
      store(hn::Mul(centred, hn::Set(d, moments.reciprocal_deviation)), d, dx + i, part);
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

HWY_EXPORT(layer_norm_rows);
HWY_EXPORT(layer_norm_gradient_rows);

}  // namespace

void layer_norm(ThreadPool& pool, std::int64_t rows, std::int64_t c, const float* x,
                const float* gamma, const float* beta, float eps, float* y) {
  parallel_ranges(pool, rows, rows_per_chunk(c), [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(layer_norm_rows)
    (end - begin, c, x + begin * c, gamma, beta, eps, y + begin * c);
  });
}

void layer_norm_gradient(ThreadPool& pool, std::int64_t rows, std::int64_t c, const float* x,
                         const float* gamma, float eps, const float* dy, float* dx, float* dgamma,
                         float* dbeta) {
  static thread_local Scratch scratch;
  const std::int64_t grain = rows_per_partial(rows, c);
  const std::int64_t chunks = (rows + grain - 1) / grain;
  float* const partials =
      scratch.floats(static_cast<std::size_t>(chunks * 2 * c));  // (chunks, {dgamma, dbeta}, c)
  parallel_ranges(pool, rows, grain, [&](std::int64_t begin, std::int64_t end) {
    float* const partial = partials + begin / grain * 2 * c;
    std::fill_n(partial, 2 * c, 0.0f);
    HWY_DYNAMIC_DISPATCH(layer_norm_gradient_rows)
    (end - begin, c, x + begin * c, gamma, eps, dy + begin * c, dx + begin * c, partial,
     partial + c);
  });
  std::fill_n(dgamma, c, 0.0f);
  std::fill_n(dbeta, c, 0.0f);
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const float* const partial = partials + chunk * 2 * c;
    for (std::int64_t i = 0; i < c; ++i) dgamma[i] += partial[i];
    for (std::int64_t i = 0; i < c; ++i) dbeta[i] += partial[c + i];
  }
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
