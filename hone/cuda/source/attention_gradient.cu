// The gradients of attention without storing the weights of all queries and keys (Dao and others, "FlashAttention",
// 2022, B.4). With weights P, dropout factors F and W = F P:
//
//   dP = F (dy v^T)    delta = rowsum(P dP)    dS = P (dP - delta)
//   dq = scale dS k    dv = W^T dy             dk = dS^T (scale q)
//
// The forward pass stores nothing. A first kernel, whose blocks own queries, finds the softmax and delta in one round
// over all keys and dq in another. For each query it stores the maximum, one over the sum, and delta. A second kernel,
// whose blocks own keys, recomputes the weights, transposed, and sums dk and dv. So each sum is computed by one block,
// in a fixed order.
//
// If one block of the first kernel holds all queries of a short text, and one tile all its keys, that block also
// computes dk and dv from its shared memory. The second kernel skips such texts.
#include "attention_tiles.cuh"

// The online softmax and delta of a lane's rows.
struct Softmax {
  float maximum[kRows], sum[kRows], dot[kRows];

  // `gradients` are those of the weights.
  void take(const float (&scores)[kRows][kColumnsPerLane],
            const float (&gradients)[kRows][kColumnsPerLane]) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      float highest = scores[i][0];
#pragma unroll
      for (int j = 1; j < kColumnsPerLane; ++j) highest = fmaxf(highest, scores[i][j]);
      highest = fmaxf(maximum[i], maximum_of_row(highest));
      const float shift = shift_of(highest), fade = exp_of_nonpositive(maximum[i] - shift);
      maximum[i] = highest;
      sum[i] *= fade;
      dot[i] *= fade;
#pragma unroll
      for (int j = 0; j < kColumnsPerLane; ++j) {
        const float weight = exp_of_nonpositive(scores[i][j] - shift);
        sum[i] += weight;
        dot[i] = fmaf(weight, gradients[i][j], dot[i]);
      }
    }
  }

  // Turns maxima into shifts, sums into their inverses, and dots into delta.
  void finish() {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      maximum[i] = shift_of(maximum[i]);
      sum[i] = 1 / sum_of_row(sum[i]);
      dot[i] = sum_of_row(dot[i]) * sum[i];
    }
  }
};

