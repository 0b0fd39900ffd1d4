#pragma once

#include "hone/data/encoded_set.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/jobs/shrink/shrink_plan.h"
#include "hone/runtime/context.h"
#include "hone/train/predictor.h"

namespace hone {

/// Rounds of each timing, of which the median counts.
inline constexpr std::int64_t kShrinkTimerRounds = 7;

/// Times models beside the one that all of them were made of, in turn, on the same texts.
class ShrinkTimer {
 public:
  /// `texts` as the original reads them, `own` as those that are timed do. Some at a time are as many of the first as take the original about
  /// a quarter of a second at most. All must outlive it.
  ShrinkTimer(const Model& original, const EncodedSet& texts, const EncodedSet& own,
              Context& context);

  /// The shares of a model: of time, and of the bytes that its file of weights has (`stored_bytes`).
  ShrinkShares shares(const Model& model);
  std::int64_t original_bytes() const { return original_bytes_; }
  /// Milliseconds of the original for a text: the median over rounds.
  double ms() const { return ms_; }
  /// Texts in a batch.
  std::int64_t at_a_time() const { return at_a_time_; }

 private:
  NamedTensors batch(const EncodedSet& set, std::int64_t count) const;
  double share(const std::function<void()>& before, const std::function<void()>& after) const;

  Context& context_;
  std::int64_t original_bytes_ = 0, at_a_time_ = 1;
  double ms_ = 0;
  Predictor original_;
  NamedTensors some_, one_, own_some_, own_one_;
};

}  // namespace hone
