#pragma once

#include <cstdint>

#include "hone/base/random.h"
#include "hone/base/thread_pool.h"

/// Attention as one kernel, which never stores a matrix of queries by keys.
///
///     // y(B,S,N,D) from q, k and v (B,S,N,D), the results of linear layers
///     const auto heads = [&](const float* x) { return ConstHeads{x, S * N * D, D, N * D}; };
///     attention(pool, {B, N, S, S, D, D}, 1 / std::sqrt(D), heads(q), heads(k), heads(v), {mask, S},
///               {y, S * N * D, D, N * D});
namespace hone::kernels {

struct AttentionShape {
  std::int64_t batch = 0;  ///< texts
  std::int64_t heads = 0;
  std::int64_t queries = 0;     ///< per text, or of the longest one
  std::int64_t keys = 0;        ///< likewise
  std::int64_t head_size = 0;   ///< of queries and keys
  std::int64_t value_size = 0;  ///< of values and results
};

/// Vectors per token and head. The vector of token t of head n of text b is contiguous and begins at
/// `data + b * batch_stride + n * head_stride + t * token_stride`.
template <typename T>
struct HeadsOf {
  T* data = nullptr;
  std::int64_t batch_stride = 0;
  std::int64_t head_stride = 0;
  std::int64_t token_stride = 0;
};
using ConstHeads = HeadsOf<const float>;
using Heads = HeadsOf<float>;

/// Positions of texts stored back to back without padding. The keys of text b are the `lengths[b]` tokens from
/// `begins[b]` on, and so are its queries if `queries` is set; `batch_stride` is then ignored. Null: every text has the
/// length in the shape.
struct TextRuns {
  const std::int64_t* begins = nullptr;
  const std::int64_t* lengths = nullptr;
  bool queries = false;
};

/// An additive mask: `data[b * batch_stride + t]` is added to the scores of key t of text b; null: none.
struct KeyMask {
  const float* data = nullptr;
  std::int64_t batch_stride = 0;
};

/// Dropout of attention weights, see dropout.h. No dropout if the probability is 0. The weight of query s of head n of
/// text b for key t draws word
/// `b * batch_stride + n * head_stride + s * query_stride + t`.
struct WeightDropout {
  double probability = 0;
  RandomStream stream = {};
  std::int64_t batch_stride = 0;
  std::int64_t head_stride = 0;
  std::int64_t query_stride = 0;
};

/// Computes y = dropout(softmax(scale q k^T + mask)) v for each head of each text. A key whose score is more than 87
/// below the highest score of the query has weight exactly 0. So padding keys masked with the lowest float change no
/// bit; if all keys are masked, they have equal weights. Queries with no score above -infinity, or with scores of NaN
/// or +infinity, give NaN. Results have the same bits for any number of threads.
void attention(ThreadPool& pool, const AttentionShape& shape, float scale, const ConstHeads& q,
               const ConstHeads& k, const ConstHeads& v, const KeyMask& mask, const Heads& y,
               const WeightDropout& dropout = {}, const TextRuns& runs = {});

}  // namespace hone::kernels
