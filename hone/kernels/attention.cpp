// Attention over blocks of keys, with the softmax corrected as higher scores appear (Milakov and Gimelshein, "Online
// normalizer calculation for softmax", 2018; Dao and others, "FlashAttention", 2022).
//
// Lanes are the queries of a panel of up to three vectors. scores^T = K q^T and y^T = V^T weights^T are then products
// whose rows, keys and values, are read in place. Their columns, the scores that become weights, are already packed for
// the micro-kernel. Maxima and sums of the softmax are computed per lane, one key after the other, so they do not
// depend on the width of vectors. Blocks depend on the index of the key alone, and padding keys of weight 0 only add
// zeros after all others. So the result for a text does not depend on its padding.
//
// For head size 64 and 48 queries, a block has 12 KiB of queries, 24 KiB of scores and 12 KiB of results, which fit in
// the L1 cache. Keys and values stream from the L2 cache, with 24 cycles of multiply-adds per line. Several panels
// share a block of keys. Tokens that are many heads apart map to few cache sets and escape the hardware prefetcher. If
// many panels share such a block, it is first copied to a contiguous buffer.
#include "hone/kernels/attention.h"

#include <algorithm>

#include "hone/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/attention_panel-inl.h"
#include "hone/kernels/gemm_pack-inl.h"
#include "hone/kernels/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

using Head = HeadOf<float>;

constexpr std::int64_t kMaxWidth = kPanelVectors * kLanes;
// A copy of keys and values costs about as much as a panel that reads them. It pays if tokens are at least kFarApart
// floats apart and more than kPanelsThatShare panels share it, mostly on CPUs with small caches.
constexpr std::int64_t kFarApart = 256, kPanelsThatShare = 8;

// Buffers of a panel of `width` queries.
struct Panel : SoftmaxPanel {
  float* queries;  // (D, width), scaled

  std::int64_t vectors() const { return width / kLanes; }
};

// Stores scores, with their masks, and raises the maxima.
struct TakeScores {
  float* scores;
  float* maximum;
  const float* mask;  // per row; null: none
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

// Adds the weighted values of a block to those of previous blocks, scaled by `fade`.
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

// Packs the queries and resets the softmax.
void begin(const Panel& panel, const Lines& queries, std::int64_t head_size,
           std::int64_t value_size, float scale) {
  pack_panel(queries, panel.width, head_size, panel.queries);
  const Floats d;
  for (std::int64_t i = 0; i < head_size * panel.width; i += kLanes)
    hn::Store(hn::Mul(hn::Load(d, panel.queries + i), hn::Set(d, scale)), d, panel.queries + i);
  reset_softmax(panel, value_size);
}

// A block of keys, one per row, and of their values, one element per row.
struct KeyBlock {
  std::int64_t keys;
  const float* k;
  std::int64_t k_stride;
  RowBlock values;
  const float* packed_values;  // null: read in place
  const float* mask;           // per key; null: none

  RowPanel values_from(std::int64_t row) const {
    if (packed_values == nullptr) return {values.data + row, 1, values.depth_stride};
    return {packed_values + row * keys, 1, kPanelRows};
  }
};

// Computes the scores of all keys of the block. Sets `fade` to the previous maxima.
void score(const Panel& panel, const KeyBlock& block, std::int64_t head_size) {
  std::copy_n(panel.maximum, panel.width, panel.fade);
  const float* const mask = block.mask;
  for (std::int64_t i = 0; i < block.keys; i += kPanelRows) {
    const std::int64_t rows = std::min<std::int64_t>(kPanelRows, block.keys - i);
    micro_kernel<TakeScores>(rows, panel.vectors())(
        {block.k + i * block.k_stride, block.k_stride, 1}, head_size, {panel.queries},
        {panel.scores + i * panel.width, panel.maximum, mask == nullptr ? nullptr : mask + i,
         panel.width});
  }
}

// Adds the weighted values of all keys of the block.
void gather(const Panel& panel, const KeyBlock& block) {
  for (std::int64_t i = 0; i < block.values.rows; i += kPanelRows) {
    const std::int64_t rows = std::min<std::int64_t>(kPanelRows, block.values.rows - i);
    micro_kernel<TakeContext>(rows, panel.vectors())(
        block.values_from(i), block.keys, {panel.scores},
        {panel.context + i * panel.width, panel.fade, panel.width});
  }
}

// Stores y of `queries` queries from the sums.
void finish(const Panel& panel, std::int64_t queries, std::int64_t value_size, float* y,
            std::int64_t token_stride) {
  divide_by_sums(panel, value_size);
  transpose_block(panel.context, panel.width, value_size, queries, y, token_stride);
}

// Buffers of a thread: panels, and a block of keys and values.
class Room {
 public:
  explicit Room(const AttentionShape& shape) : shape_(shape) {
    static thread_local Scratch scratch;
    const std::int64_t of_panels =
        (kKeysPerBlock + kPanelsTogether * (shape.head_size + shape.value_size + 3)) * kMaxWidth;
    const std::int64_t of_block = kKeysPerBlock * (shape.head_size + shape.value_size + kPanelRows);
    at_ = scratch.floats(static_cast<std::size_t>(of_panels + of_block));
    scores_ = take(kKeysPerBlock * kMaxWidth);
  }

