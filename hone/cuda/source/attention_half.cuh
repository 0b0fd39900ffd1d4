#pragma once
// Shared code of the attention kernels for 16-bit values, whose products run on tensor cores (after Dao,
// "FlashAttention-2", 2023). A warp owns 16 rows, queries or keys, and iterates over all columns of a tile, keys or
// queries. It has their scores in registers, as sums of a product, and passes them to the next product as they are,
// rounded to 16 bits. Tiles of vectors are in shared memory. Their row pitch is an odd number of 16 bytes, so that
// eight rows at one position are in different banks.
//
// Scores are in units of log 2, so that weights are powers of 2.
//
// HEAD_SIZE: of queries, keys and values, a multiple of 32; DROPS: 1 for dropout of weights.
#include "attention_place.cuh"
#include "warp_products.cuh"

constexpr int kSize = HEAD_SIZE, kPitch = kSize + 8;  // elements of a vector, and from row to row
constexpr bool kDrops = DROPS != 0;
constexpr float kLog2E = 1.44269504f;

static_assert(kSize % 32 == 0, "whole products");

inline int warp_number() { return threadIdx.x / 32; }
inline int lane() { return threadIdx.x % 32; }
inline int lane_group() { return threadIdx.x % 32 / 4; }  // the lane's rows are this one and the eighth after
inline int lane_member() { return threadIdx.x % 4; }      // its columns are two of every eight, from twice this on

inline float maximum_of_group(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}
inline float sum_of_group(float x) {
  x += __shfl_xor_sync(0xffffffffu, x, 1);
  return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

template <int kCount>
inline void clear(float (&x)[kCount][4]) {
#pragma unroll
  for (int j = 0; j < kCount; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) x[j][e] = 0;
}

// ---- vectors

// Begins to copy the vectors of `rows` tokens, and zeros up to kRows, with all kThreads threads. Tokens beyond `rows`
// are not read.
template <int kRows, int kThreads>
inline void begin_tile(const VALUE* from, std::int64_t token_stride, int rows, VALUE* to) {
  constexpr int kUnits = kSize / 8, kLanes = kUnits % 8 == 0 ? 8 : 4, kRowsAtOnce = kThreads / kLanes;
  static_assert(kUnits % kLanes == 0 && kRows % kRowsAtOnce == 0, "whole rounds");
  const int first = threadIdx.x / kLanes, at = threadIdx.x % kLanes * 8;
  from += first * token_stride + at;
  const std::uint32_t address = shared_address(to + first * kPitch + at);
#pragma unroll
  for (int row = 0; row < kRows; row += kRowsAtOnce) {
#pragma unroll
    for (int d = 0; d < kSize; d += 8 * kLanes)
      begin_copy(address + 2 * (row * kPitch + d), from + d, first + row < rows);
    from += kRowsAtOnce * token_stride;
  }
}

// Stores the first `rows` of the warp's 16 rows of sums, multiplied by `factor` in rows g and by `next_factor` in rows
// g + 8. They pass through `stage`, memory for 16 vectors that no other warp uses.
inline void store_rows(const float (&sum)[kSize / 8][4], float factor, float next_factor, VALUE* stage, VALUE* to,
                       std::int64_t token_stride, int rows) {
  constexpr int kUnits = kSize / 8;
  __syncwarp();
  VALUE* const place = stage + lane_group() * kPitch + 2 * lane_member();
#pragma unroll
  for (int j = 0; j < kUnits; ++j) {
    *reinterpret_cast<std::uint32_t*>(place + 8 * j) = packed(sum[j][0] * factor, sum[j][1] * factor);
    *reinterpret_cast<std::uint32_t*>(place + 8 * kPitch + 8 * j) =
        packed(sum[j][2] * next_factor, sum[j][3] * next_factor);
  }
  __syncwarp();
#pragma unroll
  for (int i = 0; i < kUnits / 2; ++i) {
    const int unit = lane() + 32 * i, row = unit / kUnits, at = unit % kUnits * 8;
    if (row < rows)
      *reinterpret_cast<Pack<VALUE, 8>*>(to + row * token_stride + at) =
          *reinterpret_cast<const Pack<VALUE, 8>*>(stage + row * kPitch + at);
  }
  __syncwarp();
}

// ---- products

// sum = a b^T for 16 own vectors a and 8 kTiles other vectors b.
template <int kTiles>
inline void multiply_vectors(const VALUE* own, const VALUE* others, float (&sum)[kTiles][4]) {
  static_assert(kTiles % 2 == 0, "tiles of others come in pairs");
  const std::uint32_t a_at = shared_address(own + lane() % 16 * kPitch + lane() / 16 * 8);
  const std::uint32_t b_at =
      shared_address(others + (lane() % 8 + lane() / 16 * 8) * kPitch + lane() / 8 % 2 * 8);
  clear(sum);
#pragma unroll
  for (int d = 0; d < kSize; d += 16) {
    std::uint32_t a[4];
    load_matrices(a, a_at + 2 * d);
#pragma unroll
    for (int j = 0; j < kTiles; j += 2) {
      std::uint32_t b[4];
      load_matrices(b, b_at + 2 * (8 * j * kPitch + d));
      multiply_add(sum[j], a, b[0], b[1]);
      multiply_add(sum[j + 1], a, b[2], b[3]);
    }
  }
}

// sum += a v, with weights a and the 16 vectors v at the address `vectors`.
inline void add_sixteen(const std::uint32_t (&a)[4], std::uint32_t vectors, float (&sum)[kSize / 8][4]) {
#pragma unroll
  for (int j = 0; j < kSize / 8; j += 2) {
    std::uint32_t b[4];
    load_transposed_matrices(b, vectors + 2 * 8 * j);
    multiply_add(sum[j], a, b[0], b[1]);
    multiply_add(sum[j + 1], a, b[2], b[3]);
  }
}
// Returns the lane's address for `add_sixteen`.
inline std::uint32_t transposed_address(const VALUE* vectors) {
  return shared_address(vectors + lane() % 16 * kPitch + lane() / 16 * 8);
}

// sum += w v, with weights w of the warp's rows, [0] of rows g and [1] of rows g + 8, and vectors v of the columns.
template <int kTiles>
inline void add_weighted_vectors(const std::uint32_t (&weights)[kTiles][2], const VALUE* vectors,
                                 float (&sum)[kSize / 8][4]) {
  const std::uint32_t address = transposed_address(vectors);
#pragma unroll
  for (int j = 0; j < kTiles; j += 2) {
    const std::uint32_t a[4] = {weights[j][0], weights[j][1], weights[j + 1][0], weights[j + 1][1]};
    add_sixteen(a, address + 2 * 8 * j * kPitch, sum);
  }
}

// ---- masks

// Returns what the mask adds to scores of key t, in units of log 2: -infinity beyond the last key.
inline float mask_of(const AttentionCall& call, const Place& place, std::int64_t t) {
  if (t >= place.keys) return minus_infinity();
  const float added = call.mask == nullptr ? 0 : call.mask[place.text * call.mask_stride + t];
  // The lowest finite float is a common mask value and must not become -infinity.
  return added > minus_infinity() ? fmaxf(added * kLog2E, -3.4028235e38f) : added;
}
// Stores the mask of the kColumns keys from `key` on in shared memory.
template <int kColumns>
inline void load_mask(const AttentionCall& call, const Place& place, std::int64_t key, float* to) {
  for (int i = threadIdx.x; i < kColumns; i += blockDim.x) to[i] = mask_of(call, place, key + i);
}

// Converts scores to units of log 2 and adds the mask. Columns are keys.
template <int kTiles>
inline void mask_scores(float scale, const float* mask, float (&scores)[kTiles][4]) {
#pragma unroll
  for (int j = 0; j < kTiles; ++j) {
    const Pack<float, 2> added = *reinterpret_cast<const Pack<float, 2>*>(mask + 8 * j + 2 * lane_member());
#pragma unroll
    for (int e = 0; e < 4; ++e) scores[j][e] = fmaf(scores[j][e], scale, added.at[e % 2]);
  }
}

// ---- dropout

// Returns kCount bits: bit i is set if the weight with the random word `first` + i is kept.
template <int kCount>
inline std::uint32_t draw(const AttentionCall& call, const RandomStream& random, std::uint64_t first) {
  const int skipped = int(first % 4);
  std::uint64_t stay = 0;
#pragma unroll 2
  for (int i = 0; i < kCount / 4; ++i) {
    const RandomBlock drawn = random_block(random, first / 4 + i);
    std::uint32_t four = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) four |= drawn.words[k] >= call.threshold ? 1u << k : 0;
    stay |= std::uint64_t(four) << 4 * i;
  }
  if (skipped != 0) {
    const RandomBlock drawn = random_block(random, first / 4 + kCount / 4);
#pragma unroll
    for (int k = 0; k < 4; ++k) stay |= std::uint64_t(drawn.words[k] >= call.threshold) << (kCount + k);
  }
  return std::uint32_t(stay >> skipped);
}

