// The gradients of attention of 16-bit values: see attention_gradient.cu for the formulas and attention_half.cuh for
// the products.
//
// One block computes a text of at most TOKENS queries and keys. Each of its warps has 16 queries, and then 16 keys.
// Weights and their gradients are computed once, in registers, from which one more product gives dq. They are also
// stored in shared memory, since dk and dv are sums over the queries of all warps.
//
// For longer texts, a first kernel, whose blocks own queries, finds the softmax and delta in one round over all keys
// and dq in another. For each query it stores the maximum, one over the sum, and delta. A second kernel, whose blocks
// own keys, recomputes the weights, transposed, and sums dk and dv. So each sum is computed by one block, in a fixed
// order.
constexpr int kTokens = TOKENS, kShortThreads = 2 * kTokens;  // of the kernel for short texts
constexpr int kThreads = 128, kBlockRows = 64;                // of the others
constexpr int kColumns = HEAD_SIZE > 64 ? 32 : 64;            // per iteration

#include "attention_half.cuh"

// ---- short texts

constexpr int kWeightPitch = kTokens + 8;  // of weights in shared memory, like kPitch
// Blocks that run concurrently on a multiprocessor, limited by registers and shared memory.
constexpr int kShortBlocks = kSize > 64 || (kTokens == 128 && __CUDA_ARCH__ < 900) ? 1 : 256 / kTokens;

template <int kTiles>
inline void keep(const std::uint32_t (&weights)[kTiles][2], VALUE* own) {
  VALUE* const place = own + lane_group() * kWeightPitch + 2 * lane_member();
#pragma unroll
  for (int j = 0; j < kTiles; ++j) {
    *reinterpret_cast<std::uint32_t*>(place + 8 * j) = weights[j][0];
    *reinterpret_cast<std::uint32_t*>(place + 8 * kWeightPitch + 8 * j) = weights[j][1];
  }
}

// sum = w^T v, with weights w of all queries and 16 keys, from the key at `weights` on, and vectors v of the queries.
inline void multiply_transposed(const VALUE* weights, const VALUE* vectors, int queries, float (&sum)[kSize / 8][4]) {
  const int row = lane() % 8 + lane() / 16 * 8, column = lane() / 8 % 2 * 8;
  const std::uint32_t a_at = shared_address(weights + row * kWeightPitch + column), b_at = transposed_address(vectors);
  clear(sum);
#pragma unroll 2
  for (int query = 0; query < queries; query += 16) {
    std::uint32_t a[4];
    load_transposed_matrices(a, a_at + 2 * query * kWeightPitch);
    add_sixteen(a, b_at + 2 * query * kPitch, sum);
  }
}

