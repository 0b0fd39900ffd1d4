// Like attention.cpp, with products of pairs: neighbouring elements of a head for scores, neighbouring keys for
// weighted values. A block of keys and values is packed once for all panels of a group; the weights of a block, floats,
// are packed for each panel. For 48 queries and head size 64, a block has 6 KiB of queries, 24 KiB of scores, 12 KiB of
// weights and 12 KiB of results.
#include "hone/kernels/attention_bf16.h"

#include <algorithm>

#include "hone/kernels/grain.h"
#include "hone/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/attention_bf16.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/attention_panel-inl.h"
#include "hone/kernels/bf16_pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

using Head = HeadOf<std::uint16_t>;
using FloatVector = hn::Vec<Floats>;

constexpr std::int64_t kMaxKeyPairs = kKeysPerBlock / 2;

// Buffers of a panel of queries.
struct Panel : SoftmaxPanel {
  PairPanels queries;
  std::uint32_t* weights;  // of a block of keys, as columns

  PairPanels weights_of(std::int64_t keys) const { return {weights, kPairStride, pairs_of(keys)}; }
  std::int64_t vectors() const { return width / kPairColumns; }
};

// A block of keys, one per row, and of their values: one row of pairs of keys per element.
struct KeyBlock {
  std::int64_t keys;
  const std::uint32_t* k;
  const std::uint32_t* values;
  const float* mask;  // per key; null: none
};

KeyBlock key_block(const Head& head, std::int64_t key, std::uint32_t* k, std::uint32_t* values) {
  const AttentionShape& shape = head.shape;
  const std::int64_t keys = std::min(kKeysPerBlock, head.keys - key);
  pack_all_runs({nullptr, head.k.data + key * head.k.token_stride, head.k.token_stride, 1, keys,
                 shape.head_size},
                keys, {k, kPairRows, pairs_of(shape.head_size)});
  const PairLines elements{
      nullptr, head.v.data + key * head.v.token_stride, 1, head.v.token_stride, shape.value_size,
      keys};
  pack_all_neighbours(elements, {values, kPairRows, pairs_of(keys)});
  return {keys, k, values, head.mask == nullptr ? nullptr : head.mask + key};
}

// Computes the scores of all keys of the block. Sets `fade` to the previous maxima.
void score(const Panel& panel, const KeyBlock& block, const Head& head, MultiplyPairs multiply) {
  const Floats d;
  HWY_ALIGN float sums[kPairRows * kPieceStride];
  std::copy_n(panel.maximum, panel.width, panel.fade);
  const std::int64_t pairs = panel.queries.pairs, width = panel.width;
  const PairVectors queries = panel.queries.vectors(0, panel.vectors());
  const auto scale = hn::Set(d, head.scale);
  for (std::int64_t i = 0; i < block.keys; i += kPairRows) {
    const std::int64_t rows = std::min(kPairRows, block.keys - i);
    multiply({block.k + i * pairs, rows}, queries, pairs, sums);
    for (std::int64_t j = 0; j < width; j += kLanes) {
      FloatVector highest = hn::Load(d, panel.maximum + j);
      for (std::int64_t row = 0; row < rows; ++row) {
        FloatVector value = hn::Mul(hn::Load(d, sums + row * kPieceStride + j), scale);
        if (block.mask != nullptr) value = hn::Add(value, hn::Set(d, block.mask[i + row]));
        hn::Store(value, d, panel.scores + (i + row) * width + j);
        highest = hn::Max(highest, value);
      }
      hn::Store(highest, d, panel.maximum + j);
    }
  }
}

// Rounds and packs the weights of all keys of the block.
void pack_weights(const Panel& panel, std::int64_t keys) {
  const Floats d;
  const Bits bits;
  const PairPanels to = panel.weights_of(keys);
  if (keys % 2 != 0) std::fill_n(panel.scores + keys * panel.width, panel.width, 0.0f);
  for (std::int64_t j = 0; j < panel.width; j += kLanes) {
    std::uint32_t* at = to.at(j, 0);
    const float* even = panel.scores + j;
    for (std::int64_t l = 0; l < to.pairs; ++l, at += kPairStride, even += 2 * panel.width) {
      const auto low = to_bfloat16(bits, hn::BitCast(bits, hn::Load(d, even))),
                 high = to_bfloat16(bits, hn::BitCast(bits, hn::Load(d, even + panel.width)));
      hn::StoreU(hn::Or(low, hn::ShiftLeft<16>(high)), bits, at);
    }
  }
}

// Adds the weighted values of all keys of the block to those of previous blocks, scaled by `fade`.
void gather(const Panel& panel, const KeyBlock& block, std::int64_t value_size,
            MultiplyPairs multiply) {
  const Floats d;
  HWY_ALIGN float sums[kPairRows * kPieceStride];
  const PairPanels weights = panel.weights_of(block.keys);
  const PairVectors columns = weights.vectors(0, panel.vectors());
  for (std::int64_t i = 0; i < value_size; i += kPairRows) {
    const std::int64_t rows = std::min(kPairRows, value_size - i);
    multiply({block.values + i * weights.pairs, rows}, columns, weights.pairs, sums);
    for (std::int64_t j = 0; j < panel.width; j += kLanes) {
      const FloatVector fade = hn::Load(d, panel.fade + j);
      for (std::int64_t row = 0; row < rows; ++row) {
        float* const to = panel.context + (i + row) * panel.width + j;
        const FloatVector sum = hn::Load(d, sums + row * kPieceStride + j);
        hn::Store(hn::MulAdd(fade, hn::Load(d, to), sum), d, to);
      }
    }
  }
}

