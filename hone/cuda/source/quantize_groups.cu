// Constants of rows, slices or whole tensors: ranges and mean magnitudes, computed on every call. Means have the same
// bits as those of hone/kernels/magnitude.h: element i of a piece is added to lane i % 16, lanes are reduced in halves,
// pieces are added in order. Means of the old formats are sums from the first element to the last.
#include "hone/kernels/scalar/row_groups.h"
#include "hone/kernels/scalar/scaled_integer.h"
#include "hone/kernels/scalar/sign.h"
#include "numbers.cuh"

using namespace hone;

constexpr unsigned kAll = 0xffffffff;  // threads of a warp

// Bits of magnitudes, which as integers have the same order as the magnitudes.
struct Ends {
  unsigned lowest = 0;   // of finite negative values
  unsigned highest = 0;  // of finite positive values

  void take(float value) {
    const unsigned magnitude = scalar::magnitude_bits(value);
    if (magnitude >= scalar::kInfinityBits) return;
    if (value < 0)
      lowest = max(lowest, magnitude);
    else
      highest = max(highest, magnitude);
  }
  // Returns the ends of all threads of the warp.
  Ends of_warp() const {
    return {__reduce_max_sync(kAll, lowest), __reduce_max_sync(kAll, highest)};
  }
};

// The largest magnitude. NaN counts as the largest.
struct Largest {
  unsigned magnitude = 0;

  void take(float value) { magnitude = max(magnitude, scalar::magnitude_bits(value)); }
  Largest of_warp() const { return {__reduce_max_sync(kAll, magnitude)}; }
};

// Returns what was seen in the elements `first, first + step, …` below `count`.
template <typename Seen>
Seen seen_in(const float* x, std::int64_t first, std::int64_t step, std::int64_t count) {
  Seen seen;
#pragma unroll 4
  for (std::int64_t i = first; i < count; i += step) seen.take(x[i]);
  return seen;
}

// `chunks` blocks of threads for each group; results are initialized to zero.
template <typename Seen, typename Put>
void see_groups(const float* x, std::int64_t columns, unsigned chunks, Put put) {
  const std::int64_t group = blockIdx.x / chunks;
  const std::int64_t first = std::int64_t(blockIdx.x % chunks) * blockDim.x + threadIdx.x;
  const Seen seen =
      seen_in<Seen>(x + group * columns, first, std::int64_t(chunks) * blockDim.x, columns)
          .of_warp();
  if (threadIdx.x % 32 == 0) put(group, seen);
}

extern "C" __global__ void group_ranges(const float* x, std::int64_t columns, unsigned chunks,
                                        unsigned* lowest, unsigned* highest) {
  see_groups<Ends>(x, columns, chunks, [=](std::int64_t group, const Ends& ends) {
    atomicMax(lowest + group, ends.lowest);
    atomicMax(highest + group, ends.highest);
  });
}

extern "C" __global__ void group_magnitudes(const float* x, std::int64_t columns, unsigned chunks,
                                            unsigned* largest) {
  see_groups<Largest>(x, columns, chunks, [=](std::int64_t group, const Largest& seen) {
    atomicMax(largest + group, seen.magnitude);
  });
}

// Rounds a row per warp, which reads it twice, the second time from a cache.
template <typename Seen, typename RuleOf>
void round_rows(std::int64_t rows, std::int64_t columns, const float* x, float* y, RuleOf rule_of) {
  const std::int64_t row = thread_number() / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  x += row * columns;
  y += row * columns;
  using Four = Pack<float, 4>;
  const bool aligned =
      (reinterpret_cast<std::size_t>(x) | reinterpret_cast<std::size_t>(y)) % sizeof(Four) == 0;
  const std::int64_t packs = aligned ? columns / 4 : 0;
  const auto* const from = reinterpret_cast<const Four*>(x);
  auto* const to = reinterpret_cast<Four*>(y);
  Seen seen;
#pragma unroll 4
  for (std::int64_t i = lane; i < packs; i += 32) {
    const Four four = from[i];
    for (const float value : four.at) seen.take(value);
  }
  for (std::int64_t i = 4 * packs + lane; i < columns; i += 32) seen.take(x[i]);
  const auto round = rule_of(seen.of_warp());
#pragma unroll 4
  for (std::int64_t i = lane; i < packs; i += 32) {
    Four four = from[i];
    for (float& value : four.at) value = round(value);
    to[i] = four;
  }
  for (std::int64_t i = 4 * packs + lane; i < columns; i += 32) y[i] = round(x[i]);
}

