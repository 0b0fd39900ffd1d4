#pragma once
// Shared code of the attention kernels. A block owns some rows of one head, queries or keys, and iterates over the
// columns, keys or queries, COLUMNS at a time, in shared memory. A warp owns 4 ROWS of the rows, so maxima and sums of
// rows, and products with what it has written itself, need no other warp. Its lanes form a grid of 4 by 8: lane (r, c)
// has the rows r + 4 i and the columns c + 8 j of scores, or the four elements from 4 c + 32 l on of vectors, so that
// eight lanes read 128 bytes from different banks.
//
// HEAD_SIZE and VALUE_SIZE are the call's sizes rounded up to multiples of 32; vectors are padded with zeros.
constexpr int kHeadSize = HEAD_SIZE, kValueSize = VALUE_SIZE, kColumns = COLUMNS, kRows = ROWS;
constexpr int kThreads = 32 * WARPS, kWarpRows = 4 * kRows, kBlockRows = WARPS * kWarpRows;
constexpr int kColumnsPerLane = kColumns / 8;
// Row pitches in shared memory: adjacent rows begin four or eight banks apart.
constexpr int kHeadPitch = kHeadSize + 4, kValuePitch = kValueSize + 4, kWeightPitch = kColumns + 8;

#include "attention_place.cuh"

static_assert(kHeadSize % 32 == 0 && kValueSize % 32 == 0 && kColumns % 32 == 0, "whole lanes");

using Pack4 = Pack<float, 4>;

inline int warp_number() { return threadIdx.x / 32; }
inline int lane_row() { return threadIdx.x % 32 / 8; }
inline int lane_column() { return threadIdx.x % 8; }

// Rounds columns up to quarters of a tile, the least that products process. Tiles are padded with zeros.
inline int whole_quarters(int columns) {
  return (columns + kColumns / 4 - 1) / (kColumns / 4) * (kColumns / 4);
}

// 2^(x log2 e) for x not above 0: 0 below -87.
inline float exp_of_nonpositive(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.44269504f));
  return y;
}

// Loads elements [at, at + 4) of a vector of `size`, zeros beyond its end.
inline Pack4 load_pack(const VALUE* vector, int at, int size, bool packed) {
  Pack4 x = {};
  if (packed) {
    if (at >= size) return x;
    const Pack<VALUE, 4> read = *reinterpret_cast<const Pack<VALUE, 4>*>(vector + at);
#pragma unroll
    for (int i = 0; i < 4; ++i) x.at[i] = to_float(read.at[i]);
    return x;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (at + i < size) x.at[i] = to_float(vector[at + i]);
  return x;
}

inline void store_pack(const Pack4& x, VALUE* vector, int at, int size, bool packed) {
  if (packed) {
    if (at >= size) return;
    Pack<VALUE, 4> written;
#pragma unroll
    for (int i = 0; i < 4; ++i) written.at[i] = from_float<VALUE>(x.at[i]);
    *reinterpret_cast<Pack<VALUE, 4>*>(vector + at) = written;
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (at + i < size) vector[at + i] = from_float<VALUE>(x.at[i]);
}

// Loads the vectors of `rows` tokens, multiplied by `factor`, and zeros up to `all_rows` into shared memory, with all
// threads.
template <int kSize>
inline void load_tile(const VALUE* from, std::int64_t token_stride, int rows, int all_rows, int size,
                      bool packed, float factor, float* to) {
  constexpr int kPacks = kSize / 4, kTogether = 4;
  for (int first = threadIdx.x; first < all_rows * kPacks; first += kTogether * kThreads) {
    Pack4 x[kTogether] = {};
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
      const int row = (first + k * kThreads) / kPacks, at = (first + k * kThreads) % kPacks * 4;
      if (row < rows) x[k] = load_pack(from + row * token_stride, at, size, packed);
    }
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
      const int row = (first + k * kThreads) / kPacks, at = (first + k * kThreads) % kPacks * 4;
      if (row >= all_rows) continue;
#pragma unroll
      for (int i = 0; i < 4; ++i) x[k].at[i] *= factor;
      *reinterpret_cast<Pack4*>(to + row * (kSize + 4) + at) = x[k];
    }
  }
}