extern "C" __global__ void __launch_bounds__(kShortThreads, kShortBlocks)
    attention_half_gradient_of_short(const __grid_constant__ AttentionCall call) {
  constexpr int kTiles = kTokens / 8, kChunk = kTokens % 64 == 0 ? 8 : 4;  // tiles whose words are drawn at once
  extern __shared__ Pack<VALUE, 8> shared[];
  const Place place = place_in(call, blockIdx.x / unsigned(call.heads), blockIdx.x % unsigned(call.heads), 0);
  if (place.queries > kTokens || place.keys > kTokens) return;
  VALUE* const query_tile = reinterpret_cast<VALUE*>(shared);
  VALUE* const key_tile = query_tile + kTokens * kPitch;
  VALUE* const value_tile = key_tile + kTokens * kPitch;
  VALUE* const dy_tile = value_tile + kTokens * kPitch;
  VALUE* const all_weights = dy_tile + kTokens * kPitch;
  float* const mask = reinterpret_cast<float*>(all_weights + kTokens * kWeightPitch);
  const int first = 16 * warp_number(), queries = int(place.queries) - first, keys = int(place.keys) - first;
  VALUE* const own_weights = all_weights + first * kWeightPitch;
  VALUE* const stage = value_tile + first * kPitch;

  begin_tile<kTokens, kShortThreads>(of_queries(call.query, place), call.query.token_stride, int(place.queries),
                                     query_tile);
  begin_tile<kTokens, kShortThreads>(of_keys(call.key, place), call.key.token_stride, int(place.keys), key_tile);
  commit_copies();
  begin_tile<kTokens, kShortThreads>(of_keys(call.value, place), call.value.token_stride, int(place.keys),
                                     value_tile);
  begin_tile<kTokens, kShortThreads>(of_queries(call.dy, place), call.dy.token_stride, int(place.queries), dy_tile);
  commit_copies();
  load_mask<kTokens>(call, place, 0, mask);
  Kept<kChunk> kept[kTiles / kChunk];
  if (kDrops && queries > 0) {
#pragma unroll
    for (int i = 0; i < kTiles / kChunk; ++i) kept[i].take(call, place, first, 8 * kChunk * i);
  }
  wait_for_copies<1>();
  __syncthreads();
  std::uint32_t weights[kTiles][2];  // and then their gradients
  if (queries > 0) {
    float scores[kTiles][4];
    multiply_vectors(query_tile + first * kPitch, key_tile, scores);
    mask_scores(call.scale * kLog2E, mask, scores);
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      float highest = minus_infinity(), sum = 0;
#pragma unroll
      for (int j = 0; j < kTiles; ++j) highest = fmaxf(highest, fmaxf(scores[j][2 * row], scores[j][2 * row + 1]));
      const float shift = shift_of(maximum_of_group(highest));
#pragma unroll
      for (int j = 0; j < kTiles; ++j)
#pragma unroll
        for (int e = 2 * row; e < 2 * row + 2; ++e) {
          scores[j][e] = exp2_of(scores[j][e] - shift);
          sum += scores[j][e];
        }
      const float inverse = place.keys == 0 ? 0 : 1 / sum_of_group(sum);
#pragma unroll
      for (int j = 0; j < kTiles; ++j)
        weights[j][row] = packed(scores[j][2 * row] * inverse, scores[j][2 * row + 1] * inverse);
    }
    VALUE* const own = own_weights + lane_group() * kWeightPitch + 2 * lane_member();
#pragma unroll
    for (int j = 0; j < kTiles; ++j)
#pragma unroll
      for (int row = 0; row < 2; ++row) {
        std::uint32_t stays = weights[j][row];
        if (kDrops)
          stays &= (kept[j / kChunk].at(j % kChunk, 2 * row) ? 0xffffu : 0) |
                   (kept[j / kChunk].at(j % kChunk, 2 * row + 1) ? 0xffff0000u : 0);
        *reinterpret_cast<std::uint32_t*>(own + 8 * row * kWeightPitch + 8 * j) = stays;
      }
  }
  wait_for_copies<0>();
  __syncthreads();
  float sum[kSize / 8][4];
  if (queries > 0) {
    float gradients[kTiles][4], delta[2] = {0, 0};
    multiply_vectors(dy_tile + first * kPitch, value_tile, gradients);
#pragma unroll
    for (int j = 0; j < kTiles; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        if (kDrops) gradients[j][e] = kept[j / kChunk].at(j % kChunk, e) ? gradients[j][e] * call.factor : 0;
        const std::uint32_t pair = weights[j][e / 2];
        delta[e / 2] = fmaf(e % 2 == 0 ? low_of(pair) : high_of(pair), gradients[j][e], delta[e / 2]);
      }
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      delta[row] = sum_of_group(delta[row]);
#pragma unroll
      for (int j = 0; j < kTiles; ++j) {
        const std::uint32_t pair = weights[j][row];
        weights[j][row] = packed(low_of(pair) * (gradients[j][2 * row] - delta[row]),
                                 high_of(pair) * (gradients[j][2 * row + 1] - delta[row]));
      }
    }
    clear(sum);
    add_weighted_vectors(weights, key_tile, sum);
  }
  // Keys and values are no longer needed; results are staged in the memory of the values.
  __syncthreads();
  if (queries > 0)
    store_rows(sum, call.scale, call.scale, stage,
               of_queries(call.dquery, place) + first * call.dquery.token_stride, call.dquery.token_stride, queries);
  const float factor = kDrops ? call.factor : 1;
  if (keys > 0) {
    multiply_transposed(all_weights + first, dy_tile, int(place.queries), sum);
    store_rows(sum, factor, factor, stage, of_keys(call.dvalue, place) + first * call.dvalue.token_stride,
               call.dvalue.token_stride, keys);
  }
  __syncthreads();
  if (queries > 0) keep(weights, own_weights);
  __syncthreads();
  if (keys > 0) {
    multiply_transposed(all_weights + first, query_tile, int(place.queries), sum);
    store_rows(sum, call.scale, call.scale, stage, of_keys(call.dkey, place) + first * call.dkey.token_stride,
               call.dkey.token_stride, keys);
  }
}

