// Like attention_gradient.cpp, with products of pairs: neighbouring elements of a head for scores and gradients of
// weights, neighbouring keys for dq, neighbouring queries for dk and dv. Weights and gradients of scores are rounded
// row by row, then packed as rows, or by key for sums over queries.
#include "hone/kernels/attention_gradient_bf16.h"

#include <algorithm>

#include "hone/kernels/grain.h"
#include "hone/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/attention_gradient_bf16.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/attention_rows-inl.h"
#include "hone/kernels/bf16_pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

using Head = GradientHeadOf<std::uint16_t>;
using ConstHalfHeads = HeadsOf<const std::uint16_t>;

constexpr std::int64_t whole_vectors(std::int64_t columns) {
  return round_up(columns, kPairColumns);
}

// Views of the vectors of tokens: one line per token, or one line per element.
PairLines by_token(const ConstHalfHeads& x, std::int64_t tokens, std::int64_t size) {
  return {nullptr, x.data, x.token_stride, 1, tokens, size};
}
PairLines by_element(const ConstHalfHeads& x, std::int64_t tokens, std::int64_t size) {
  return {nullptr, x.data, 1, x.token_stride, size, tokens};
}

// Workspace for the gradients of a head.
struct Work {
  MultiplyPairs multiply;
  PairPanels keys, values, keys_by_size;             // columns
  PairPanels queries, dy;                            // rows, of a block
  PairPanels queries_by_size, dy_by_size;            // columns, of a block
  PairPanels scores, scores_by_key, weights_by_key;  // rows: gradients of scores, and weights
  AttentionRows rows;
  std::uint16_t* halves;  // (queries, stride), rounded
  float* mask;            // whole vectors of it
  float *dq, *dk, *dv;    // (queries, D), (T, D), (T, E), in whole vectors

  explicit Work(const AttentionShape& s, bool drops) : multiply(pair_multiplier()) {
    static thread_local Scratch scratch;
    const std::int64_t block = std::min(kQueriesPerBlock, s.queries), block_pairs = pairs_of(block),
                       key_pairs = pairs_of(s.keys), d = whole_vectors(s.head_size),
                       e = whole_vectors(s.value_size), stride = row_stride_of(s.keys);
    rows.keys = s.keys;
    rows.stride = stride;
    const auto columns = [](PairPanels& panels, std::int64_t lines, std::int64_t pairs) {
      panels = {nullptr, kPairStride, pairs};
      return PairPanels::words(lines, kPairStride, pairs);
    };
    const auto lines = [](PairPanels& panels, std::int64_t count, std::int64_t pairs) {
      panels = {nullptr, kPairRows, pairs};
      return PairPanels::words(count, kPairRows, pairs);
    };
    const std::pair<std::uint32_t**, std::int64_t> packed[] = {
        {&keys.data, columns(keys, s.keys, pairs_of(s.head_size))},
        {&values.data, columns(values, s.keys, pairs_of(s.value_size))},
        {&keys_by_size.data, columns(keys_by_size, s.head_size, key_pairs)},
        {&queries.data, lines(queries, block, pairs_of(s.head_size))},
        {&dy.data, lines(dy, block, pairs_of(s.value_size))},
        {&queries_by_size.data, columns(queries_by_size, s.head_size, block_pairs)},
        {&dy_by_size.data, columns(dy_by_size, s.value_size, block_pairs)},
        {&scores.data, lines(scores, block, key_pairs)},
        {&scores_by_key.data, lines(scores_by_key, s.keys, block_pairs)},
        {&weights_by_key.data, lines(weights_by_key, s.keys, block_pairs)}};
    float* floats_of_halves = nullptr;
    const std::pair<float**, std::int64_t> parts[] = {{&rows.weights, block * stride},
                                                      {&rows.gradients, block * stride},
                                                      {&rows.left, drops ? block * stride : 0},
                                                      {&rows.factors, drops ? block * s.keys : 0},
                                                      {&rows.ones, drops ? block * s.keys : 0},
                                                      {&floats_of_halves, block * stride / 2},
                                                      {&mask, whole_vectors(s.keys)},
                                                      {&dq, block * d},
                                                      {&dk, s.keys * d},
                                                      {&dv, s.keys * e}};
    std::int64_t all = 0;
    for (const auto& [part, count] : packed) all += row_stride_of(count);
    for (const auto& [part, count] : parts) all += row_stride_of(count);
    float* at = scratch.floats(static_cast<std::size_t>(all));
    for (const auto& [part, count] : packed) {
      *part = reinterpret_cast<std::uint32_t*>(at);
      at += row_stride_of(count);
    }
    for (const auto& [part, count] : parts) {
      *part = at;
      at += row_stride_of(count);
    }
    halves = reinterpret_cast<std::uint16_t*>(floats_of_halves);
  }