extern "C" __global__ void round_integer_rows(scalar::IntegerGrids rule, std::int64_t rows,
                                              std::int64_t columns, const float* x, float* y) {
  round_rows<Ends>(rows, columns, x, y, [=](const Ends& ends) {
    const float lowest = ends.lowest == 0 ? 0.0f : -scalar::float_of(ends.lowest);
    return rule.of(scalar::ValueRange{lowest, scalar::float_of(ends.highest)});
  });
}

extern "C" __global__ void round_old_rows(scalar::OldScaledRows rule, std::int64_t rows,
                                          std::int64_t columns, const float* x, float* y) {
  round_rows<Largest>(rows, columns, x, y, [=](const Largest& seen) {
    return rule.of(scalar::float_of(seen.magnitude));
  });
}

// Rounds a group of up to `size` adjacent elements of a row per warp.
template <typename Rule>
void round_groups(Rule rule, std::int64_t rows, std::int64_t columns, std::int64_t size, const float* x, float* y) {
  const std::int64_t per_row = (columns + size - 1) / size, group = thread_number() / 32;
  const int lane = threadIdx.x % 32;
  if (group >= rows * per_row) return;
  const std::int64_t first = group % per_row * size, count = scalar::smaller(size, columns - first);
  x += group / per_row * columns + first;
  y += group / per_row * columns + first;
  const Ends ends = seen_in<Ends>(x, lane, 32, count).of_warp();
  const float lowest = ends.lowest == 0 ? 0.0f : -scalar::float_of(ends.lowest), highest = scalar::float_of(ends.highest);
  bool negative = ends.lowest > ends.highest;
  if (ends.lowest == ends.highest) {
    unsigned before = 0;  // the distance from the end to the first element with the largest magnitude
    for (std::int64_t i = lane; i < count; i += 32)
      if (scalar::magnitude_bits(x[i]) == ends.highest) before = max(before, unsigned(count - i));
    before = __reduce_max_sync(kAll, before);
    negative = before > 0 && x[count - before] < 0;
  }
  const auto round = rule.of(scalar::GroupEnds{{lowest, highest}, negative ? lowest : highest});
  for (std::int64_t i = lane; i < count; i += 32) y[i] = round(x[i]);
}

extern "C" __global__ void round_integer_groups(scalar::IntegerGroups rule, std::int64_t rows, std::int64_t columns,
                                                std::int64_t size, const float* x, float* y) {
  round_groups(rule, rows, columns, size, x, y);
}

extern "C" __global__ void round_normal_float_groups(scalar::NormalFloatGroups rule, std::int64_t rows,
                                                     std::int64_t columns, std::int64_t size, const float* x, float* y) {
  round_groups(rule, rows, columns, size, x, y);
}

struct Magnitudes {
  double sum = 0;
  std::int64_t count = 0;
  double mean() const { return count == 0 ? 0 : sum / double(count); }
};

// Sums the finite magnitudes above the threshold of one piece, with one warp. The upper 16 threads load for the lower
// 16, the lanes.
Magnitudes piece_magnitudes(float threshold, const float* x, std::int64_t count) {
  constexpr int kLoads = 16;
  const int thread = threadIdx.x % 32;
  double lane = 0;
  unsigned seen = 0;
  for (std::int64_t first = 0; first < count; first += 32 * kLoads) {
    float values[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      const std::int64_t i = first + 32 * k + thread;
      values[k] = i < count ? x[i] : scalar::infinity();
    }
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      const float magnitude = fabsf(values[k]);
      const bool counts = magnitude > threshold && magnitude < scalar::infinity();
      const float term = counts ? magnitude : 0.0f;
      const float second = __shfl_down_sync(kAll, term, 16);
      lane += double(term);
      lane += double(second);
      seen += counts ? 1 : 0;
    }
  }
