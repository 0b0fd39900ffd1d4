// Batch norm of x (images, channels, pixels), and its gradient. A block processes one part of the values of one
// channel, WIDTH adjacent values at a time. With the statistics of the batch there are two kernels: one stores the
// moments of each part, the other combines those of its channel, in a fixed order, before it computes the results.
//
// Results may overwrite an operand: a thread reads each element before it writes it.
#include "convolution_call.cuh"
#include "numbers.cuh"

#ifndef WIDTH
#define WIDTH 1
#endif

using namespace hone::cuda;

constexpr int kThreads = 256;

/// The values of the channels, counted in packs of WIDTH. At most 32 parts, so that a warp can combine their moments.
struct Channels {
  std::int32_t channels, parts;
  std::int32_t packs, packs_of_part;  ///< per channel, and per part
  Divisor plane;                      ///< packs of a channel of one image
};

using Values = Pack<VALUE, WIDTH>;

/// Moments of values x with gradients dy: count, mean, sum of squares around the mean, sum of dy, and of dy (x - mean).
struct Moments {
  float count, mean, squares, dy, product;
};

// Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979.
inline Moments joined(const Moments& a, const Moments& b) {
  if (b.count == 0) return a;
  if (a.count == 0) return b;
  const float count = a.count + b.count, distance = b.mean - a.mean, share = b.count / count;
  const float mean = fmaf(distance, share, a.mean);
  return {count, mean, a.squares + b.squares + distance * distance * a.count * share, a.dy + b.dy,
          fmaf(a.mean - mean, a.dy, a.product) + fmaf(b.mean - mean, b.dy, b.product)};
}

// Returns the result to the first lane.
inline Moments joined_in_warp(Moments own) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) {
    Moments other;
    other.count = __shfl_down_sync(0xffffffffu, own.count, apart);
    other.mean = __shfl_down_sync(0xffffffffu, own.mean, apart);
    other.squares = __shfl_down_sync(0xffffffffu, own.squares, apart);
    other.dy = __shfl_down_sync(0xffffffffu, own.dy, apart);
    other.product = __shfl_down_sync(0xffffffffu, own.product, apart);
    own = joined(own, other);
  }
  return own;
}

struct BlockPart {
  int channel, part, begin, end;

  explicit BlockPart(const Channels& c)
      : channel(int(blockIdx.x) / c.parts),
        part(int(blockIdx.x) - channel * c.parts),
        begin(part * c.packs_of_part),
        end(min(begin + c.packs_of_part, c.packs)) {}
};

// Calls body(pack) with the index of each pack of the part that belongs to this thread.
template <typename Body>
inline void for_packs(const Channels& c, const BlockPart& block, Body body) {
#pragma unroll 4
  for (int number = block.begin + int(threadIdx.x); number < block.end; number += kThreads) {
    const int image = int(std::uint64_t(number) * c.plane.factor >> c.plane.shift);
    const std::int64_t plane = std::int64_t(image) * c.channels + block.channel;
    body(plane * c.plane.divisor + number - image * c.plane.divisor);
  }
}

// `dy` holds the gradients, or is null. Differences are from the thread's first value, so that sums of their squares do
// not cancel.
inline void find_moments(const Channels& c, const Values* x, const Values* dy, Moments* moments) {
  __shared__ Moments of_warps[kThreads / 32];
  const BlockPart block(c);
  Moments own = {};
  float first = 0, sum = 0;
  for_packs(c, block, [&](std::int64_t at) {
    const Values values = x[at];
    if (own.count == 0) first = to_float(values.at[0]);
    own.count += WIDTH;
    Values gradients = {};
    if (dy != nullptr) gradients = dy[at];
#pragma unroll
    for (int i = 0; i < WIDTH; ++i) {
      const float distance = to_float(values.at[i]) - first, gradient = to_float(gradients.at[i]);
      sum += distance;
      own.squares = fmaf(distance, distance, own.squares);
      own.dy += gradient;
      own.product = fmaf(gradient, distance, own.product);
    }
  });
  if (own.count > 0) {
    const float mean = sum / own.count;
    own.mean = first + mean;
    own.squares = fmaxf(fmaf(-mean, sum, own.squares), 0.0f);
    own.product = fmaf(-mean, own.dy, own.product);
  }
  own = joined_in_warp(own);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = own;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  own = {};
  if (threadIdx.x < kThreads / 32) own = of_warps[threadIdx.x];
  own = joined_in_warp(own);
  if (threadIdx.x == 0) moments[blockIdx.x] = own;
}

