// Softmax, layer norm and their gradients on rows that fit into the registers of a warp: read once, written once. Lane
// l of a warp has the packs l, l + 32, ... of a row, WIDTH elements each. Blocks are (32, warps).
//
// Results may overwrite an operand: a row is read before any of it is written.
#include "groups.cuh"
#include "row_codes.cuh"

#ifndef WIDTH
#define WIDTH 4
#endif
#ifndef PACKS
#define PACKS 6
#endif

struct Row {
  float at[PACKS][WIDTH];
};

/// The packs of a lane in rows of `packs` packs.
struct Lane {
  int packs;
  bool has(int p) const { return p * 32 + int(threadIdx.x) < packs; }
  int pack(int p) const { return p * 32 + int(threadIdx.x); }
};

// Elements beyond the row are `absent`.
template <typename T>
Row read(Lane lane, const T* from, float absent = 0) {
  Row row;
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    if (lane.has(p)) {
      const Pack<T, WIDTH> pack = reinterpret_cast<const Pack<T, WIDTH>*>(from)[lane.pack(p)];
#pragma unroll
      for (int i = 0; i < WIDTH; ++i) row.at[p][i] = to_float(pack.at[i]);
    } else {
#pragma unroll
      for (int i = 0; i < WIDTH; ++i) row.at[p][i] = absent;
    }
  }
  return row;
}

inline void write(Lane lane, const Row& row, VALUE* to) {
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    if (!lane.has(p)) continue;
    Pack<VALUE, WIDTH> pack;
#pragma unroll
    for (int i = 0; i < WIDTH; ++i) pack.at[i] = from_float<VALUE>(row.at[p][i]);
    reinterpret_cast<Pack<VALUE, WIDTH>*>(to)[lane.pack(p)] = pack;
  }
}

// Calls body(p, i) for the elements that a lane has.
template <typename Body>
void for_elements(Lane lane, Body body) {
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    if (!lane.has(p)) continue;
#pragma unroll
    for (int i = 0; i < WIDTH; ++i) body(p, i);
  }
}

extern "C" __global__ void softmax(std::int64_t rows, int length, const VALUE* x, VALUE* y) {
  const std::int64_t number = Warp::group();
  if (number >= rows) return;
  const Lane lane{length / WIDTH};
  Row row = read(lane, x + number * length, lowest());
  float maximum = lowest();
  for_elements(lane, [&](int p, int i) { maximum = fmaxf(maximum, row.at[p][i]); });
  maximum = Warp::maximum(maximum);
  float sum = 0;
  for_elements(lane, [&](int p, int i) {
    row.at[p][i] = expf(row.at[p][i] - maximum);
    sum += row.at[p][i];
  });
  const float factor = 1.0f / Warp::sum(sum);
  for_elements(lane, [&](int p, int i) { row.at[p][i] *= factor; });
  write(lane, row, y + number * length);
}

// dx = y (dy - sum(y dy))
extern "C" __global__ void softmax_gradient(std::int64_t rows, int length, const VALUE* y, const VALUE* dy, VALUE* dx) {
  const std::int64_t number = Warp::group();
  if (number >= rows) return;
  const Lane lane{length / WIDTH};
  const Row factor = read(lane, y + number * length);
  Row row = read(lane, dy + number * length);
  float product = 0;
  for_elements(lane, [&](int p, int i) { product = fmaf(factor.at[p][i], row.at[p][i], product); });
  product = Warp::sum(product);
  for_elements(lane, [&](int p, int i) { row.at[p][i] = factor.at[p][i] * (row.at[p][i] - product); });
  write(lane, row, dx + number * length);
}

// Computes xhat = (x - mean) / sqrt(variance + eps) of a row and returns the factor 1 / sqrt(variance + eps). The
// variance is taken around the mean, so it does not suffer from cancellation.
inline float standardize(Lane lane, int length, float eps, Row& row) {
  float sum = 0, squares = 0;
  for_elements(lane, [&](int p, int i) { sum += row.at[p][i]; });
  const float mean = Warp::sum(sum) / float(length);
  for_elements(lane, [&](int p, int i) {
    row.at[p][i] -= mean;
    squares = fmaf(row.at[p][i], row.at[p][i], squares);
  });
  const float factor = 1.0f / sqrtf(Warp::sum(squares) / float(length) + eps);
  for_elements(lane, [&](int p, int i) { row.at[p][i] *= factor; });
  return factor;
}

// Returns the layer norm of a row.
inline Row normalized(Lane lane, int length, const VALUE* x, const float* gamma, const float* beta, float eps) {
  Row row = read(lane, x);
  // Loaded early to hide their latency.
  const Row gain = read(lane, gamma), bias = read(lane, beta);
  standardize(lane, length, eps, row);
  for_elements(lane, [&](int p, int i) { row.at[p][i] = fmaf(row.at[p][i], gain.at[p][i], bias.at[p][i]); });
  return row;
}

