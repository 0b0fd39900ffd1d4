// Attention block by block of keys, with the softmax put right as higher scores come (Milakov and Gimelshein, "Online
// normalizer calculation for softmax", 2018; Dao and others, "FlashAttention", 2022).
//
// A panel of up to three vectors of queries stands across the lanes: scores^T = K q^T and y^T = V^T weights^T are then
// products whose rows, of keys and of values, are read where they stand, and whose columns, scores that become weights, are
// already packed as the micro-kernel wants them. Maxima and sums of the softmax are those of lanes, one key after the other,
// so neither depends on how wide a vector is. Blocks are cut by the number of the key alone, and a key of weight 0 adds zeros
// behind all others, so what a text is given does not depend on what it is padded with.
//
// For head size 64 a block is, of 48 queries, 12 KiB of queries, 24 of scores and 12 of results: the first cache. Keys and
// values stream from the second, each line of them for 24 cycles of multiply-adds.
#include "hone/kernels/attention.h"

#include <algorithm>

#include "hone/kernels/dropout.h"
#include "hone/kernels/scratch.h"
#include "hone/kernels/text_runs.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <limits>

#include "hone/kernels/gemm_pack-inl.h"
#include "hone/kernels/gemm_tile-inl.h"
// after the loops, whose names it uses
#include "hone/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

constexpr std::int64_t kKeysPerBlock = 128;
constexpr std::int64_t kMaxWidth = kPanelVectors * kLanes;
constexpr float kNothing = -std::numeric_limits<float>::infinity();

// What a panel of `width` queries works in.
struct Panel {
  std::int64_t width;
  float* queries;  // (D, width), scaled
  float* scores;   // (kKeysPerBlock, width), then the weights
  float* context;  // (E, width): the sum of weighted values so far
  float* maximum;  // (width): of the scores so far
  float* sum;      // (width): of the weights so far
  float* fade;     // (width): what all that was summed before this block is to be multiplied by

  std::int64_t vectors() const { return width / kLanes; }
};

// Stores scores, with their masks, and raises the maxima.
struct TakeScores {
  float* scores;
  float* maximum;
  const float* mask;  // of each row; null: none
  std::int64_t width;

  template <int kRows, int kVectors>
  HWY_INLINE void announce() const {}

  template <int kRows, int kVectors>
  HWY_INLINE void take(const SumVector (&sum)[kRows][kVectors]) const {
    const Floats d;
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) {
      SumVector highest = hn::Load(d, maximum + j * kLanes);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) {
        const SumVector score =
            mask == nullptr ? sum[i][j] : hn::Add(sum[i][j], hn::Set(d, mask[i]));
        hn::Store(score, d, scores + i * width + j * kLanes);
        highest = hn::Max(highest, score);
      }
      hn::Store(highest, d, maximum + j * kLanes);
    }
  }
};

// Adds weighted values of a block to those before it, which fade.
struct TakeContext {
  float* context;
  const float* fade;
  std::int64_t width;

  template <int kRows, int kVectors>
  HWY_INLINE void announce() const {}

  template <int kRows, int kVectors>
  HWY_INLINE void take(const SumVector (&sum)[kRows][kVectors]) const {
    const Floats d;
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) {
      const SumVector factor = hn::Load(d, fade + j * kLanes);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) {
        float* const to = context + i * width + j * kLanes;
        hn::Store(hn::MulAdd(factor, hn::Load(d, to), sum[i][j]), d, to);
      }
    }
  }
};

// Packs the queries, and begins with nothing.
void begin(const Panel& panel, const Lines& queries, std::int64_t head_size,
           std::int64_t value_size, float scale) {
  pack_panel(queries, panel.width, head_size, panel.queries);
  const Floats d;
  for (std::int64_t i = 0; i < head_size * panel.width; i += kLanes)
    hn::Store(hn::Mul(hn::Load(d, panel.queries + i), hn::Set(d, scale)), d, panel.queries + i);
  std::fill_n(panel.context, value_size * panel.width, 0.0f);
  std::fill_n(panel.maximum, panel.width, kNothing);
  std::fill_n(panel.sum, panel.width, 0.0f);
}