// Stores a sum over all queries of a text for each of its keys. The block holds the weights of the whole text.
template <int kSize>
inline void store_transposed_sums(const float* weights, const float* vectors, int queries, int keys,
                              VALUE* to, std::int64_t token_stride, int size, bool packed) {
  float ones[kRows];
  fill(ones, 1);
  for (int key = warp_number() * kWarpRows; key < keys; key += kBlockRows) {
    float sum[kRows][kSize / 8];
    fill(sum, 0);
    add_transposed_rows<kSize>(weights + key, vectors, queries, sum);
    store_rows<kSize, true>(sum, ones, to + key * token_stride, token_stride, keys - key, size, packed);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    attention_gradient_of_queries(const __grid_constant__ AttentionCall call) {
  extern __shared__ Pack4 shared[];
  const Place place = find_place<false>(call);
  if (place.first < 0 || place.first >= place.queries) return;
  const int block_queries = smaller(place.queries - place.first, kBlockRows),
            queries = block_queries - warp_number() * kWarpRows;  // of the warp
  const std::int64_t first = place.first + warp_number() * kWarpRows;
  float* const query_tile = reinterpret_cast<float*>(shared);
  float* const dy_tile = query_tile + kBlockRows * kHeadPitch;
  float* const key_tile = dy_tile + kBlockRows * kValuePitch;
  float* const value_tile = key_tile + call.column_rows * kHeadPitch;
  float* const all_weights = value_tile + call.column_rows * kValuePitch;
  float* const weights = all_weights + warp_number() * kWarpRows * kWeightPitch;

  load_tile<kHeadSize>(of_queries(call.query, place) + place.first * call.query.token_stride,
                       call.query.token_stride, block_queries, kBlockRows, call.head_size,
                       call.packed, call.scale, query_tile);
  load_tile<kValueSize>(of_queries(call.dy, place) + place.first * call.dy.token_stride,
                        call.dy.token_stride, block_queries, kBlockRows, call.value_size,
                        call.packed, 1, dy_tile);
  Softmax softmax;
  fill(softmax.maximum, minus_infinity());
  fill(softmax.sum, 0);
  fill(softmax.dot, 0);
  float dquery[kRows][kHeadSize / 8], scores[kRows][kColumnsPerLane], gradients[kRows][kColumnsPerLane];
  fill(dquery, 0);
  const std::int64_t tiles = whole(place.keys, kColumns);
  const bool has_all = place.queries <= kBlockRows && tiles == 1;
  for (std::int64_t round = 0; round < 2 * tiles; ++round) {
    const std::int64_t key = round % tiles * kColumns;
    const int keys = smaller(place.keys - key, kColumns), all_keys = whole_quarters(keys);
    // A single tile stays in shared memory for both rounds.
    if (tiles > 1 || round == 0) {
      __syncthreads();
      load_tile<kHeadSize>(of_keys(call.key, place) + key * call.key.token_stride,
                           call.key.token_stride, keys, all_keys, call.head_size, call.packed, 1,
                           key_tile);
      load_tile<kValueSize>(of_keys(call.value, place) + key * call.value.token_stride,
                            call.value.token_stride, keys, all_keys, call.value_size, call.packed,
                            1, value_tile);
      __syncthreads();
      if (queries <= 0) continue;
      multiply_rows<kHeadSize>(query_tile + warp_number() * kWarpRows * kHeadPitch, key_tile, keys,
                               scores);
      add_mask(call, place, key, keys, scores);
      multiply_rows<kValueSize>(dy_tile + warp_number() * kWarpRows * kValuePitch, value_tile, keys,
                                gradients);
      if (call.random_key != nullptr) {
        __syncwarp();
        draw_by_query(call, place, first, key, keys, weights);
        __syncwarp();
        multiply_by_factors(weights, keys, gradients);
      }
    }
    if (queries <= 0) continue;
    if (round < tiles) {
      softmax.take(scores, gradients);
      if (round + 1 == tiles) softmax.finish();
      continue;
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
      for (int j = 0; j < kColumnsPerLane; ++j) {
        const float weight =
            exp_of_nonpositive(scores[i][j] - softmax.maximum[i]) * softmax.sum[i];
        scores[i][j] = weight * (gradients[i][j] - softmax.dot[i]);
        gradients[i][j] = weight;
      }
    // A lane overwrites only factors that it has read itself.
    if (has_all && call.random_key != nullptr) multiply_by_factors(weights, keys, gradients);
    __syncwarp();
    keep(scores, weights);
    __syncwarp();
    add_weighted_rows<kHeadSize>(weights, key_tile, keys, dquery);
  }
  float scale[kRows];
  fill(scale, call.scale);
  store_rows<kHeadSize>(dquery, scale,
                        of_queries(call.dquery, place) + first * call.dquery.token_stride,
                        call.dquery.token_stride, queries, call.head_size, call.packed);
  if (has_all) {
    const int keys = int(place.keys);
    __syncthreads();
    store_transposed_sums<kHeadSize>(all_weights, query_tile, block_queries, keys,
                                 of_keys(call.dkey, place), call.dkey.token_stride, call.head_size,
                                 call.packed);
    __syncthreads();
    if (queries > 0) keep(gradients, weights);
    __syncthreads();
    store_transposed_sums<kValueSize>(all_weights, dy_tile, block_queries, keys,
                                  of_keys(call.dvalue, place), call.dvalue.token_stride,
                                  call.value_size, call.packed);
    return;
  }
  const Statistics statistics(call, place);
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int row = lane_row() + 4 * i;
    if (row >= queries || lane_column() != 0) continue;
    statistics.shift[first + row] = softmax.maximum[i];
    statistics.inverse[first + row] = softmax.sum[i];
    statistics.delta[first + row] = softmax.dot[i];
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    attention_gradient_of_keys(const __grid_constant__ AttentionCall call) {
  extern __shared__ Pack4 shared[];
  const Place place = find_place<true>(call);
  if (place.first < 0 || place.first >= place.keys) return;
  if (place.queries > 0 && place.queries <= call.query_rows && place.keys <= kColumns) return;
  const int block_keys = smaller(place.keys - place.first, kBlockRows),
            keys = block_keys - warp_number() * kWarpRows;  // of the warp
  const std::int64_t first = place.first + warp_number() * kWarpRows;
  float* const key_tile = reinterpret_cast<float*>(shared);
  float* const value_tile = key_tile + kBlockRows * kHeadPitch;
  float* const query_tile = value_tile + kBlockRows * kValuePitch;
  float* const dy_tile = query_tile + call.column_rows * kHeadPitch;
  float* const weights =
      dy_tile + call.column_rows * kValuePitch + warp_number() * kWarpRows * kWeightPitch;

  load_tile<kHeadSize>(of_keys(call.key, place) + place.first * call.key.token_stride,
                       call.key.token_stride, block_keys, kBlockRows, call.head_size, call.packed,
                       1, key_tile);
  load_tile<kValueSize>(of_keys(call.value, place) + place.first * call.value.token_stride,
                        call.value.token_stride, block_keys, kBlockRows, call.value_size,
                        call.packed, 1, value_tile);
  float mask[kRows], ones[kRows], dkey[kRows][kHeadSize / 8], dvalue[kRows][kValueSize / 8];
  fill(ones, 1);
  fill(dkey, 0);
  fill(dvalue, 0);
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int row = lane_row() + 4 * i;
    mask[i] = call.mask == nullptr || row >= keys
                  ? 0
                  : call.mask[place.text * call.mask_stride + first + row];
  }
  const Statistics statistics(call, place);
  for (std::int64_t query = 0; query < place.queries; query += kColumns) {
    const int queries = smaller(place.queries - query, kColumns),
              all_queries = whole_quarters(queries);
    __syncthreads();
    load_tile<kHeadSize>(of_queries(call.query, place) + query * call.query.token_stride,
                         call.query.token_stride, queries, all_queries, call.head_size, call.packed,
                         call.scale, query_tile);
    load_tile<kValueSize>(of_queries(call.dy, place) + query * call.dy.token_stride,
                          call.dy.token_stride, queries, all_queries, call.value_size, call.packed,
                          1, dy_tile);
    __syncthreads();
    if (keys <= 0) continue;
    float left[kRows][kColumnsPerLane], gradients[kRows][kColumnsPerLane];
    multiply_rows<kHeadSize>(key_tile + warp_number() * kWarpRows * kHeadPitch, query_tile, queries,
                             left);
    multiply_rows<kValueSize>(value_tile + warp_number() * kWarpRows * kValuePitch, dy_tile, queries,
                              gradients);
    __syncwarp();
    if (call.random_key != nullptr) {
      draw_by_key(call, place, query, first, queries, weights);
      __syncwarp();
    }
#pragma unroll
    for (int j = 0; j < kColumnsPerLane; ++j) {
      const int column = lane_column() + 8 * j;
      const bool is_there = column < queries;
      const float shift = is_there ? statistics.shift[query + column] : 0,
                  inverse = is_there ? statistics.inverse[query + column] : 0,
                  delta = is_there ? statistics.delta[query + column] : 0;
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        const float weight =
            is_there ? exp_of_nonpositive(left[i][j] + mask[i] - shift) * inverse : 0;
        const float factor = call.random_key == nullptr || !is_there
                                 ? 1
                                 : weights[(lane_row() + 4 * i) * kWeightPitch + column];
        left[i][j] = weight * factor;
        gradients[i][j] = weight * (gradients[i][j] * factor - delta);
      }
    }
    // A lane overwrites only factors that it has read itself.
    keep(left, weights);
    __syncwarp();
    add_weighted_rows<kValueSize>(weights, dy_tile, queries, dvalue);
    __syncwarp();
    keep(gradients, weights);
    __syncwarp();
    add_weighted_rows<kHeadSize>(weights, query_tile, queries, dkey);
  }
  if (keys <= 0) return;
  store_rows<kHeadSize>(dkey, ones, of_keys(call.dkey, place) + first * call.dkey.token_stride,
                        call.dkey.token_stride, keys, call.head_size, call.packed);
  store_rows<kValueSize>(dvalue, ones, of_keys(call.dvalue, place) + first * call.dvalue.token_stride,
                         call.dvalue.token_stride, keys, call.value_size, call.packed);
}