// ---- longer texts

// The online softmax and delta of a lane's two rows.
struct Softmax {
  float maximum[2] = {minus_infinity(), minus_infinity()}, sum[2] = {0, 0}, dot[2] = {0, 0};

  template <int kTiles>
  inline void take(float (&scores)[kTiles][4], const float (&gradients)[kTiles][4]) {
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      float highest = scores[0][2 * row];
#pragma unroll
      for (int j = 0; j < kTiles; ++j) highest = fmaxf(highest, fmaxf(scores[j][2 * row], scores[j][2 * row + 1]));
      highest = fmaxf(maximum[row], maximum_of_group(highest));
      const float shift = shift_of(highest), fade = exp2_of(maximum[row] - shift);
      maximum[row] = highest;
      sum[row] *= fade;
      dot[row] *= fade;
#pragma unroll
      for (int j = 0; j < kTiles; ++j)
#pragma unroll
        for (int e = 2 * row; e < 2 * row + 2; ++e) {
          const float weight = exp2_of(scores[j][e] - shift);
          sum[row] += weight;
          dot[row] = fmaf(weight, gradients[j][e], dot[row]);
        }
    }
  }

  // Turns maxima into shifts, sums into their inverses, and dots into delta.
  inline void finish() {
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      maximum[row] = shift_of(maximum[row]);
      sum[row] = 1 / sum_of_group(sum[row]);
      dot[row] = sum_of_group(dot[row]) * sum[row];
    }
  }
};

// Returns whether the kernel for short texts has computed this text.
inline bool is_done(const AttentionCall& call, const Place& place) {
  return place.queries <= call.query_rows && place.keys <= call.query_rows;
}