// The scores of `keys` keys from `k` on. `fade` is left as the maxima before.
void score(const Panel& panel, const float* k, std::int64_t token_stride, const float* mask,
           std::int64_t keys, std::int64_t head_size) {
  std::copy_n(panel.maximum, panel.width, panel.fade);
  for (std::int64_t i = 0; i < keys; i += kPanelRows) {
    const std::int64_t rows = std::min<std::int64_t>(kPanelRows, keys - i);
    micro_kernel<TakeScores>(rows, panel.vectors())(
        {k + i * token_stride, token_stride, 1}, head_size, {panel.queries},
        {panel.scores + i * panel.width, panel.maximum, mask == nullptr ? nullptr : mask + i,
         panel.width});
  }
}

// Scores become weights, and `fade` what those before are to be multiplied by.
void weigh(const Panel& panel, std::int64_t keys) {
  const Floats d;
  for (std::int64_t j = 0; j < panel.width; j += kLanes) {
    const SumVector maximum = hn::Load(d, panel.maximum + j);
    // Of nothing but -infinity nothing can be subtracted.
    const SumVector shift =
        hn::IfThenElse(hn::Eq(maximum, hn::Set(d, kNothing)), hn::Zero(d), maximum);
    SumVector sum = hn::Zero(d);
    float* at = panel.scores + j;
    for (std::int64_t i = 0; i < keys; ++i, at += panel.width) {
      const SumVector weight = exp_of_nonpositive(d, hn::Sub(hn::Load(d, at), shift));
      hn::Store(weight, d, at);
      sum = hn::Add(sum, weight);
    }
    const SumVector before = hn::Load(d, panel.fade + j);
    const SumVector fade = exp_of_nonpositive(d, hn::Sub(before, shift));
    hn::Store(fade, d, panel.fade + j);
    hn::Store(hn::MulAdd(fade, hn::Load(d, panel.sum + j), sum), d, panel.sum + j);
  }
}

// Drops weights of `queries` queries to `keys` keys. `first_word` is that of the first of both.
void drop(const Panel& panel, const WeightDropout& dropout, std::int64_t first_word,
          std::int64_t queries, std::int64_t keys) {
  static thread_local Scratch scratch;
  float* const ones = scratch.floats(static_cast<std::size_t>(3 * kMaxWidth * keys));
  float* const rows = ones + kMaxWidth * keys;     // (queries, keys)
  float* const factors = rows + kMaxWidth * keys;  // (keys, width)
  std::fill_n(ones, queries * keys, 1.0f);
  std::int64_t words[kMaxWidth];
  for (std::int64_t i = 0; i < queries; ++i) words[i] = first_word + i * dropout.query_stride;
  dropout_rows(dropout.probability, dropout.stream, {words, static_cast<std::size_t>(queries)},
               keys, ones, rows);
  std::fill_n(factors, keys * panel.width, 0.0f);
  transpose_block(rows, keys, queries, keys, factors, panel.width);
  const Floats d;
  for (std::int64_t i = 0; i < keys * panel.width; i += kLanes)
    hn::Store(hn::Mul(hn::Load(d, panel.scores + i), hn::LoadU(d, factors + i)), d,
              panel.scores + i);
}

// Adds the values of `keys` keys from `v` on, weighted.
void gather(const Panel& panel, const float* v, std::int64_t token_stride, std::int64_t keys,
            std::int64_t value_size) {
  for (std::int64_t i = 0; i < value_size; i += kPanelRows) {
    const std::int64_t rows = std::min<std::int64_t>(kPanelRows, value_size - i);
    micro_kernel<TakeContext>(rows, panel.vectors())(
        {v + i, 1, token_stride}, keys, {panel.scores},
        {panel.context + i * panel.width, panel.fade, panel.width});
  }
}

// y of `queries` queries, from the sums.
void finish(const Panel& panel, std::int64_t queries, std::int64_t value_size, float* y,
            std::int64_t token_stride) {
  const Floats d;
  for (std::int64_t j = 0; j < panel.width; j += kLanes) {
    const SumVector factor = hn::Div(hn::Set(d, 1.0f), hn::Load(d, panel.sum + j));
    for (std::int64_t i = 0; i < value_size; ++i) {
      float* const at = panel.context + i * panel.width + j;
      hn::Store(hn::Mul(hn::Load(d, at), factor), d, at);
    }
  }
  transpose_block(panel.context, panel.width, value_size, queries, y, token_stride);
}

Panel panel_of(std::int64_t width, const AttentionShape& shape) {
  static thread_local Scratch scratch;
  const std::int64_t lines = shape.head_size + kKeysPerBlock + shape.value_size + 3;
  float* at = scratch.floats(static_cast<std::size_t>(lines * kMaxWidth));
  const auto take = [&](std::int64_t count) {
    float* const taken = at;
    at += count * width;
    return taken;
  };
  Panel panel{};
  panel.width = width;
  panel.queries = take(shape.head_size);
  panel.scores = take(kKeysPerBlock);
  panel.context = take(shape.value_size);
  panel.maximum = take(1);
  panel.sum = take(1);
  panel.fade = take(1);
  return panel;
}