  // Calls keep(row, column, sums) for all rows and vectors of columns.
  template <class Keep>
  void sum_products(const PairPanels& left, std::int64_t count, const PairPanels& right,
                    std::int64_t columns, Keep&& keep) const {
    HWY_ALIGN float sums[kPairRows * kPieceStride];
    const Floats d;
    for (std::int64_t column = 0; column < columns; column += kPieceStride) {
      const std::int64_t width = std::min(kPieceStride, whole_vectors(columns - column));
      const PairVectors vectors = right.vectors(column, width / kPairColumns);
      for (std::int64_t row = 0; row < count; row += kPairRows) {
        const std::int64_t together = std::min(kPairRows, count - row);
        multiply({left.at(row, 0), together}, vectors, left.pairs, sums);
        for (std::int64_t i = 0; i < together; ++i)
          for (std::int64_t j = 0; j < width; j += kLanes)
            keep(row + i, column + j, hn::Load(d, sums + i * kPieceStride + j));
      }
    }
  }
  // Adds products to rows of whole vectors.
  void add_products(const PairPanels& left, std::int64_t count, const PairPanels& right,
                    std::int64_t columns, float* to) const {
    const Floats d;
    const std::int64_t stride = whole_vectors(columns);
    sum_products(left, count, right, columns,
                 [=](std::int64_t row, std::int64_t column, hn::Vec<Floats> sum) HWY_ATTR {
                   float* const at = to + row * stride + column;
                   hn::Store(hn::Add(hn::Load(d, at), sum), d, at);
                 });
  }
};

// Stores rows of whole vectors, scaled and rounded, to the vectors of tokens.
void put_rows(const float* from, std::int64_t rows, std::int64_t columns, float scale,
              const HeadsOf<std::uint16_t>& to) {
  const auto scaled = [scale](Bits d, BitsVec v) HWY_ATTR {
    const Floats floats;
    return to_bfloat16(d, hn::BitCast(d, hn::Mul(hn::BitCast(floats, v), hn::Set(floats, scale))));
  };
  for (std::int64_t i = 0; i < rows; ++i)
    narrow_range(columns, from + i * whole_vectors(columns), to.data + i * to.token_stride, scaled);
}

// Rounds `count` rows to w.halves and returns a view of them.
PairLines rounded_rows(const Work& w, const float* rows, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    narrow_range(w.rows.keys, rows + i * w.rows.stride, w.halves + i * w.rows.stride,
                 [](Bits d, BitsVec v) HWY_ATTR { return to_bfloat16(d, v); });
  return {nullptr, w.halves, w.rows.stride, 1, count, w.rows.keys};
}

// Packs the columns of these rows as lines of pairs of queries.
void pack_by_key(const PairLines& rows, const PairPanels& to) {
  pack_all_neighbours({nullptr, rows.halves, 1, rows.line_stride, rows.depth, rows.lines}, to);
}

PairPanels of_queries(PairPanels panels, std::int64_t count) {
  panels.pairs = pairs_of(count);
  return panels;
}