// Stores y of `queries` queries from the sums.
void finish(const Panel& panel, std::int64_t queries, std::int64_t value_size, std::uint16_t* y,
            std::int64_t token_stride) {
  static thread_local Scratch scratch;
  float* const rows = scratch.floats(static_cast<std::size_t>(queries * value_size));
  divide_by_sums(panel, value_size);
  transpose_block(panel.context, panel.width, value_size, queries, rows, value_size);
  for (std::int64_t i = 0; i < queries; ++i)
    narrow_range(value_size, rows + i * value_size, y + i * token_stride,
                 [](Bits d, BitsVec v) HWY_ATTR { return to_bfloat16(d, v); });
}

// Buffers of a thread: panels, and a block of keys and values. Words have the size of floats.
class Room {
 public:
  Room(const AttentionShape& shape, std::int64_t panels) : shape_(shape) {
    static thread_local Scratch scratch;
    const std::int64_t of_block = keys_words() + value_words(),
                       of_scores = kKeysPerBlock * kPieceStride,
                       of_weights = PairPanels::words(kPieceStride, kPairStride, kMaxKeyPairs),
                       of_panel =
                           PairPanels::words(kPieceStride, kPairStride, pairs_of(shape.head_size)) +
                           (shape.value_size + 3) * kPieceStride;
    at_ = scratch.floats(
        static_cast<std::size_t>(of_block + of_scores + of_weights + panels * of_panel));
    keys_ = words(keys_words());
    values_ = words(value_words());
    scores_ = floats(of_scores);
    weights_ = words(of_weights);
  }

  // All panels share the buffers of scores and weights.
  Panel panel(std::int64_t width) {
    Panel panel{};
    panel.width = width;
    panel.scores = scores_;
    panel.weights = weights_;
    const std::int64_t pairs = pairs_of(shape_.head_size);
    panel.queries = {words(PairPanels::words(width, kPairStride, pairs)), kPairStride, pairs};
    panel.context = floats(shape_.value_size * width);
    panel.maximum = floats(width);
    panel.sum = floats(width);
    panel.fade = floats(width);
    return panel;
  }
  std::uint32_t* keys() const { return keys_; }
  std::uint32_t* values() const { return values_; }

 private:
  std::int64_t keys_words() const { return kKeysPerBlock * pairs_of(shape_.head_size); }
  std::int64_t value_words() const { return round_up(shape_.value_size, kPairRows) * kMaxKeyPairs; }
  float* floats(std::int64_t count) {
    float* const taken = at_;
    at_ += count;
    return taken;
  }
  std::uint32_t* words(std::int64_t count) {
    return reinterpret_cast<std::uint32_t*>(floats(count));
  }

  const AttentionShape& shape_;
  float* at_;
  std::uint32_t *keys_, *values_;
  float* scores_;
  std::uint32_t* weights_;
};

// Computes panels [first_panel, end_panel) of the queries of a head, at most kPanelsTogether.
void attend(const Head& head, const QuerySplit& split, std::int64_t first_panel,
            std::int64_t end_panel, MultiplyPairs multiply) {
  const AttentionShape& shape = head.shape;
  const std::int64_t count = end_panel - first_panel;
  const auto first_query = [&](std::int64_t i) { return split.begin(first_panel + i); };
  Room room(shape, count);
  Panel panels[kPanelsTogether];
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t queries = first_query(i + 1) - first_query(i);
    panels[i] = room.panel(round_up(queries, kPairColumns));
    pack_all_runs({nullptr, head.q.data + first_query(i) * head.q.token_stride, head.q.token_stride,
                   1, queries, shape.head_size},
                  panels[i].width, panels[i].queries);
    reset_softmax(panels[i], shape.value_size);
  }
  for (std::int64_t key = 0; key < head.keys; key += kKeysPerBlock) {
    const KeyBlock block = key_block(head, key, room.keys(), room.values());
    for (std::int64_t i = 0; i < count; ++i) {
      score(panels[i], block, head, multiply);
      exponentiate_scores(panels[i], block.keys);
      drop(panels[i], head, first_query(i), first_query(i + 1) - first_query(i), key, block.keys);
      pack_weights(panels[i], block.keys);
      gather(panels[i], block, shape.value_size, multiply);
    }
  }
  for (std::int64_t i = 0; i < count; ++i)
    finish(panels[i], first_query(i + 1) - first_query(i), shape.value_size,
           head.y.data + first_query(i) * head.y.token_stride, head.y.token_stride);
}

void attend_all(ThreadPool& pool, const AttentionShape& shape, float scale,
                const HeadsOf<const std::uint16_t>& q, const HeadsOf<const std::uint16_t>& k,
                const HeadsOf<const std::uint16_t>& v, const KeyMask& mask,
                const HeadsOf<std::uint16_t>& y, const WeightDropout& dropout,
                const TextRuns& runs) {
  const MultiplyPairs multiply = pair_multiplier();
  attend_by_groups<std::uint16_t>(
      pool, kPairColumns, shape, scale, q, k, v, mask, y, dropout, runs,
      [multiply](const Head& head, const QuerySplit& split, std::int64_t first, std::int64_t end) {
        attend(head, split, first, end, multiply);
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

void attention_bf16(ThreadPool& pool, const AttentionShape& shape, float scale,
                    const HeadsOf<const std::uint16_t>& q, const HeadsOf<const std::uint16_t>& k,
                    const HeadsOf<const std::uint16_t>& v, const KeyMask& mask,
                    const HeadsOf<std::uint16_t>& y, const WeightDropout& dropout,
                    const TextRuns& runs) {
  if (shape.batch == 0 || shape.heads == 0 || shape.queries == 0) return;
  HWY_DYNAMIC_DISPATCH(attend_all)(pool, shape, scale, q, k, v, mask, y, dropout, runs);
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