// One head of one text.
struct Head {
  const AttentionShape& shape;
  std::int64_t keys;
  float scale;
  ConstHeads q, k, v;
  const float* mask;
  Heads y;
  const WeightDropout& dropout;
  std::int64_t first_word;  // of the first weight
};

// The queries [begin, end), at most kMaxWidth.
void attend(const Head& head, std::int64_t first, std::int64_t end) {
  const AttentionShape& shape = head.shape;
  const Panel panel = panel_of((end - first + kLanes - 1) / kLanes * kLanes, shape);
  const std::int64_t q_stride = head.q.token_stride, k_stride = head.k.token_stride,
                     v_stride = head.v.token_stride, y_stride = head.y.token_stride;
  begin(panel, {head.q.data + first * q_stride, q_stride, 1, end - first}, shape.head_size,
        shape.value_size, head.scale);
  for (std::int64_t key = 0; key < head.keys; key += kKeysPerBlock) {
    const std::int64_t keys = std::min(kKeysPerBlock, head.keys - key);
    score(panel, head.k.data + key * k_stride, k_stride,
          head.mask == nullptr ? nullptr : head.mask + key, keys, shape.head_size);
    weigh(panel, keys);
    if (head.dropout.probability > 0)
      drop(panel, head.dropout, head.first_word + first * head.dropout.query_stride + key,
           end - first, keys);
    gather(panel, head.v.data + key * v_stride, v_stride, keys, shape.value_size);
  }
  finish(panel, end - first, shape.value_size, head.y.data + first * y_stride, y_stride);
}

// Vectors of queries, and the panels they make, of nearly one width.
struct Cut {
  std::int64_t queries;
  std::int64_t vectors;
  std::int64_t panels;

  explicit Cut(std::int64_t count)
      : queries(count),
        vectors((count + kLanes - 1) / kLanes),
        panels((vectors + kPanelVectors - 1) / kPanelVectors) {}
  std::int64_t begin(std::int64_t panel) const {
    return std::min(vectors * panel / panels * kLanes, queries);
  }
};

void attend_all(ThreadPool& pool, const AttentionShape& shape, float scale, const ConstHeads& q,
                const ConstHeads& k, const ConstHeads& v, const KeyMask& mask, const Heads& y,
                const WeightDropout& dropout, const TextRuns& runs) {
  constexpr std::int64_t kChunkWork = std::int64_t{1} << 18;  // multiply-adds: some microseconds
  const std::int64_t most_panels = Cut(shape.queries).panels;
  const std::int64_t work = kMaxWidth * shape.keys * (shape.head_size + shape.value_size);
  const std::int64_t grain =
      std::max<std::int64_t>(1, kChunkWork / std::max<std::int64_t>(1, work));
  const auto attend_one = [&](std::int64_t item) {
    const std::int64_t panel = item % most_panels, head = item / most_panels % shape.heads,
                       text = item / most_panels / shape.heads;
    const TextTokens tokens(shape, runs, text);
    const Cut cut(tokens.queries);
    if (panel >= cut.panels) return;
    const float* const added =
        mask.data == nullptr ? nullptr : mask.data + text * mask.batch_stride;
    attend({shape, tokens.keys, scale, tokens.of_queries(q, head), tokens.of_keys(k, head),
            tokens.of_keys(v, head), added, tokens.of_queries(y, head), dropout,
            text * dropout.batch_stride + head * dropout.head_stride},
           cut.begin(panel), cut.begin(panel + 1));
  };
  // Neighbouring chunks share a head, hence keys and values in the shared cache.
  parallel_ranges(pool, shape.batch * shape.heads * most_panels, grain,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t item = begin; item < end; ++item) attend_one(item);
                  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(attend_all);

}  // namespace

void attention(ThreadPool& pool, const AttentionShape& shape, float scale, const ConstHeads& q,
               const ConstHeads& k, const ConstHeads& v, const KeyMask& mask, const Heads& y,
               const WeightDropout& dropout, const TextRuns& runs) {
  if (shape.batch == 0 || shape.heads == 0 || shape.queries == 0) return;
  HWY_DYNAMIC_DISPATCH(attend_all)(pool, shape, scale, q, k, v, mask, y, dropout, runs);
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