#pragma unroll
  for (int width = 8; width > 0; width /= 2) lane += __shfl_down_sync(kAll, lane, width);
  return {__shfl_sync(kAll, lane, 0), std::int64_t(__reduce_add_sync(kAll, seen))};
}

// Does the same for a group, with a block that has a warp for each piece.
Magnitudes group_magnitudes_above(float threshold, const float* x, std::int64_t columns,
                                  std::int64_t piece) {
  __shared__ Magnitudes pieces[16];
  const int warp = threadIdx.x / 32;
  const std::int64_t begin = warp * piece, left = columns - begin;
  const Magnitudes own = piece_magnitudes(threshold, x + begin, left < piece ? left : piece);
  __syncthreads();  // threads may still read pieces of an earlier call
  if (threadIdx.x % 32 == 0) pieces[warp] = own;
  __syncthreads();
  Magnitudes all = pieces[0];
  for (int i = 1; i < int(blockDim.x) / 32; ++i) {
    all.sum += pieces[i].sum;
    all.count += pieces[i].count;
  }
  return all;
}

// One block of threads per group.
extern "C" __global__ void __launch_bounds__(512)
    binary_constants(const float* x, std::int64_t columns, std::int64_t piece, float* alpha) {
  x += blockIdx.x * columns;
  const float mean = float(group_magnitudes_above(-1, x, columns, piece).mean());
  if (threadIdx.x == 0) alpha[blockIdx.x] = mean;
}

extern "C" __global__ void __launch_bounds__(512)
    ternary_constants(const float* x, std::int64_t columns, std::int64_t piece, bool scaled,
                      float* threshold, float* alpha) {
  x += blockIdx.x * columns;
  const double mean = group_magnitudes_above(-1, x, columns, piece).mean();
  const float least = scalar::float_below(scalar::kTernaryThreshold * mean);
  const float scale =
      scaled ? float(group_magnitudes_above(least, x, columns, piece).mean()) : 1.0f;
  if (threadIdx.x != 0) return;
  threshold[blockIdx.x] = least;
  alpha[blockIdx.x] = scale;
}

// Sums magnitudes above a threshold, or all if it is negative, from the first to the last. Every thread of the warp has
// the sum.
Magnitudes old_magnitudes(float threshold, const float* x, std::int64_t columns) {
  const int thread = threadIdx.x % 32;
  Magnitudes all;
  float next = thread < columns ? x[thread] : 0.0f;
  for (std::int64_t first = 0; first < columns; first += 32) {
    const float own = fabsf(next);
    const std::int64_t ahead = first + 32 + thread;
    next = ahead < columns ? x[ahead] : 0.0f;
    const int count = int(columns - first < 32 ? columns - first : 32);
    for (int i = 0; i < count; ++i) {
      const float magnitude = __shfl_sync(kAll, own, i);
      if (threshold >= 0 && !(magnitude > threshold)) continue;
      all.sum += double(magnitude);
      ++all.count;
    }
  }
  return all;
}

// One warp per group.
extern "C" __global__ void old_binary_constants(const float* x, std::int64_t groups,
                                                std::int64_t columns, float* alpha) {
  const std::int64_t group = thread_number() / 32;
  if (group >= groups) return;
  const Magnitudes all = old_magnitudes(-1, x + group * columns, columns);
  if (threadIdx.x % 32 == 0) alpha[group] = float(all.sum / double(columns));
}

extern "C" __global__ void old_ternary_constants(const float* x, std::int64_t groups,
                                                 std::int64_t columns, bool scaled,
                                                 float* threshold, float* alpha) {
  const std::int64_t group = thread_number() / 32;
  if (group >= groups) return;
  x += group * columns;
  const float mean = float(old_magnitudes(-1, x, columns).sum / double(columns));
  const float least = float(scalar::kTernaryThreshold) * mean;
  float scale = 1;
  if (scaled) {
    // No magnitude is above NaN.
    const Magnitudes above =
        scalar::is_nan(least) ? Magnitudes{} : old_magnitudes(least, x, columns);
    scale = float(above.sum / double(above.count));
  }
  if (threadIdx.x % 32 != 0) return;
  threshold[group] = least;
  alpha[group] = scale;
}