extern "C" __global__ void layer_norm(std::int64_t rows, int length, const VALUE* x, const float* gamma,
                                      const float* beta, float eps, VALUE* y) {
  const std::int64_t number = Warp::group();
  if (number >= rows) return;
  const Lane lane{length / WIDTH};
  write(lane, normalized(lane, length, x + number * length, gamma, beta, eps), y + number * length);
}

// The same, and rounds the row to codes before it is rounded to VALUE.
extern "C" __global__ void layer_norm_codes(std::int64_t rows, int length, const VALUE* x, const float* gamma,
                                            const float* beta, float eps, VALUE* y,
                                            const __grid_constant__ hone::cuda::CodedRows to,
                                            const __grid_constant__ hone::cuda::CodeGrid grid) {
  using namespace hone;
  const std::int64_t number = Warp::group();
  if (number >= rows) return;
  const Lane lane{length / WIDTH};
  const Row row = normalized(lane, length, x + number * length, gamma, beta, eps);
  cuda::Magnitudes seen;
  for_elements(lane, [&](int p, int i) { seen.take(row.at[p][i]); });
  write(lane, row, y + number * length);
  seen = cuda::magnitudes_of_row(seen, [](unsigned own) { return __reduce_max_sync(0xffffffffu, own); });
  const float scale = cuda::scale_for(grid, seen);
  const scalar::ScaledGrid rule = {scale, -grid.bound, grid.bound};
  std::int8_t* const codes = to.codes + number * to.stride;
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    if (!lane.has(p)) continue;
    Pack<std::int8_t, WIDTH> pack;
#pragma unroll
    for (int i = 0; i < WIDTH; ++i) pack.at[i] = std::int8_t(cuda::code_of(rule, row.at[p][i]));
    reinterpret_cast<Pack<std::int8_t, WIDTH>*>(codes)[lane.pack(p)] = pack;
  }
  for (std::int64_t column = length + int(threadIdx.x); column < to.stride; column += 32) codes[column] = 0;
  if (threadIdx.x == 0) to.scales[number] = seen.has_nan() ? scalar::not_a_number() : scale;
}

constexpr int kGradientWarps = 4;

// Stores the sum over the warps of a block, in their order.
inline void add_warps(Lane lane, int length, const Row& row, float* to) {
  __shared__ float parts[kGradientWarps][PACKS * 32 * WIDTH];
  __syncthreads();  // threads may still read parts of an earlier call
  for_elements(lane, [&](int p, int i) { parts[threadIdx.y][lane.pack(p) * WIDTH + i] = row.at[p][i]; });
  __syncthreads();
  for (int c = threadIdx.y * 32 + threadIdx.x; c < length; c += kGradientWarps * 32) {
    float sum = parts[0][c];
#pragma unroll
    for (int warp = 1; warp < kGradientWarps; ++warp) sum += parts[warp][c];
    to[c] = sum;
  }
}

// With g = dy gamma: dx = (g - mean(g) - xhat mean(g xhat)) / sqrt(variance + eps). Warps iterate over rows and keep
// their sums of dy xhat and of dy; the sums of a block are stored in partials (blocks, 2, length).
extern "C" __global__ void __launch_bounds__(kGradientWarps * 32)
    layer_norm_gradient(std::int64_t rows, int length, const VALUE* x, const float* gamma, float eps, const VALUE* dy,
                        VALUE* dx, float* partials) {
  const Lane lane{length / WIDTH};
  Row dgamma{}, dbeta{};
  for (std::int64_t number = Warp::group(); number < rows; number += Warp::groups()) {
    Row xhat = read(lane, x + number * length), row = read(lane, dy + number * length);
    const Row gain = read(lane, gamma);
    const float factor = standardize(lane, length, eps, xhat);
    float sum = 0, product = 0;
    for_elements(lane, [&](int p, int i) {
      dgamma.at[p][i] = fmaf(row.at[p][i], xhat.at[p][i], dgamma.at[p][i]);
      dbeta.at[p][i] += row.at[p][i];
      row.at[p][i] *= gain.at[p][i];
      sum += row.at[p][i];
      product = fmaf(row.at[p][i], xhat.at[p][i], product);
    });
    const float mean = Warp::sum(sum) / float(length), mean_product = Warp::sum(product) / float(length);
    for_elements(
        lane, [&](int p, int i) { row.at[p][i] = fmaf(-xhat.at[p][i], mean_product, row.at[p][i] - mean) * factor; });
    write(lane, row, dx + number * length);
  }
  float* const partial = partials + std::int64_t(blockIdx.x) * 2 * length;
  add_warps(lane, length, dgamma, partial);
  add_warps(lane, length, dbeta, partial + length);
}
