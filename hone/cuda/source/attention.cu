// Attention by tiles of keys with an online softmax, which rescales earlier sums as higher scores come (Milakov and
// Gimelshein, "Online normalizer calculation for softmax", 2018; Dao and others, "FlashAttention", 2022). A block
// computes some queries of a head; see attention_tiles.cuh for its layout. The tiles depend only on the index of the
// key and the size of heads, and a key of weight 0 changes no sum, so the results of a text do not depend on its
// padding.
#include "attention_tiles.cuh"

// Raises the maxima to those of the scores, turns scores into weights, and rescales earlier sums.
inline void exponentiate_scores(float (&scores)[kRows][kColumnsPerLane], float (&maximum)[kRows], float (&sum)[kRows],
                  float (&context)[kRows][kValueSize / 8]) {
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    float highest = scores[i][0];
#pragma unroll
    for (int j = 1; j < kColumnsPerLane; ++j) highest = fmaxf(highest, scores[i][j]);
    highest = fmaxf(maximum[i], maximum_of_row(highest));
    const float shift = shift_of(highest), fade = exp_of_nonpositive(maximum[i] - shift);
    maximum[i] = highest;
    sum[i] *= fade;
#pragma unroll
    for (int j = 0; j < kColumnsPerLane; ++j) {
      scores[i][j] = exp_of_nonpositive(scores[i][j] - shift);
      sum[i] += scores[i][j];
    }
#pragma unroll
    for (int e = 0; e < kValueSize / 8; ++e) context[i][e] *= fade;
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    attention(const __grid_constant__ AttentionCall call) {
  extern __shared__ Pack4 shared[];
  const Place place = find_place<false>(call);
  if (place.first < 0 || place.first >= place.queries) return;
  const int block_queries = smaller(place.queries - place.first, kBlockRows),
            queries = block_queries - warp_number() * kWarpRows;  // of the warp
  float* const query_tile = reinterpret_cast<float*>(shared);
  float* const key_tile = query_tile + kBlockRows * kHeadPitch;
  float* const value_tile = key_tile + call.column_rows * kHeadPitch;
  float* const weights =
      value_tile + call.column_rows * kValuePitch + warp_number() * kWarpRows * kWeightPitch;
  const float* const own = query_tile + warp_number() * kWarpRows * kHeadPitch;

  load_tile<kHeadSize>(of_queries(call.query, place) + place.first * call.query.token_stride,
                       call.query.token_stride, block_queries, kBlockRows, call.head_size,
                       call.packed, call.scale, query_tile);
  float maximum[kRows], sum[kRows], context[kRows][kValueSize / 8];
  fill(maximum, minus_infinity());
  fill(sum, 0);
  fill(context, 0);
  for (std::int64_t key = 0; key < place.keys; key += kColumns) {
    const int keys = smaller(place.keys - key, kColumns), all_keys = whole_quarters(keys);
    __syncthreads();
    load_tile<kHeadSize>(of_keys(call.key, place) + key * call.key.token_stride,
                         call.key.token_stride, keys, all_keys, call.head_size, call.packed, 1,
                         key_tile);
    load_tile<kValueSize>(of_keys(call.value, place) + key * call.value.token_stride,
                          call.value.token_stride, keys, all_keys, call.value_size, call.packed, 1,
                          value_tile);
    __syncthreads();
    if (queries <= 0) continue;
    float scores[kRows][kColumnsPerLane];
    multiply_rows<kHeadSize>(own, key_tile, keys, scores);
    add_mask(call, place, key, keys, scores);
    exponentiate_scores(scores, maximum, sum, context);
    __syncwarp();
    if (call.random_key != nullptr) {
      draw_by_query(call, place, place.first + warp_number() * kWarpRows, key, keys, weights);
      __syncwarp();
      multiply_by_factors(weights, keys, scores);
    }
    keep(scores, weights);
    __syncwarp();
    add_weighted_rows<kValueSize>(weights, value_tile, keys, context);
  }
  if (queries <= 0) return;
  float inverse[kRows];
#pragma unroll
  for (int i = 0; i < kRows; ++i) inverse[i] = place.keys == 0 ? 0 : 1 / sum_of_row(sum[i]);
  store_rows<kValueSize>(
      context, inverse,
      of_queries(call.y, place) + (place.first + warp_number() * kWarpRows) * call.y.token_stride,
      call.y.token_stride, queries, call.value_size, call.packed);
}