extern "C" __global__ void __launch_bounds__(kThreads)
    moments(const __grid_constant__ Channels c, const Values* x, Moments* moments) {
  find_moments(c, x, nullptr, moments);
}
extern "C" __global__ void __launch_bounds__(kThreads)
    moments_of_gradient(const __grid_constant__ Channels c, const Values* x, const Values* dy, Moments* moments) {
  find_moments(c, x, dy, moments);
}

// Returns the moments of a channel to all threads of the block.
inline Moments of_channel(const Channels& c, int channel, const Moments* moments) {
  __shared__ Moments all;
  if (threadIdx.x < 32) {
    Moments own = {};
    if (int(threadIdx.x) < c.parts) own = moments[channel * c.parts + int(threadIdx.x)];
    own = joined_in_warp(own);
    if (threadIdx.x == 0) all = own;
  }
  __syncthreads();
  return all;
}

// y = (x - mean) factor + shift
inline void normalize_part(const Channels& c, const BlockPart& block, const Values* x, float mean, float factor,
                           float shift, Values* y) {
  for_packs(c, block, [&](std::int64_t at) {
    Values values = x[at];
#pragma unroll
    for (int i = 0; i < WIDTH; ++i)
      values.at[i] = from_float<VALUE>(fmaf(to_float(values.at[i]) - mean, factor, shift));
    y[at] = values;
  });
}

extern "C" __global__ void __launch_bounds__(kThreads)
    normalize(const __grid_constant__ Channels c, const Values* x, const float* gamma, const float* beta,
              const float* mean, const float* variance, float eps, Values* y) {
  const BlockPart block(c);
  const float factor = gamma[block.channel] / sqrtf(variance[block.channel] + eps);
  normalize_part(c, block, x, mean[block.channel], factor, beta[block.channel], y);
}

// Writes the mean and the unbiased variance, too.
extern "C" __global__ void __launch_bounds__(kThreads)
    normalize_by_batch(const __grid_constant__ Channels c, const Values* x, const float* gamma, const float* beta,
                       float eps, const Moments* moments, Values* y, float* mean, float* variance) {
  const BlockPart block(c);
  const Moments all = of_channel(c, block.channel, moments);
  const float factor = gamma[block.channel] / sqrtf(all.squares / all.count + eps);
  normalize_part(c, block, x, all.mean, factor, beta[block.channel], y);
  if (block.part > 0 || threadIdx.x > 0) return;
  mean[block.channel] = all.mean;
  variance[block.channel] = all.squares / (all.count - 1);
}

// dbeta = sum dy, dgamma = sum dy xhat, dx = gamma / deviation (dy - (dbeta + xhat dgamma) / count)
extern "C" __global__ void __launch_bounds__(kThreads)
    gradient_by_batch(const __grid_constant__ Channels c, const Values* x, const float* gamma, float eps,
                      const Values* dy, const Moments* moments, Values* dx, float* dgamma, float* dbeta) {
  const BlockPart block(c);
  const Moments all = of_channel(c, block.channel, moments);
  const float inverse = 1.0f / sqrtf(all.squares / all.count + eps), of_gamma = all.product * inverse;
  const float factor = gamma[block.channel] * inverse, mean_dy = all.dy / all.count,
              slope = of_gamma / all.count * inverse;
  for_packs(c, block, [&](std::int64_t at) {
    const Values values = x[at];
    Values gradients = dy[at];
#pragma unroll
    for (int i = 0; i < WIDTH; ++i) {
      const float centered = fmaf(all.mean - to_float(values.at[i]), slope, to_float(gradients.at[i]) - mean_dy);
      gradients.at[i] = from_float<VALUE>(factor * centered);
    }
    dx[at] = gradients;
  });
  if (block.part > 0 || threadIdx.x > 0) return;
  dgamma[block.channel] = of_gamma;
  dbeta[block.channel] = all.dy;
}

// average = (1 - momentum) average + momentum x, rounded once as the reference does.
extern "C" __global__ void moving_average(std::int64_t count, double momentum, const float* x, float* average) {
  const std::int64_t i = thread_number();
  if (i < count) average[i] = float((1 - momentum) * double(average[i]) + momentum * double(x[i]));
}