// Computes dq of the queries [first, first + count) and adds their terms of dk and dv.
void add_block(const Head& head, const Work& w, std::int64_t first, std::int64_t count) {
  const AttentionShape& s = head.shape;
  const Floats d;
  ConstHalfHeads q = head.q, dy = head.dy;
  q.data += first * q.token_stride;
  dy.data += first * dy.token_stride;
  pack_all_runs(by_token(q, count, s.head_size), count, w.queries);
  pack_all_runs(by_token(dy, count, s.value_size), count, w.dy);
  const auto scale = hn::Set(d, head.scale);
  float *const scores = w.rows.weights, *const gradients = w.rows.gradients;
  const std::int64_t stride = w.rows.stride;
  const float* const mask = w.mask;
  w.sum_products(w.queries, count, w.keys, s.keys,
                 [=](std::int64_t row, std::int64_t column, hn::Vec<Floats> sum) HWY_ATTR {
                   hn::Store(hn::Add(hn::Mul(sum, scale), hn::Load(d, mask + column)), d,
                             scores + row * stride + column);
                 });
  w.sum_products(w.dy, count, w.values, s.keys,
                 [=](std::int64_t row, std::int64_t column, hn::Vec<Floats> sum)
                     HWY_ATTR { hn::Store(sum, d, gradients + row * stride + column); });
  differentiate_rows(w.rows, count, head.dropout,
                     head.first_word + first * head.dropout.query_stride);
  // The last block may have fewer queries than there is room for.
  const PairPanels dy_by_size = of_queries(w.dy_by_size, count),
                   queries_by_size = of_queries(w.queries_by_size, count),
                   weights_by_key = of_queries(w.weights_by_key, count),
                   scores_by_key = of_queries(w.scores_by_key, count);
  pack_by_key(rounded_rows(w, w.rows.applied(head.dropout), count), weights_by_key);
  pack_all_neighbours(by_element(dy, count, s.value_size), dy_by_size);
  w.add_products(weights_by_key, s.keys, dy_by_size, s.value_size, w.dv);
  const PairLines of_scores = rounded_rows(w, gradients, count);
  pack_by_key(of_scores, scores_by_key);
  pack_all_neighbours(by_element(q, count, s.head_size), queries_by_size);
  w.add_products(scores_by_key, s.keys, queries_by_size, s.head_size, w.dk);
  pack_all_runs(of_scores, count, w.scores);
  std::fill_n(w.dq, count * whole_vectors(s.head_size), 0.0f);
  w.add_products(w.scores, count, w.keys_by_size, s.head_size, w.dq);
  HeadsOf<std::uint16_t> dq = head.dq;
  dq.data += first * dq.token_stride;
  put_rows(w.dq, count, s.head_size, head.scale, dq);
}

void differentiate(const Head& head) {
  const AttentionShape& s = head.shape;
  const bool drops = head.dropout.probability > 0;
  const Work w(s, drops);
  pack_all_runs(by_token(head.k, s.keys, s.head_size), whole_vectors(s.keys), w.keys);
  pack_all_runs(by_token(head.v, s.keys, s.value_size), whole_vectors(s.keys), w.values);
  pack_all_neighbours(by_element(head.k, s.keys, s.head_size), w.keys_by_size);
  std::fill_n(w.mask, whole_vectors(s.keys), 0.0f);
  if (head.mask != nullptr) std::copy_n(head.mask, s.keys, w.mask);
  if (drops) std::fill_n(w.rows.ones, std::min(kQueriesPerBlock, s.queries) * s.keys, 1.0f);
  std::fill_n(w.dk, s.keys * whole_vectors(s.head_size), 0.0f);
  std::fill_n(w.dv, s.keys * whole_vectors(s.value_size), 0.0f);
  for (std::int64_t first = 0; first < s.queries; first += kQueriesPerBlock)
    add_block(head, w, first, std::min(kQueriesPerBlock, s.queries - first));
  put_rows(w.dk, s.keys, s.head_size, head.scale, head.dk);
  put_rows(w.dv, s.keys, s.value_size, 1, head.dv);
}

void differentiate_all(ThreadPool& pool, const AttentionShape& shape, float scale,
                       const ConstHalfHeads& q, const ConstHalfHeads& k, const ConstHalfHeads& v,
                       const KeyMask& mask, const ConstHalfHeads& dy,
                       const HeadsOf<std::uint16_t>& dq, const HeadsOf<std::uint16_t>& dk,
                       const HeadsOf<std::uint16_t>& dv, const WeightDropout& dropout,
                       const TextRuns& runs) {
  differentiate_by_heads<std::uint16_t>(pool, shape, scale, q, k, v, mask, dy, dq, dk, dv, dropout,
                                        runs, differentiate);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(differentiate_all);

}  // namespace

void attention_gradient_bf16(ThreadPool& pool, const AttentionShape& shape, float scale,
                             const HeadsOf<const std::uint16_t>& q,
                             const HeadsOf<const std::uint16_t>& k,
                             const HeadsOf<const std::uint16_t>& v, const KeyMask& mask,
                             const HeadsOf<const std::uint16_t>& dy,
                             const HeadsOf<std::uint16_t>& dq, const HeadsOf<std::uint16_t>& dk,
                             const HeadsOf<std::uint16_t>& dv, const WeightDropout& dropout,
                             const TextRuns& runs) {
  if (shape.batch == 0 || shape.heads == 0) return;
  HWY_DYNAMIC_DISPATCH(differentiate_all)
  (pool, shape, scale, q, k, v, mask, dy, dq, dk, dv, dropout, runs);
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
