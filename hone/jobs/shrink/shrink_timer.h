#pragma once

#include <optional>

#include "hone/data/encoded_set.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/jobs/paired_times.h"
#include "hone/jobs/shrink/shrink_plan.h"
#include "hone/runtime/context.h"
#include "hone/train/predictor.h"

namespace hone {

/// Rounds of each timing; the median counts.
inline constexpr std::int64_t kShrinkTimerRounds = 7;

/// Latency of a model divided by its baseline's, the median ratio of paired rounds; below 1 is faster.
struct LatencyShare {
  double value = 1;
  std::optional<Interval> interval = {};  ///< of the median, at least 95%; none with too few rounds
};

/// Times models against their common baseline, in turn, on the same texts.
class ShrinkTimer {
 public:
  /// `texts` are tokenized for the original, `own` for the timed models. A batch contains the first texts, as many as
  /// the original computes in about a quarter of a second, at most 32. All arguments must outlive it.
  ShrinkTimer(const Model& original, const EncodedSet& texts, const EncodedSet& own,
              Context& context);

  struct Times {
    LatencyShare full_batch, single;  ///< of a batch, and at batch size 1
  };
  Times times(const Model& model, std::int64_t rounds = kShrinkTimerRounds);
  /// Estimates the seconds for this many rounds of a model that is as fast as the original.
  double seconds(std::int64_t rounds) const;
  /// Returns the stored bytes of each kind of tensor as shares of all stored bytes of the original (`stored_bytes`).
  BytesByKind stored(const Model& model) const;
  std::int64_t original_bytes() const { return original_bytes_; }
  /// Returns the milliseconds per text of a batch of the original, the median over rounds.
  double ms() const { return ms_; }
  /// Returns the number of texts in a batch.
  std::int64_t batch_size() const { return batch_size_; }

 private:
  NamedTensors batch(const EncodedSet& set, std::int64_t count) const;

  Context& context_;
  std::int64_t original_bytes_ = 0, batch_size_ = 1;
  double ms_ = 0;
  Predictor original_;
  NamedTensors batch_inputs_, single_inputs_, own_batch_inputs_, own_single_inputs_;
};

}  // namespace hone
