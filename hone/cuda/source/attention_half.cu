// Attention of 16-bit values: see attention_half.cuh. A block has 16 queries for each of its WARPS warps and iterates
// over tiles of 64 keys, loading the next tile while it works on one. The softmax is online (Milakov and Gimelshein,
// "Online normalizer calculation for softmax", 2018). The tiles depend only on the index of the key, and a key of
// weight 0 changes no sum, so the results of a text do not depend on its padding.
constexpr int kThreads = 32 * WARPS, kBlockRows = 16 * WARPS, kColumns = 64, kTiles = kColumns / 8;

#include "attention_half.cuh"

// Raises the maxima to those of the scores, turns scores into weights, and rescales earlier sums.
inline void exponentiate_scores(float (&scores)[kTiles][4], float (&maximum)[2], float (&sum)[2],
                  float (&context)[kSize / 8][4]) {
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    float highest = scores[0][2 * row];
#pragma unroll
    for (int j = 0; j < kTiles; ++j) highest = fmaxf(highest, fmaxf(scores[j][2 * row], scores[j][2 * row + 1]));
    highest = fmaxf(maximum[row], maximum_of_group(highest));
    const float shift = shift_of(highest), fade = exp2_of(maximum[row] - shift);
    maximum[row] = highest;
    sum[row] *= fade;
#pragma unroll
    for (int j = 0; j < kTiles; ++j)
#pragma unroll
      for (int e = 2 * row; e < 2 * row + 2; ++e) {
        scores[j][e] = exp2_of(scores[j][e] - shift);
        sum[row] += scores[j][e];
      }
#pragma unroll
    for (int j = 0; j < kSize / 8; ++j) {
      context[j][2 * row] *= fade;
      context[j][2 * row + 1] *= fade;
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    attention_half(const __grid_constant__ AttentionCall call) {
  extern __shared__ Pack<VALUE, 8> shared[];
  const Place place = find_place<false>(call);
  if (place.first < 0 || place.first >= place.queries) return;
  const int block_queries = smaller(place.queries - place.first, kBlockRows),
            queries = block_queries - warp_number() * 16;  // of the warp
  const std::int64_t first = place.first + warp_number() * 16;
  VALUE* const query_tile = reinterpret_cast<VALUE*>(shared);
  VALUE* const key_tiles = query_tile + kBlockRows * kPitch;
  VALUE* const value_tiles = key_tiles + 2 * kColumns * kPitch;
  float* const masks = reinterpret_cast<float*>(value_tiles + 2 * kColumns * kPitch);
  VALUE* const own = query_tile + warp_number() * 16 * kPitch;

  const std::int64_t tiles = whole(place.keys, kColumns);
  const auto begin_columns = [&](std::int64_t tile) {
    if (tile < tiles) {
      const int stage = int(tile % 2), keys = smaller(place.keys - tile * kColumns, kColumns);
      begin_tile<kColumns, kThreads>(of_keys(call.key, place) + tile * kColumns * call.key.token_stride,
                                     call.key.token_stride, keys, key_tiles + stage * kColumns * kPitch);
      begin_tile<kColumns, kThreads>(of_keys(call.value, place) + tile * kColumns * call.value.token_stride,
                                     call.value.token_stride, keys, value_tiles + stage * kColumns * kPitch);
      load_mask<kColumns>(call, place, tile * kColumns, masks + stage * kColumns);
    }
    commit_copies();
  };
  begin_tile<kBlockRows, kThreads>(of_queries(call.query, place) + place.first * call.query.token_stride,
                                   call.query.token_stride, block_queries, query_tile);
  begin_columns(0);
  const float scale = call.scale * kLog2E;
  float maximum[2] = {minus_infinity(), minus_infinity()}, sum[2] = {0, 0}, context[kSize / 8][4];
  clear(context);
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    begin_columns(tile + 1);
    const int stage = int(tile % 2);
    Kept<kTiles> kept;
    if (kDrops && queries > 0) kept.take(call, place, first, tile * kColumns);
    wait_for_copies<1>();
    __syncthreads();
    if (queries > 0) {
      float scores[kTiles][4];
      multiply_vectors(own, key_tiles + stage * kColumns * kPitch, scores);
      mask_scores(scale, masks + stage * kColumns, scores);
      exponentiate_scores(scores, maximum, sum, context);
      std::uint32_t weights[kTiles][2];
#pragma unroll
      for (int j = 0; j < kTiles; ++j) {
        if (kDrops) {
#pragma unroll
          for (int e = 0; e < 4; ++e) scores[j][e] = kept.at(j, e) ? scores[j][e] : 0;
        }
        weights[j][0] = packed(scores[j][0], scores[j][1]);
        weights[j][1] = packed(scores[j][2], scores[j][3]);
      }
      add_weighted_vectors(weights, value_tiles + stage * kColumns * kPitch, context);
    }
    __syncthreads();
  }
  // Without keys, the copies of queries may still be in flight.
  wait_for_copies<0>();
  __syncthreads();
  if (queries <= 0) return;
  const float factor = kDrops ? call.factor : 1;
#pragma unroll
  for (int row = 0; row < 2; ++row) sum[row] = tiles == 0 ? 0 : factor / sum_of_group(sum[row]);
  store_rows(context, sum[0], sum[1], own, of_queries(call.y, place) + first * call.y.token_stride,
             call.y.token_stride, queries);
}