extern "C" __global__ void __launch_bounds__(kThreads)
    attention_half_gradient_of_queries(const __grid_constant__ AttentionCall call) {
  constexpr int kTiles = kColumns / 8;
  extern __shared__ Pack<VALUE, 8> shared[];
  const Place place = find_place<false>(call);
  if (place.first < 0 || place.first >= place.queries || is_done(call, place)) return;
  const int block_queries = smaller(place.queries - place.first, kBlockRows),
            queries = block_queries - warp_number() * 16;  // of the warp
  const std::int64_t first = place.first + warp_number() * 16;
  VALUE* const query_tile = reinterpret_cast<VALUE*>(shared);
  VALUE* const dy_tile = query_tile + kBlockRows * kPitch;
  VALUE* const key_tiles = dy_tile + kBlockRows * kPitch;
  VALUE* const value_tiles = key_tiles + 2 * kColumns * kPitch;
  float* const masks = reinterpret_cast<float*>(value_tiles + 2 * kColumns * kPitch);
  VALUE* const own = query_tile + warp_number() * 16 * kPitch;

  const std::int64_t tiles = whole(place.keys, kColumns);
  const auto begin_columns = [&](std::int64_t round) {
    if (round < 2 * tiles) {
      const std::int64_t key = round % tiles * kColumns;
      const int stage = int(round % 2), keys = smaller(place.keys - key, kColumns);
      begin_tile<kColumns, kThreads>(of_keys(call.key, place) + key * call.key.token_stride,
                                     call.key.token_stride, keys, key_tiles + stage * kColumns * kPitch);
      begin_tile<kColumns, kThreads>(of_keys(call.value, place) + key * call.value.token_stride,
                                     call.value.token_stride, keys, value_tiles + stage * kColumns * kPitch);
      load_mask<kColumns>(call, place, key, masks + stage * kColumns);
    }
    commit_copies();
  };
  begin_tile<kBlockRows, kThreads>(of_queries(call.query, place) + place.first * call.query.token_stride,
                                   call.query.token_stride, block_queries, query_tile);
  begin_tile<kBlockRows, kThreads>(of_queries(call.dy, place) + place.first * call.dy.token_stride,
                                   call.dy.token_stride, block_queries, dy_tile);
  begin_columns(0);
  Softmax softmax;
  float dquery[kSize / 8][4];
  clear(dquery);
  for (std::int64_t round = 0; round < 2 * tiles; ++round) {
    begin_columns(round + 1);
    const int stage = int(round % 2);
    Kept<kTiles> kept;
    if (kDrops && queries > 0) kept.take(call, place, first, round % tiles * kColumns);
    wait_for_copies<1>();
    __syncthreads();
    if (queries > 0) {
      const VALUE* const key_tile = key_tiles + stage * kColumns * kPitch;
      float scores[kTiles][4], gradients[kTiles][4];
      multiply_vectors(own, key_tile, scores);
      mask_scores(call.scale * kLog2E, masks + stage * kColumns, scores);
      multiply_vectors(dy_tile + warp_number() * 16 * kPitch, value_tiles + stage * kColumns * kPitch, gradients);
      if (kDrops) {
#pragma unroll
        for (int j = 0; j < kTiles; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e) gradients[j][e] = kept.at(j, e) ? gradients[j][e] * call.factor : 0;
      }
      if (round < tiles) {
        softmax.take(scores, gradients);
        if (round + 1 == tiles) softmax.finish();
      } else {
        std::uint32_t left[kTiles][2];
#pragma unroll
        for (int row = 0; row < 2; ++row)
#pragma unroll
          for (int j = 0; j < kTiles; ++j) {
#pragma unroll
            for (int e = 2 * row; e < 2 * row + 2; ++e)
              scores[j][e] = exp2_of(scores[j][e] - softmax.maximum[row]) * softmax.sum[row] *
                             (gradients[j][e] - softmax.dot[row]);
            left[j][row] = packed(scores[j][2 * row], scores[j][2 * row + 1]);
          }
        add_weighted_vectors(left, key_tile, dquery);
      }
    }
    __syncthreads();
  }
  // Without keys, the copies of queries may still be in flight.
  wait_for_copies<0>();
  __syncthreads();
  if (queries <= 0) return;
  store_rows(dquery, call.scale, call.scale, own,
             of_queries(call.dquery, place) + first * call.dquery.token_stride, call.dquery.token_stride, queries);
  const Statistics statistics(call, place);
  if (lane_member() != 0) return;
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    const int query = lane_group() + 8 * row;
    if (query >= queries) continue;
    statistics.shift[first + query] = softmax.maximum[row];
    statistics.inverse[first + query] = softmax.sum[row];
    statistics.delta[first + query] = softmax.dot[row];
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    attention_half_gradient_of_keys(const __grid_constant__ AttentionCall call) {
  constexpr int kTiles = kColumns / 8;
  extern __shared__ Pack<VALUE, 8> shared[];
  const Place place = find_place<true>(call);
  if (place.first < 0 || place.first >= place.keys || is_done(call, place)) return;
  const int block_keys = smaller(place.keys - place.first, kBlockRows),
            keys = block_keys - warp_number() * 16;  // of the warp
  const std::int64_t first = place.first + warp_number() * 16;
  VALUE* const key_tile = reinterpret_cast<VALUE*>(shared);
  VALUE* const value_tile = key_tile + kBlockRows * kPitch;
  VALUE* const query_tiles = value_tile + kBlockRows * kPitch;
  VALUE* const dy_tiles = query_tiles + 2 * kColumns * kPitch;
  // Shift, inverse and delta of each query.
  float* const all_statistics = reinterpret_cast<float*>(dy_tiles + 2 * kColumns * kPitch);
  VALUE* const own_keys = key_tile + warp_number() * 16 * kPitch;
  VALUE* const own_values = value_tile + warp_number() * 16 * kPitch;

  const std::int64_t tiles = whole(place.queries, kColumns);
  const Statistics statistics(call, place);
  const auto begin_columns = [&](std::int64_t tile) {
    if (tile < tiles) {
      const std::int64_t query = tile * kColumns;
      const int stage = int(tile % 2), queries = smaller(place.queries - query, kColumns);
      begin_tile<kColumns, kThreads>(of_queries(call.query, place) + query * call.query.token_stride,
                                     call.query.token_stride, queries, query_tiles + stage * kColumns * kPitch);
      begin_tile<kColumns, kThreads>(of_queries(call.dy, place) + query * call.dy.token_stride,
                                     call.dy.token_stride, queries, dy_tiles + stage * kColumns * kPitch);
      if (threadIdx.x < kColumns) {
        float* const to = all_statistics + stage * 3 * kColumns + threadIdx.x;
        // Queries beyond the last have weights of 0.
        const bool is_there = int(threadIdx.x) < queries;
        to[0] = is_there ? statistics.shift[query + threadIdx.x] : -minus_infinity();
        to[kColumns] = is_there ? statistics.inverse[query + threadIdx.x] : 0;
        to[2 * kColumns] = is_there ? statistics.delta[query + threadIdx.x] : 0;
      }
    }
    commit_copies();
  };
  begin_tile<kBlockRows, kThreads>(of_keys(call.key, place) + place.first * call.key.token_stride,
                                   call.key.token_stride, block_keys, key_tile);
  begin_tile<kBlockRows, kThreads>(of_keys(call.value, place) + place.first * call.value.token_stride,
                                   call.value.token_stride, block_keys, value_tile);
  begin_columns(0);
  float added[2];
#pragma unroll
  for (int row = 0; row < 2; ++row) added[row] = mask_of(call, place, first + lane_group() + 8 * row);
  const float scale = call.scale * kLog2E;
  float dkey[kSize / 8][4], dvalue[kSize / 8][4];
  clear(dkey);
  clear(dvalue);
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    begin_columns(tile + 1);
    const int stage = int(tile % 2);
    TransposedKept<kTiles> kept;
    if (kDrops && keys > 0) kept.take(call, place, tile * kColumns, first);
    wait_for_copies<1>();
    __syncthreads();
    if (keys > 0) {
      const VALUE* const query_tile = query_tiles + stage * kColumns * kPitch;
      const VALUE* const dy_tile = dy_tiles + stage * kColumns * kPitch;
      float scores[kTiles][4], gradients[kTiles][4];
      multiply_vectors(own_keys, query_tile, scores);
      multiply_vectors(own_values, dy_tile, gradients);
      std::uint32_t weights[kTiles][2], left[kTiles][2];
#pragma unroll
      for (int j = 0; j < kTiles; ++j) {
        using Pair = Pack<float, 2>;
        const float* const column = all_statistics + stage * 3 * kColumns + 8 * j + 2 * lane_member();
        const Pair shift = *reinterpret_cast<const Pair*>(column),
                   inverse = *reinterpret_cast<const Pair*>(column + kColumns),
                   delta = *reinterpret_cast<const Pair*>(column + 2 * kColumns);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const float weight =
              exp2_of(fmaf(scores[j][e], scale, added[e / 2]) - shift.at[e % 2]) * inverse.at[e % 2];
          const float factor = !kDrops ? 1 : kept.at(j, e) ? call.factor : 0;
          scores[j][e] = kDrops && factor == 0 ? 0 : weight;
          gradients[j][e] = weight * (gradients[j][e] * factor - delta.at[e % 2]);
        }
#pragma unroll
        for (int row = 0; row < 2; ++row) {
          weights[j][row] = packed(scores[j][2 * row], scores[j][2 * row + 1]);
          left[j][row] = packed(gradients[j][2 * row], gradients[j][2 * row + 1]);
        }
      }
      add_weighted_vectors(weights, dy_tile, dvalue);
      add_weighted_vectors(left, query_tile, dkey);
    }
    __syncthreads();
  }
  // Without queries, the copies of keys may still be in flight.
  wait_for_copies<0>();
  __syncthreads();
  if (keys <= 0) return;
  const float factor = kDrops ? call.factor : 1;
  store_rows(dkey, call.scale, call.scale, own_keys, of_keys(call.dkey, place) + first * call.dkey.token_stride,
             call.dkey.token_stride, keys);
  store_rows(dvalue, factor, factor, own_values, of_keys(call.dvalue, place) + first * call.dvalue.token_stride,
             call.dvalue.token_stride, keys);
}
