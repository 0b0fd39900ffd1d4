#pragma once

#include <cstdint>

#include "hone/base/random.h"
#include "hone/base/thread_pool.h"

/// Attention of queries to keys as one kernel: nothing as large as queries times keys is ever in memory.
///
///     // y(B,S,N,D) of q, k and v as linears leave them, (B,S,N,D)
///     const auto heads = [&](const float* x) { return ConstHeads{x, S * N * D, D, N * D}; };
///     attention(pool, {B, N, S, S, D, D}, 1 / std::sqrt(D), heads(q), heads(k), heads(v), {mask, S},
///               {y, S * N * D, D, N * D});
namespace hone::kernels {

struct AttentionShape {
  std::int64_t batch = 0;  ///< texts
  std::int64_t heads = 0;
  std::int64_t queries = 0;     ///< of each text, or of the longest
  std::int64_t keys = 0;        ///< likewise
  std::int64_t head_size = 0;   ///< of queries and keys
  std::int64_t value_size = 0;  ///< of values and results
};

/// The vector of token t of head n of text b begins at `data + b * batch_stride + n * head_stride + t * token_stride`; its
/// elements are neighbours.
template <typename T>
struct HeadsOf {
  T* data = nullptr;
  std::int64_t batch_stride = 0;
  std::int64_t head_stride = 0;
  std::int64_t token_stride = 0;
};
using ConstHeads = HeadsOf<const float>;
using Heads = HeadsOf<float>;

/// Where texts without padding stand, one behind the other: the keys of text b are the tokens `begins[b]` to `begins[b] + lengths[b]`
/// of all, and so are its queries where `queries` says so; `batch_stride` counts for neither then. Null: every text has as many as the shape says.
struct TextRuns {
  const std::int64_t* begins = nullptr;
  const std::int64_t* lengths = nullptr;
  bool queries = false;
};

/// What is added to the scores of key t of text b: `data[b * batch_stride + t]`; nothing when null.
struct KeyMask {
  const float* data = nullptr;
  std::int64_t batch_stride = 0;
};

/// What weights are dropped by, see dropout.h: that of query s of head n of text b to key t draws the word
/// `b * batch_stride + n * head_stride + s * query_stride + t`. None are where the probability is 0.
struct WeightDropout {
  double probability = 0;
  RandomStream stream = {};
  std::int64_t batch_stride = 0;
  std::int64_t head_stride = 0;
  std::int64_t query_stride = 0;
};

/// y = dropout(softmax(scale q k^T + mask)) v, for each head of each text. What is more than 87 below the highest score of its query
/// has weight 0, exactly. So keys behind a text that a mask of the lowest float keeps out change no bit; where it keeps out
/// all, they have one weight. Queries with no score above -infinity, or with NaN or +infinity among them, give NaN. Results
/// have the same bits for any number of threads.
void attention(ThreadPool& pool, const AttentionShape& shape, float scale, const ConstHeads& q,
               const ConstHeads& k, const ConstHeads& v, const KeyMask& mask, const Heads& y,
               const WeightDropout& dropout = {}, const TextRuns& runs = {});

}  // namespace hone::kernels
