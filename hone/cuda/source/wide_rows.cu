// The kernels of rows.cu for rows of any length: one block per row, which reads it again for each sum.
#include "groups.cuh"

// Calls body(c) for the columns of a thread.
template <typename Body>
void for_columns(std::int64_t length, Body body) {
#pragma unroll 4
  for (std::int64_t c = threadIdx.x; c < length; c += blockDim.x) body(c);
}

extern "C" __global__ void softmax(std::int64_t length, const VALUE* x, VALUE* y) {
  const VALUE* const row = x + blockIdx.x * length;
  float maximum = lowest(), sum = 0;
  for_columns(length, [&](std::int64_t c) { maximum = fmaxf(maximum, to_float(row[c])); });
  maximum = Block::maximum(maximum);
  for_columns(length, [&](std::int64_t c) { sum += expf(to_float(row[c]) - maximum); });
  const float factor = 1.0f / Block::sum(sum);
  for_columns(length, [&](std::int64_t c) {
    y[blockIdx.x * length + c] = from_float<VALUE>(expf(to_float(row[c]) - maximum) * factor);
  });
}

extern "C" __global__ void softmax_gradient(std::int64_t length, const VALUE* y, const VALUE* dy, VALUE* dx) {
  const std::int64_t first = blockIdx.x * length;
  float product = 0;
  for_columns(length,
              [&](std::int64_t c) { product = fmaf(to_float(y[first + c]), to_float(dy[first + c]), product); });
  product = Block::sum(product);
  for_columns(length, [&](std::int64_t c) {
    dx[first + c] = from_float<VALUE>(to_float(y[first + c]) * (to_float(dy[first + c]) - product));
  });
}

struct Moments {
  float mean, factor;  // 1 / sqrt(variance + eps)
  float standardized(VALUE x) const { return (to_float(x) - mean) * factor; }
};

inline Moments moments_of(std::int64_t length, const VALUE* row, float eps) {
  float sum = 0, squares = 0;
  for_columns(length, [&](std::int64_t c) { sum += to_float(row[c]); });
  const float mean = Block::sum(sum) / float(length);
  for_columns(length, [&](std::int64_t c) {
    const float centred = to_float(row[c]) - mean;
    squares = fmaf(centred, centred, squares);
  });
  return {mean, 1.0f / sqrtf(Block::sum(squares) / float(length) + eps)};
}

extern "C" __global__ void layer_norm(std::int64_t length, const VALUE* x, const float* gamma, const float* beta,
                                      float eps, VALUE* y) {
  const std::int64_t first = blockIdx.x * length;
  const Moments moments = moments_of(length, x + first, eps);
  for_columns(length, [&](std::int64_t c) {
    y[first + c] = from_float<VALUE>(fmaf(moments.standardized(x[first + c]), gamma[c], beta[c]));
  });
}

// A block iterates over rows and adds to its partials, in which each thread has its own columns.
extern "C" __global__ void layer_norm_gradient(std::int64_t rows, std::int64_t length, const VALUE* x,
                                               const float* gamma, float eps, const VALUE* dy, VALUE* dx,
                                               float* partials) {
  float* const dgamma = partials + blockIdx.x * 2 * length;
  float* const dbeta = dgamma + length;
  for_columns(length, [&](std::int64_t c) { dgamma[c] = dbeta[c] = 0; });
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const VALUE *const from = x + row * length, *const slopes = dy + row * length;
    const Moments moments = moments_of(length, from, eps);
    float sum = 0, product = 0;
    for_columns(length, [&](std::int64_t c) {
      const float slope = to_float(slopes[c]), xhat = moments.standardized(from[c]), g = slope * gamma[c];
      dgamma[c] = fmaf(slope, xhat, dgamma[c]);
      dbeta[c] += slope;
      sum += g;
      product = fmaf(g, xhat, product);
    });
    const float mean = Block::sum(sum) / float(length), mean_product = Block::sum(product) / float(length);
    for_columns(length, [&](std::int64_t c) {
      const float xhat = moments.standardized(from[c]), g = to_float(slopes[c]) * gamma[c];
      dx[row * length + c] = from_float<VALUE>(fmaf(-xhat, mean_product, g - mean) * moments.factor);
    });
  }
}