// sum[i][j] = own row i . other row j, for the columns of the lane below 8 kUsed, zeros beyond.
template <int kSize, int kUsed>
inline void multiply_used_rows(const float* own, const float* other,
                               float (&sum)[kRows][kColumnsPerLane]) {
  constexpr int kPitch = kSize + 4;
  own += lane_row() * kPitch;
  other += lane_column() * kPitch;
#pragma unroll
  for (int i = 0; i < kRows; ++i)
#pragma unroll
    for (int j = 0; j < kColumnsPerLane; ++j) sum[i][j] = 0;
#pragma unroll 2
  for (int d = 0; d < kSize; d += 4) {
    Pack4 a[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) a[i] = *reinterpret_cast<const Pack4*>(own + 4 * i * kPitch + d);
#pragma unroll
    for (int j = 0; j < kUsed; ++j) {
      const Pack4 b = *reinterpret_cast<const Pack4*>(other + 8 * j * kPitch + d);
#pragma unroll
      for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int k = 0; k < 4; ++k) sum[i][j] = fmaf(a[i].at[k], b.at[k], sum[i][j]);
    }
  }
}

// The same for `columns` columns, rounded up to quarters of a tile.
template <int kSize>
inline void multiply_rows(const float* own, const float* other, int columns,
                          float (&sum)[kRows][kColumnsPerLane]) {
  if (columns > 3 * kColumns / 4) {
    multiply_used_rows<kSize, kColumnsPerLane>(own, other, sum);
  } else if (columns > kColumns / 2) {
    multiply_used_rows<kSize, 3 * kColumnsPerLane / 4>(own, other, sum);
  } else if (columns > kColumns / 4) {
    multiply_used_rows<kSize, kColumnsPerLane / 2>(own, other, sum);
  } else {
    multiply_used_rows<kSize, kColumnsPerLane / 4>(own, other, sum);
  }
}

// sum[i] += weights of row i times the vectors of the columns. Both are padded with zeros to a multiple of 4 columns.
template <int kSize>
inline void add_weighted_rows(const float* weights, const float* vectors, int columns,
                              float (&sum)[kRows][kSize / 8]) {
  constexpr int kPitch = kSize + 4;
  weights += lane_row() * kWeightPitch;
  vectors += 4 * lane_column();
  for (int t = 0; t < columns; t += 4) {
    Pack4 weight[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i)
      weight[i] = *reinterpret_cast<const Pack4*>(weights + 4 * i * kWeightPitch + t);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma unroll
      for (int l = 0; l < kSize / 32; ++l) {
        const Pack4 x = *reinterpret_cast<const Pack4*>(vectors + (t + k) * kPitch + 32 * l);
#pragma unroll
        for (int i = 0; i < kRows; ++i)
#pragma unroll
          for (int e = 0; e < 4; ++e)
            sum[i][4 * l + e] = fmaf(weight[i].at[k], x.at[e], sum[i][4 * l + e]);
      }
    }
  }
}

// The transposed product: sum[i] += weights of all `rows` rows and column kRows r + i times the vectors of the rows.
template <int kSize>
inline void add_transposed_rows(const float* weights, const float* vectors, int rows,
                            float (&sum)[kRows][kSize / 8]) {
  weights += kRows * lane_row();
  vectors += 4 * lane_column();
#pragma unroll 4
  for (int row = 0; row < rows; ++row) {
    const auto weight = *reinterpret_cast<const Pack<float, kRows>*>(weights + row * kWeightPitch);
#pragma unroll
    for (int l = 0; l < kSize / 32; ++l) {
      const Pack4 x = *reinterpret_cast<const Pack4*>(vectors + row * (kSize + 4) + 32 * l);
#pragma unroll
      for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          sum[i][4 * l + e] = fmaf(weight.at[i], x.at[e], sum[i][4 * l + e]);
    }
  }
}

// Stores a lane's scores in the memory of its warp.
inline void keep(const float (&x)[kRows][kColumnsPerLane], float* weights) {
#pragma unroll
  for (int i = 0; i < kRows; ++i)
#pragma unroll
    for (int j = 0; j < kColumnsPerLane; ++j)
      weights[(lane_row() + 4 * i) * kWeightPitch + lane_column() + 8 * j] = x[i][j];
}

