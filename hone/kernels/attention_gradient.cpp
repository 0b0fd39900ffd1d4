// The gradients of attention, head by head, for some queries at a time. Scores, weights and their gradients are stored
// in rows, one per query. Five products each read one operand as rows in place and the other as packed columns.
//
//   S  = (scale q) k^T      columns: keys            dP = dy v^T      columns: values, by key
//   dq = scale dS k         columns: keys, by size
//   dv = W^T dy             columns: dy, by size      dk = dS^T (scale q)
//
// Packed keys and values serve all queries of the head. Sums over keys run from the first key to the last in one
// product.
#include "hone/kernels/attention_gradient.h"

#include <algorithm>

#include "hone/kernels/grain.h"
#include "hone/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/attention_gradient.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/attention_rows-inl.h"
#include "hone/kernels/gemm_pack-inl.h"
#include "hone/kernels/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

using Head = GradientHeadOf<float>;

constexpr std::int64_t kMaxWidth = kPanelVectors * kLanes;

constexpr std::int64_t whole_vectors(std::int64_t columns) { return round_up(columns, kLanes); }

// Columns packed for the micro-kernel, panel by panel.
struct PackedColumns {
  float* data;
  std::int64_t depth;
  std::int64_t columns;

  std::int64_t width(std::int64_t column) const {
    return std::min(kMaxWidth, whole_vectors(columns - column));
  }
  const float* panel(std::int64_t column) const { return data + column * depth; }
};

// Packs columns: value l of column j is from[j * column_stride + l * depth_stride].
PackedColumns pack(const float* from, std::int64_t column_stride, std::int64_t depth_stride,
                   std::int64_t columns, std::int64_t depth, float* to) {
  const PackedColumns packed{to, depth, columns};
  for (std::int64_t j = 0; j < columns; j += kMaxWidth)
    pack_panel(
        {from + j * column_stride, column_stride, depth_stride, std::min(kMaxWidth, columns - j)},
        packed.width(j), depth, to + j * depth);
  return packed;
}

// Stores a tile, plus an optional addend per column.
struct StoreTile {
  float* to;
  std::int64_t row_stride;
  const float* added;  // null: none

  template <int kRows, int kVectors>
  HWY_INLINE void announce() const {}

  template <int kRows, int kVectors>
  HWY_INLINE void take(const SumVector (&sum)[kRows][kVectors]) const {
    const Floats d;
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) {
      const SumVector more = added == nullptr ? hn::Zero(d) : hn::Load(d, added + j * kLanes);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i)
        hn::Store(hn::Add(sum[i][j], more), d, to + i * row_stride + j * kLanes);
    }
  }
  StoreTile at(std::int64_t row, std::int64_t column) const {
    return {to + row * row_stride + column, row_stride,
            added == nullptr ? nullptr : added + column};
  }
};

// Multiplies rows in place by packed columns.
template <class Finish>
void multiply(const RowPanel& rows, std::int64_t count, const PackedColumns& columns,
              const Finish& finish) {
  for (std::int64_t j = 0; j < columns.columns; j += kMaxWidth) {
    const std::int64_t vectors = columns.width(j) / kLanes;
    for (std::int64_t i = 0; i < count; i += kPanelRows)
      micro_kernel<Finish>(std::min<std::int64_t>(kPanelRows, count - i), vectors)(
          {rows.data + i * rows.row_stride, rows.row_stride, rows.depth_stride}, columns.depth,
          {columns.panel(j)}, finish.at(i, j));
  }
}

// Workspace for the gradients of a head.
struct Work {
  std::int64_t stride;                  // of rows of `weights`, `gradients` and `left`
  float *keys, *values, *keys_by_size;  // packed
  float* mask;                          // whole vectors of it
  float *weights, *gradients,
      *left;                            // (queries, stride): P; dP then dS; and W with dropout
  float *queries, *factors, *ones;      // (queries, D) scaled; (queries, T) with dropout
  float *queries_by_size, *dy_by_size;  // packed
  float *dk, *dv;                       // (T, D), (T, E) in whole vectors
  float* dq;                            // (queries, D) in whole vectors

  Work(const AttentionShape& s, bool drops) : stride(row_stride_of(s.keys)) {
    static thread_local Scratch scratch;
    const std::int64_t d = whole_vectors(s.head_size), e = whole_vectors(s.value_size),
                       t = whole_vectors(s.keys);
    const std::int64_t block = std::min(kQueriesPerBlock, s.queries);
    const std::pair<float**, std::int64_t> parts[] = {{&keys, t * s.head_size},
                                                      {&values, t * s.value_size},
                                                      {&keys_by_size, s.keys * d},
                                                      {&mask, t},
                                                      {&weights, block * stride},
                                                      {&gradients, block * stride},
                                                      {&left, drops ? block * stride : 0},
                                                      {&queries, block * s.head_size},
                                                      {&factors, drops ? block * s.keys : 0},
                                                      {&ones, drops ? block * s.keys : 0},
                                                      {&queries_by_size, block * d},
                                                      {&dy_by_size, block * e},
                                                      {&dk, s.keys * d},
                                                      {&dv, s.keys * e},
                                                      {&dq, block * d}};
    std::int64_t floats = 0;
    for (const auto& [part, count] : parts) floats += row_stride_of(count);
    float* at = scratch.floats(static_cast<std::size_t>(floats));
    for (const auto& [part, count] : parts) {
      *part = at;
      at += row_stride_of(count);
    }
  }
};

