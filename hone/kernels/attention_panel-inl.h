// Parts of attention that do not depend on the type of its products: panels with one query per lane, whose scores
// become weights block by block of keys, and the split of work. Compiled once per Highway target.
#if defined(HONE_KERNELS_ATTENTION_PANEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HONE_KERNELS_ATTENTION_PANEL_INL_H_
#undef HONE_KERNELS_ATTENTION_PANEL_INL_H_
#else
#define HONE_KERNELS_ATTENTION_PANEL_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "hone/kernels/attention.h"
#include "hone/kernels/dropout.h"
#include "hone/kernels/scratch.h"
#include "hone/kernels/text_runs.h"
#include "hone/kernels/transpose-inl.h"
#include "hone/kernels/vector_loop-inl.h"
// Must follow vector_loop-inl.h, whose names it uses.
#include "hone/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

inline constexpr std::int64_t kKeysPerBlock = 128;
inline constexpr std::int64_t kPanelsTogether = 16;
inline constexpr std::int64_t kVectorsOfPanel = 3;
inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// One head of one text.
template <typename T>
struct HeadOf {
  const AttentionShape& shape;
  std::int64_t keys;
  float scale;
  HeadsOf<const T> q, k, v;
  const float* mask;
  HeadsOf<T> y;
  const WeightDropout& dropout;
  std::int64_t first_word;  // of the first weight
};

// The state of the softmax of a panel of `width` queries, in whole vectors.
struct SoftmaxPanel {
  std::int64_t width;
  float* scores;   // (kKeysPerBlock, width), then the weights
  float* context;  // (E, width): the sum of weighted values so far
  float* maximum;  // (width): of the scores so far
  float* sum;      // (width): of the weights so far
  float* fade;     // (width): factor for all sums before this block
};

inline void reset_softmax(const SoftmaxPanel& panel, std::int64_t value_size) {
  std::fill_n(panel.context, value_size * panel.width, 0.0f);
  std::fill_n(panel.maximum, panel.width, kMinusInfinity);
  std::fill_n(panel.sum, panel.width, 0.0f);
}

// Turns scores into weights, and `fade` from the previous maxima into the factor for all previous sums.
inline void exponentiate_scores(const SoftmaxPanel& panel, std::int64_t keys) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t j = 0; j < panel.width; j += lanes) {
    const auto maximum = hn::Load(d, panel.maximum + j);
    // Subtracting -infinity from -infinity would give NaN.
    const auto shift =
        hn::IfThenElse(hn::Eq(maximum, hn::Set(d, kMinusInfinity)), hn::Zero(d), maximum);
    auto sum = hn::Zero(d);
    float* at = panel.scores + j;
    for (std::int64_t i = 0; i < keys; ++i, at += panel.width) {
      const auto weight = exp_of_nonpositive(d, hn::Sub(hn::Load(d, at), shift));
      hn::Store(weight, d, at);
      sum = hn::Add(sum, weight);
    }
    const auto before = hn::Load(d, panel.fade + j);
    const auto fade = exp_of_nonpositive(d, hn::Sub(before, shift));
    hn::Store(fade, d, panel.fade + j);
    hn::Store(hn::MulAdd(fade, hn::Load(d, panel.sum + j), sum), d, panel.sum + j);
  }
}

// Drops weights of `queries` queries from `query` on for `keys` keys from `key` on.
template <typename T>
void drop(const SoftmaxPanel& panel, const HeadOf<T>& head, std::int64_t query,
          std::int64_t queries, std::int64_t key, std::int64_t keys) {
  const WeightDropout& dropout = head.dropout;
  if (dropout.probability <= 0) return;
  static thread_local Scratch scratch;
  float* const ones = scratch.floats(static_cast<std::size_t>(3 * panel.width * keys));
  float* const rows = ones + panel.width * keys;     // (queries, keys)
  float* const factors = rows + panel.width * keys;  // (keys, width)
  std::fill_n(ones, queries * keys, 1.0f);
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t words[kVectorsOfPanel * 16];
  for (std::int64_t i = 0; i < queries; ++i)
    words[i] = head.first_word + key + (query + i) * dropout.query_stride;
  dropout_rows(dropout.probability, dropout.stream, {words, static_cast<std::size_t>(queries)},
               keys, ones, rows);
  std::fill_n(factors, keys * panel.width, 0.0f);
  transpose_block(rows, keys, queries, keys, factors, panel.width);
  for (std::int64_t i = 0; i < keys * panel.width; i += lanes)
    hn::Store(hn::Mul(hn::Load(d, panel.scores + i), hn::LoadU(d, factors + i)), d,
              panel.scores + i);
}

