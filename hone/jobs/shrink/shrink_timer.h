#pragma once

#include <optional>

#include "hone/data/encoded_set.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/jobs/shrink/shrink_plan.h"
#include "hone/jobs/times_in_turn.h"
#include "hone/runtime/context.h"
#include "hone/train/predictor.h"

namespace hone {

/// Rounds of each timing, of which the median counts.
inline constexpr std::int64_t kShrinkTimerRounds = 7;

/// Latency of a model by that of its baseline, below 1 faster, the median ratio of paired rounds.
struct LatencyShare {
  double value = 1;
  std::optional<Interval> interval = {};  ///< of this median, at least 95%; none of too few rounds
};

/// Times models beside the one that all of them were made of, in turn, on the same texts.
class ShrinkTimer {
 public:
  /// `texts` as the original reads them, `own` as those that are timed do. Some at a time are as many of the first as take the original about
  /// a quarter of a second at most. All must outlive it.
  ShrinkTimer(const Model& original, const EncodedSet& texts, const EncodedSet& own,
              Context& context);

  struct Times {
    LatencyShare some, one;  ///< at a time
  };
  Times times(const Model& model, std::int64_t rounds = kShrinkTimerRounds);
  /// Seconds that so many rounds of a model take that is as fast as the original.
  double seconds(std::int64_t rounds) const;
  /// What the file of weights has (`stored_bytes`) of each kind of tensor, by all that it has of the original.
  BytesByKind stored(const Model& model) const;
  std::int64_t original_bytes() const { return original_bytes_; }
  /// Milliseconds of the original for a text: the median over rounds.
  double ms() const { return ms_; }
  /// Texts in a batch.
  std::int64_t at_a_time() const { return at_a_time_; }

 private:
  NamedTensors batch(const EncodedSet& set, std::int64_t count) const;

  Context& context_;
  std::int64_t original_bytes_ = 0, at_a_time_ = 1;
  double ms_ = 0;
  Predictor original_;
  NamedTensors some_, one_, own_some_, own_one_;
};

}  // namespace hone