  // All panels share the buffer of scores.
  Panel panel(std::int64_t width) {
    Panel panel{};
    panel.width = width;
    panel.scores = scores_;
    panel.queries = take(shape_.head_size * width);
    panel.context = take(shape_.value_size * width);
    panel.maximum = take(width);
    panel.sum = take(width);
    panel.fade = take(width);
    return panel;
  }

  float* take(std::int64_t floats) {
    float* const taken = at_;
    at_ += floats;
    return taken;
  }

 private:
  const AttentionShape& shape_;
  float* at_;
  float* scores_;
};

// Returns the block of keys from `key` on, copied to `copy`; null: read in place.
KeyBlock key_block(const Head& head, std::int64_t key, float* copy) {
  const AttentionShape& shape = head.shape;
  const std::int64_t k_stride = head.k.token_stride, v_stride = head.v.token_stride;
  KeyBlock block{};
  block.keys = std::min(kKeysPerBlock, head.keys - key);
  block.k = head.k.data + key * k_stride;
  block.k_stride = k_stride;
  block.values = {head.v.data + key * v_stride, 1, v_stride, shape.value_size, block.keys};
  block.mask = head.mask == nullptr ? nullptr : head.mask + key;
  if (copy == nullptr) return block;
  for (std::int64_t i = 0; i < block.keys; ++i)
    std::copy_n(block.k + i * k_stride, shape.head_size, copy + i * shape.head_size);
  block.k = copy;
  block.k_stride = shape.head_size;
  float* const values = copy + kKeysPerBlock * shape.head_size;
  pack_a(block.values, values);
  block.packed_values = values;
  return block;
}

// Computes panels [first_panel, end_panel) of the queries of a head, at most kPanelsTogether.
void attend(const Head& head, const QuerySplit& split, std::int64_t first_panel,
            std::int64_t end_panel) {
  const AttentionShape& shape = head.shape;
  const std::int64_t q_stride = head.q.token_stride, y_stride = head.y.token_stride;
  const std::int64_t count = end_panel - first_panel;
  Room room(shape);
  Panel panels[kPanelsTogether];
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t first = split.begin(first_panel + i),
                       queries = split.begin(first_panel + i + 1) - first;
    panels[i] = room.panel((queries + kLanes - 1) / kLanes * kLanes);
    begin(panels[i], {head.q.data + first * q_stride, q_stride, 1, queries}, shape.head_size,
          shape.value_size, head.scale);
  }
  const bool far = std::min(head.k.token_stride, head.v.token_stride) >= kFarApart;
  float* const copy =
      count > kPanelsThatShare && far
          ? room.take(kKeysPerBlock * (shape.head_size + shape.value_size + kPanelRows))
          : nullptr;
  for (std::int64_t key = 0; key < head.keys; key += kKeysPerBlock) {
    const KeyBlock block = key_block(head, key, copy);
    for (std::int64_t i = 0; i < count; ++i) {
      const Panel& panel = panels[i];
      const std::int64_t first = split.begin(first_panel + i);
      score(panel, block, shape.head_size);
      exponentiate_scores(panel, block.keys);
      drop(panel, head, first, split.begin(first_panel + i + 1) - first, key, block.keys);
      gather(panel, block);
    }
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t first = split.begin(first_panel + i);
    finish(panels[i], split.begin(first_panel + i + 1) - first, shape.value_size,
           head.y.data + first * y_stride, y_stride);
  }
}

void attend_all(ThreadPool& pool, const AttentionShape& shape, float scale, const ConstHeads& q,
                const ConstHeads& k, const ConstHeads& v, const KeyMask& mask, const Heads& y,
                const WeightDropout& dropout, const TextRuns& runs) {
  attend_by_groups<float>(pool, kLanes, shape, scale, q, k, v, mask, y, dropout, runs, attend);
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
