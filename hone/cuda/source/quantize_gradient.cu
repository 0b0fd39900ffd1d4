// Computes dx and the gradients of learned constants, for number formats whose gradients are not straight-through. RULE
// is the format's rule, a struct of hone/kernels/scalar. Groups are summed in chunks, then the chunks are added, in
// double and in a fixed order.
#include "hone/kernels/scalar/scaled_integer.h"
#include "hone/kernels/scalar/sign.h"
#include "numbers.cuh"

using namespace hone;

constexpr int kThreads = 256;
constexpr int kMaxSums = scalar::ResidualSigns::kMaxLevels;

// y = clamp(round(x / s), -bound, bound) s: gradients are 0 outside the bounds.
struct IntegerGradient {
  scalar::ScaledGrid grid;

  IntegerGradient(const scalar::IntegerGrids& rule, const float* state, std::int64_t group)
      : grid(rule.of(state[group], 0)) {}
  float operator()(float x, float dy, double* sums) const {
    const float v = x * (1 / grid.scale);
    const bool inside = v >= grid.lowest && v <= grid.highest;
    const float by_scale =
        inside ? nearbyintf(v) - v : scalar::clamped(v, grid.lowest, grid.highest);
    sums[0] += double(dy * by_scale);
    return inside ? dy : 0.0f;
  }
};

// y = s sign(x): gradients pass where |x| <= max(1, |s|).
struct TwoValuesGradient {
  float bound;

  TwoValuesGradient(const scalar::TwoValues&, const float* state, std::int64_t group)
      : bound(state == nullptr ? 1.0f : scalar::larger(1.0f, fabsf(state[group]))) {}
  float operator()(float x, float dy, double* sums) const {
    sums[0] += double(x < 0 ? -dy : dy);
    return fabsf(x) <= bound ? dy : 0.0f;
  }
};

struct ResidualSignsGradient {
  scalar::ResidualSigns signs;
  float bound;

  ResidualSignsGradient(const scalar::ResidualSigns& rule, const float* state, std::int64_t)
      : signs(rule) {
    if (state != nullptr)
      for (int l = 0; l < kMaxSums; ++l)
        if (l < signs.levels) signs.means[l] = state[l];
    bound = signs.gradient_bound();
  }
  float operator()(float x, float dy, double* sums) const {
    if (signs.old) return dy * signs.old_slope(x);
    float residual = x;
#pragma unroll
    for (int l = 0; l < kMaxSums; ++l) {
      if (l >= signs.levels) break;
      sums[l] += double(residual < 0 ? -dy : dy);
      residual -= residual < 0 ? -signs.means[l] : signs.means[l];
    }
    return fabsf(x) <= bound ? dy : 0.0f;
  }
};

IntegerGradient gradient_of(const scalar::IntegerGrids& rule, const float* state,
                            std::int64_t group) {
  return {rule, state, group};
}
TwoValuesGradient gradient_of(const scalar::TwoValues& rule, const float* state,
                              std::int64_t group) {
  return {rule, state, group};
}
ResidualSignsGradient gradient_of(const scalar::ResidualSigns& rule, const float* state,
                                  std::int64_t group) {
  return {rule, state, group};
}

// Processes groups of `columns` adjacent values, with `chunks` blocks of threads per group. `partial` is (groups,
// chunks, count of sums), or null if nothing is learned.
extern "C" __global__ void __launch_bounds__(kThreads)
    gradient_elements(scalar::RULE rule, const float* state, std::int64_t columns, unsigned chunks,
                      std::int64_t chunk_elements, const float* x, const float* dy, float* dx,
                      int sum_count, double* partial) {
  using Four = Pack<float, 4>;
  const std::int64_t group = blockIdx.x / chunks;
  const auto gradient = gradient_of(rule, state, group);
  const std::int64_t begin = blockIdx.x % chunks * chunk_elements;
  const std::int64_t left = columns - begin;
  const std::int64_t count = left < chunk_elements ? left : chunk_elements;
  x += group * columns + begin;
  dy += group * columns + begin;
  dx += group * columns + begin;
  double sums[kMaxSums] = {};
  const std::size_t addresses = reinterpret_cast<std::size_t>(x) |
                                reinterpret_cast<std::size_t>(dy) |
                                reinterpret_cast<std::size_t>(dx);
  const std::int64_t packs = addresses % sizeof(Four) == 0 ? count / 4 : 0;
#pragma unroll 2
  for (std::int64_t i = threadIdx.x; i < packs; i += kThreads) {
    const Four at = reinterpret_cast<const Four*>(x)[i];
    Four slope = reinterpret_cast<const Four*>(dy)[i];
#pragma unroll
    for (int k = 0; k < 4; ++k) slope.at[k] = gradient(at.at[k], slope.at[k], sums);
    reinterpret_cast<Four*>(dx)[i] = slope;
  }
  for (std::int64_t i = 4 * packs + threadIdx.x; i < count; i += kThreads)
    dx[i] = gradient(x[i], dy[i], sums);
  if (partial == nullptr) return;
  __shared__ double of_thread[kThreads];
#pragma unroll
  for (int s = 0; s < kMaxSums; ++s) {
    if (s >= sum_count) break;
    of_thread[threadIdx.x] = sums[s];
    for (int width = kThreads / 2; width > 0; width /= 2) {
      __syncthreads();
      if (int(threadIdx.x) < width) of_thread[threadIdx.x] += of_thread[threadIdx.x + width];
    }
    if (threadIdx.x == 0) partial[std::int64_t(blockIdx.x) * sum_count + s] = of_thread[0];
    __syncthreads();
  }
}

// gradient (groups, count of sums) = pace x sum over the chunks, with a warp per sum. If values depend on |state|, it
// has the state's sign.
extern "C" __global__ void gradient_totals(std::int64_t groups, unsigned chunks, int sum_count,
                                           double pace, const float* signs, const double* partial,
                                           float* gradient) {
  const std::int64_t index = thread_number() / 32;
  if (index >= groups * sum_count) return;
  const std::int64_t group = index / sum_count, s = index % sum_count;
  partial += group * chunks * sum_count + s;
  double sum = 0;
  for (unsigned chunk = threadIdx.x % 32; chunk < chunks; chunk += 32)
    sum += partial[std::int64_t(chunk) * sum_count];
#pragma unroll
  for (int other = 16; other > 0; other /= 2) sum += __shfl_xor_sync(0xffffffff, sum, other);
  if (threadIdx.x % 32 != 0) return;
  const bool minus = signs != nullptr && scalar::is_negative(signs[group]);
  gradient[index] = float(minus ? -pace * sum : pace * sum);
}