// Stores the lane's part of row r + 4 i of the warp (transposed: of row kRows r + i), multiplied by `factor[i]`, for
// rows below `rows`.
template <int kSize, bool kTransposed = false>
inline void store_rows(const float (&x)[kRows][kSize / 8], const float (&factor)[kRows], VALUE* to,
                       std::int64_t token_stride, int rows, int size, bool packed) {
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int row = kTransposed ? kRows * lane_row() + i : lane_row() + 4 * i;
    if (row >= rows) continue;
#pragma unroll
    for (int l = 0; l < kSize / 32; ++l) {
      Pack4 part;
#pragma unroll
      for (int e = 0; e < 4; ++e) part.at[e] = x[i][4 * l + e] * factor[i];
      store_pack(part, to + row * token_stride, 4 * lane_column() + 32 * l, size, packed);
    }
  }
}

template <int kCount>
inline void fill(float (&x)[kCount], float value) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) x[i] = value;
}
template <int kCount>
inline void fill(float (&x)[kRows][kCount], float value) {
#pragma unroll
  for (int i = 0; i < kRows; ++i) fill(x[i], value);
}

// Reductions over the eight lanes that share rows.
inline float maximum_of_row(float x) {
#pragma unroll
  for (int distance = 1; distance < 8; distance *= 2)
    x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, distance));
  return x;
}
inline float sum_of_row(float x) {
#pragma unroll
  for (int distance = 1; distance < 8; distance *= 2) x += __shfl_xor_sync(0xffffffffu, x, distance);
  return x;
}

inline float factor_of(const AttentionCall& call, std::uint32_t word) {
  return word >= call.threshold ? call.factor : 0.0f;
}

// Stores the dropout factors of the warp's queries from `query` on and `keys` keys from `key` on in the memory of the
// warp. Four adjacent factors of a row that use one block of random words are computed by one lane.
inline void draw_by_query(const AttentionCall& call, const Place& place, std::int64_t query,
                          std::int64_t key, int keys, float* factors) {
  constexpr int kBlocks = kColumns / 4 + 1;
  const RandomStream random = {std::uint64_t(*call.random_key), call.stream};
  for (int item = threadIdx.x % 32; item < kWarpRows * kBlocks; item += 32) {
    const int row = item / kBlocks;
    const std::uint64_t first = word_of(call, place, query + row, key), block = first / 4 + item % kBlocks;
    const int at = int(4 * block - first);
    if (at >= keys) continue;
    const RandomBlock drawn = random_block(random, block);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (at + i >= 0 && at + i < kColumns)
        factors[row * kWeightPitch + at + i] = factor_of(call, drawn.words[i]);
  }
}

// The same for rows that are keys: four adjacent factors of a column.
inline void draw_by_key(const AttentionCall& call, const Place& place, std::int64_t query,
                        std::int64_t key, int queries, float* factors) {
  constexpr int kBlocks = kWarpRows / 4 + 1;
  const RandomStream random = {std::uint64_t(*call.random_key), call.stream};
  for (int item = threadIdx.x % 32; item < kColumns * kBlocks; item += 32) {
    const int column = item % kColumns;
    if (column >= queries) continue;
    const std::uint64_t first = word_of(call, place, query + column, key),
                        block = first / 4 + item / kColumns;
    const int at = int(4 * block - first);
    if (at >= kWarpRows) continue;
    const RandomBlock drawn = random_block(random, block);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (at + i >= 0 && at + i < kWarpRows)
        factors[(at + i) * kWeightPitch + column] = factor_of(call, drawn.words[i]);
  }
}

// Multiplies x by the dropout factors, for columns below `columns`.
inline void multiply_by_factors(const float* factors, int columns, float (&x)[kRows][kColumnsPerLane]) {
#pragma unroll
  for (int i = 0; i < kRows; ++i)
#pragma unroll
    for (int j = 0; j < kColumnsPerLane; ++j)
      if (lane_column() + 8 * j < columns)
        x[i][j] *= factors[(lane_row() + 4 * i) * kWeightPitch + lane_column() + 8 * j];
}

// Adds the mask to the scores of the lane's columns, which are the keys from `key` on: -infinity beyond the last key.
inline void add_mask(const AttentionCall& call, const Place& place, std::int64_t key, int keys,
                     float (&scores)[kRows][kColumnsPerLane]) {
  const float* const mask =
      call.mask == nullptr ? nullptr : call.mask + place.text * call.mask_stride + key;
#pragma unroll
  for (int j = 0; j < kColumnsPerLane; ++j) {
    const int t = lane_column() + 8 * j;
    const float added = t >= keys ? minus_infinity() : mask == nullptr ? 0.0f : mask[t];
#pragma unroll
    for (int i = 0; i < kRows; ++i) scores[i][j] += added;
  }
}