// Divides the context of all keys by the sums of weights.
inline void divide_by_sums(const SoftmaxPanel& panel, std::int64_t value_size) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t j = 0; j < panel.width; j += lanes) {
    const auto factor = hn::Div(hn::Set(d, 1.0f), hn::Load(d, panel.sum + j));
    for (std::int64_t i = 0; i < value_size; ++i) {
      float* const at = panel.context + i * panel.width + j;
      hn::Store(hn::Mul(hn::Load(d, at), factor), d, at);
    }
  }
}

// How queries are split: into vectors of `lanes` queries, panels of nearly equal width, and groups of panels that share
// blocks of keys.
struct QuerySplit {
  std::int64_t queries, lanes;
  std::int64_t vectors;
  std::int64_t panels;
  std::int64_t groups;

  // Splits into at least `least_groups` groups if there are as many panels.
  QuerySplit(std::int64_t count, std::int64_t in_vector, std::int64_t least_groups)
      : queries(count),
        lanes(in_vector),
        vectors((count + lanes - 1) / lanes),
        panels((vectors + kVectorsOfPanel - 1) / kVectorsOfPanel),
        groups(std::max((panels + kPanelsTogether - 1) / kPanelsTogether,
                        std::min(panels, least_groups))) {}
  std::int64_t begin(std::int64_t panel) const {
    return std::min(vectors * panel / panels * lanes, queries);
  }
  std::int64_t first_panel(std::int64_t group) const { return panels * group / groups; }
};

// Calls attend(head, cut, first_panel, end_panel) for all groups of at most kPanelsTogether panels of all heads, in
// vectors of `lanes` queries.
template <typename T, class Attend>
void attend_by_groups(ThreadPool& pool, std::int64_t lanes, const AttentionShape& shape,
                      float scale, const HeadsOf<const T>& q, const HeadsOf<const T>& k,
                      const HeadsOf<const T>& v, const KeyMask& mask, const HeadsOf<T>& y,
                      const WeightDropout& dropout, const TextRuns& runs, Attend&& attend) {
  constexpr std::int64_t kChunkWork = std::int64_t{1} << 18;  // multiply-adds: some microseconds
  constexpr std::int64_t kEnoughItems = 32;
  const std::int64_t heads = shape.batch * shape.heads;
  const std::int64_t least_groups = (kEnoughItems + heads - 1) / heads;
  const std::int64_t most_groups = QuerySplit(shape.queries, lanes, least_groups).groups;
  const std::int64_t work =
      kPanelsTogether * kVectorsOfPanel * lanes * shape.keys * (shape.head_size + shape.value_size);
  const std::int64_t grain =
      std::max<std::int64_t>(1, kChunkWork / std::max<std::int64_t>(1, work));
  const auto attend_one = [&](std::int64_t item) {
    const std::int64_t group = item % most_groups, head = item / most_groups % shape.heads,
                       text = item / most_groups / shape.heads;
    const TextTokens tokens(shape, runs, text);
    const QuerySplit split(tokens.queries, lanes, least_groups);
    if (group >= split.groups) return;
    const float* const added =
        mask.data == nullptr ? nullptr : mask.data + text * mask.batch_stride;
    const HeadOf<T> one{shape,
                        tokens.keys,
                        scale,
                        tokens.of_queries(q, head),
                        tokens.of_keys(k, head),
                        tokens.of_keys(v, head),
                        added,
                        tokens.of_queries(y, head),
                        dropout,
                        text * dropout.batch_stride + head * dropout.head_stride};
    attend(one, split, split.first_panel(group), split.first_panel(group + 1));
  };
  // Neighbouring chunks share a head, so they share its keys and values in the cache.
  parallel_ranges(pool, heads * most_groups, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t item = begin; item < end; ++item) attend_one(item);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
