// The softmax of attention and its gradient for scores in rows, one per query. Compiled once per Highway target.
#if defined(HONE_KERNELS_ATTENTION_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HONE_KERNELS_ATTENTION_ROWS_INL_H_
#undef HONE_KERNELS_ATTENTION_ROWS_INL_H_
#else
#define HONE_KERNELS_ATTENTION_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "hone/kernels/attention.h"
#include "hone/kernels/dropout.h"
#include "hone/kernels/softmax-inl.h"
#include "hone/kernels/text_runs.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

// Queries that are processed together. Independent of the width of vectors, so that sums over queries have the same
// bits on every target.
inline constexpr std::int64_t kQueriesPerBlock = 64;

// Returns the stride of the rows of a block: an odd number of cache lines, so that rows spread over all cache sets.
constexpr std::int64_t row_stride_of(std::int64_t columns) {
  const std::int64_t lines = (columns + 15) / 16;
  return 16 * (lines + (lines + 1) % 2);
}

// Rows of a block of queries, `stride` apart.
struct AttentionRows {
  std::int64_t keys, stride;
  float* weights;         // scores, then the weights
  float* gradients;       // of the weights after dropout, then of the scores
  float* left;            // the weights after dropout, if any
  float *factors, *ones;  // (queries, keys), with dropout; `ones` is filled with 1

  // Returns the weights that multiply values.
  const float* applied(const WeightDropout& dropout) const {
    return dropout.probability > 0 ? left : weights;
  }
};

inline void multiply_elements(const float* a, const float* b, std::int64_t n, float* y) {
  const Floats d;
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    store(hn::Mul(load(d, a + i, part), load(d, b + i, part)), d, y + i, part);
  });
}

// Turns scores into weights, and gradients of weights into gradients of scores. `first_word` is the dropout word of the
// first weight of the block.
inline void differentiate_rows(const AttentionRows& rows, std::int64_t count,
                               const WeightDropout& dropout, std::int64_t first_word) {
  const Floats d;
  const std::int64_t keys = rows.keys;
  const bool drops = dropout.probability > 0;
  if (drops) {
    std::int64_t words[kQueriesPerBlock];
    for (std::int64_t i = 0; i < count; ++i) words[i] = first_word + i * dropout.query_stride;
    dropout_rows(dropout.probability, dropout.stream, {words, static_cast<std::size_t>(count)},
                 keys, rows.ones, rows.factors);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    float* const weights = rows.weights + i * rows.stride;
    float* const gradients = rows.gradients + i * rows.stride;
    const float sum = sum_of_exponentials(keys, weights, row_maximum(keys, weights),
                                          [&](std::int64_t t, auto part, auto term)
                                              HWY_ATTR { store(term, d, weights + t, part); });
    scale_row(keys, 1.0f / sum, weights);
    if (drops) {
      const float* const factors = rows.factors + i * keys;
      multiply_elements(weights, factors, keys, rows.left + i * rows.stride);
      multiply_elements(gradients, factors, keys, gradients);
    }
    const float dot = sum_of_terms(keys, [&](std::int64_t t, auto part) HWY_ATTR {
      return hn::Mul(load(d, weights + t, part), load(d, gradients + t, part));
    });
    for_vectors(d, keys, [&](std::int64_t t, auto part) HWY_ATTR {
      const auto centred = hn::Sub(load(d, gradients + t, part), hn::Set(d, dot));
      store(hn::Mul(load(d, weights + t, part), centred), d, gradients + t, part);
    });
  }
}

// One head of one text and its gradients.
template <typename T>
struct GradientHeadOf {
  AttentionShape shape;  // of its text
  float scale;
  HeadsOf<const T> q, k, v, dy;  // of this head: only token strides are used
  HeadsOf<T> dq, dk, dv;
  const float* mask;  // null: none
  const WeightDropout& dropout;
  std::int64_t first_word;
};

// Calls differentiate(head) for all heads of all texts, each on one thread.
template <typename T, class Differentiate>
void differentiate_by_heads(ThreadPool& pool, const AttentionShape& shape, float scale,
                            const HeadsOf<const T>& q, const HeadsOf<const T>& k,
                            const HeadsOf<const T>& v, const KeyMask& mask,
                            const HeadsOf<const T>& dy, const HeadsOf<T>& dq, const HeadsOf<T>& dk,
                            const HeadsOf<T>& dv, const WeightDropout& dropout,
                            const TextRuns& runs, Differentiate&& differentiate) {
  constexpr std::int64_t kChunkWork = std::int64_t{1} << 18;  // multiply-adds: some microseconds
  const std::int64_t work =
      shape.queries * shape.keys * (3 * shape.head_size + 2 * shape.value_size);
  const std::int64_t grain =
      std::max<std::int64_t>(1, kChunkWork / std::max<std::int64_t>(1, work));
  const auto differentiate_one = [&](std::int64_t item) {
    const std::int64_t text = item / shape.heads, n = item % shape.heads;
    const TextTokens tokens(shape, runs, text);
    AttentionShape own = shape;
    own.queries = tokens.queries;
    own.keys = tokens.keys;
    differentiate(
        GradientHeadOf<T>{own, scale, tokens.of_queries(q, n), tokens.of_keys(k, n),
                          tokens.of_keys(v, n), tokens.of_queries(dy, n), tokens.of_queries(dq, n),
                          tokens.of_keys(dk, n), tokens.of_keys(dv, n),
                          mask.data == nullptr ? nullptr : mask.data + text * mask.batch_stride,
                          dropout, text * dropout.batch_stride + n * dropout.head_stride});
  };
  parallel_ranges(pool, shape.batch * shape.heads, grain,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t item = begin; item < end; ++item) differentiate_one(item);
                  });
}

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