// Computes dq of the queries [first, first + count) and adds their terms of dk and dv.
void add_block(const Head& head, const Work& w, const PackedColumns& keys,
               const PackedColumns& values, const PackedColumns& keys_by_size, std::int64_t first,
               std::int64_t count) {
  const AttentionShape& s = head.shape;
  const float* const q = head.q.data + first * head.q.token_stride;
  const float* const dy = head.dy.data + first * head.dy.token_stride;
  for (std::int64_t i = 0; i < count; ++i) {
    std::copy_n(q + i * head.q.token_stride, s.head_size, w.queries + i * s.head_size);
    scale_row(s.head_size, head.scale, w.queries + i * s.head_size);
  }
  const RowPanel queries{w.queries, s.head_size, 1};
  multiply(queries, count, keys,
           StoreTile{w.weights, w.stride, head.mask == nullptr ? nullptr : w.mask});
  multiply(RowPanel{dy, head.dy.token_stride, 1}, count, values,
           StoreTile{w.gradients, w.stride, nullptr});
  const AttentionRows rows{s.keys, w.stride, w.weights, w.gradients, w.left, w.factors, w.ones};
  differentiate_rows(rows, count, head.dropout,
                     head.first_word + first * head.dropout.query_stride);
  const std::int64_t size = whole_vectors(s.head_size);
  multiply(RowPanel{w.gradients, w.stride, 1}, count, keys_by_size, StoreTile{w.dq, size, nullptr});
  for (std::int64_t i = 0; i < count; ++i) {
    scale_row(s.head_size, head.scale, w.dq + i * size);
    std::copy_n(w.dq + i * size, s.head_size, head.dq.data + (first + i) * head.dq.token_stride);
  }
  multiply(RowPanel{rows.applied(head.dropout), 1, w.stride}, s.keys,
           pack(dy, 1, head.dy.token_stride, s.value_size, count, w.dy_by_size),
           KeepSums{w.dv, whole_vectors(s.value_size), /*add=*/true});
  multiply(RowPanel{w.gradients, 1, w.stride}, s.keys,
           pack(w.queries, 1, s.head_size, s.head_size, count, w.queries_by_size),
           KeepSums{w.dk, size, /*add=*/true});
}

void copy_rows(const float* from, std::int64_t rows, std::int64_t columns, const Heads& to) {
  for (std::int64_t i = 0; i < rows; ++i)
    std::copy_n(from + i * whole_vectors(columns), columns, to.data + i * to.token_stride);
}

void differentiate(const Head& head) {
  const AttentionShape& s = head.shape;
  const bool drops = head.dropout.probability > 0;
  const Work w(s, drops);
  const PackedColumns keys = pack(head.k.data, head.k.token_stride, 1, s.keys, s.head_size, w.keys);
  const PackedColumns values =
      pack(head.v.data, head.v.token_stride, 1, s.keys, s.value_size, w.values);
  const PackedColumns keys_by_size =
      pack(head.k.data, 1, head.k.token_stride, s.head_size, s.keys, w.keys_by_size);
  if (head.mask != nullptr) {
    std::copy_n(head.mask, s.keys, w.mask);
    std::fill(w.mask + s.keys, w.mask + whole_vectors(s.keys), 0.0f);
  }
  if (drops) std::fill_n(w.ones, std::min(kQueriesPerBlock, s.queries) * s.keys, 1.0f);
  std::fill_n(w.dk, s.keys * whole_vectors(s.head_size), 0.0f);
  std::fill_n(w.dv, s.keys * whole_vectors(s.value_size), 0.0f);
  for (std::int64_t first = 0; first < s.queries; first += kQueriesPerBlock)
    add_block(head, w, keys, values, keys_by_size, first,
              std::min(kQueriesPerBlock, s.queries - first));
  copy_rows(w.dk, s.keys, s.head_size, head.dk);
  copy_rows(w.dv, s.keys, s.value_size, head.dv);
}

void differentiate_all(ThreadPool& pool, const AttentionShape& shape, float scale,
                       const ConstHeads& q, const ConstHeads& k, const ConstHeads& v,
                       const KeyMask& mask, const ConstHeads& dy, const Heads& dq, const Heads& dk,
                       const Heads& dv, const WeightDropout& dropout, const TextRuns& runs) {
  differentiate_by_heads<float>(pool, shape, scale, q, k, v, mask, dy, dq, dk, dv, dropout, runs,
                                differentiate);
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

void attention_gradient(ThreadPool& pool, const AttentionShape& shape, float scale,
                        const ConstHeads& q, const ConstHeads& k, const ConstHeads& v,
                        const KeyMask& mask, const ConstHeads& dy, const Heads& dq, const Heads& dk,
                        const Heads& dv, const WeightDropout& dropout, const TextRuns& runs) {
  if (shape.batch == 0 || shape.heads == 0) return;
  HWY_DYNAMIC_DISPATCH(differentiate_all)
  (pool, shape, scale, q, k, v, mask, dy, dq, dk, dv, dropout, runs);
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