// The weights of a lane that dropout keeps. Rows are queries from `query` on, columns are 8 kTiles keys from `key` on.
// A block of random words is for four adjacent weights of a row, so each lane of a group draws half a row and shares it
// with the others.
template <int kTiles>
struct Kept {
  static constexpr int kHalf = kTiles / 2;
  static_assert(kHalf <= 4, "a half is of 32 words at most");
  std::uint32_t bits;

  inline void take(const AttentionCall& call, const Place& place, std::int64_t query, std::int64_t key) {
    const RandomStream random = {std::uint64_t(*call.random_key), call.stream};
    const int row = lane_group() + lane_member() % 2 * 8, half = lane_member() / 2;
    const std::uint32_t drawn =
        draw<8 * kHalf>(call, random, word_of(call, place, query + row, key + half * 8 * kHalf));
    bits = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {  // for each lane of the group
      const std::uint32_t part = __shfl_sync(0xffffffffu, drawn, lane() / 4 * 4 + i);
      bits |= (part >> 2 * lane_member() & 0x03030303u) << (i % 2 * 2 + i / 2 * 4);
    }
  }
  // Returns whether element e of tile j is kept.
  inline bool at(int j, int e) const { return bits >> (8 * (j % kHalf) + 4 * (j / kHalf) + e) & 1; }
};

// The same for rows that are keys and columns that are queries: a lane draws the warp's part of a column.
template <int kTiles>
struct TransposedKept {
  static_assert(kTiles == 8 || kTiles == 4, "one or two columns of a lane");
  std::uint32_t bits;

  inline void take(const AttentionCall& call, const Place& place, std::int64_t query, std::int64_t key) {
    const RandomStream random = {std::uint64_t(*call.random_key), call.stream};
    std::uint32_t drawn = draw<16>(call, random, word_of(call, place, query + lane(), key)) & 0xffffu;
    if (kTiles == 8) drawn |= draw<16>(call, random, word_of(call, place, query + lane() + 32, key)) << 16;
    bits = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const std::uint32_t column = __shfl_sync(0xffffffffu, drawn, 8 * j + 2 * lane_member() + k);
        bits |= (column >> lane_group() & 0x01010101u) << (2 * j + k);
      }
  }
  inline bool at(int j, int e) const { return bits >> (16 * (j / 4) + 8 * (e / 2) + 2 * (j % 4) + e % 2) & 1; }
};
