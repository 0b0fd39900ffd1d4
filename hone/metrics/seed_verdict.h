#pragma once

#include <string>
#include <vector>

#include "hone/metrics/verdict.h"

/// The rule of hone/metrics/verdict.h over the seeds of a repeated job.
namespace hone {

/// The figure that is judged before and after of each seed, and what its examples say of the change.
struct SeedChanges {
  std::vector<double> before = {}, after = {};
  std::vector<MetricChange> changes = {};
  std::string notes = {};  ///< what follows the change in a sentence: "; 0.30% flips on average"

  const MetricName& figure() const { return changes.front().figure; }
};

/// From five seeds on that differ, for other seeds and other examples: the mean change in an interval whose halves are
/// √(s² + e²), s that of Student's interval over the seeds (`change_spread` of hone/metrics/seeds.h), e the mean half of
/// the intervals of each, as if all seeds erred on the same examples, which is the worst that they can share.
///
/// Where that tells nothing (fewer seeds, all with one change, too wide), what each seed shows alone still stands, for
/// these seeds and other examples: kept when every one of them is, lost when every one is. The claim is false as soon as
/// one of its parts is, so that each tested at its full level keeps the level of the whole (intersection-union test: Berger
/// 1982, Technometrics 24:295), however the seeds depend on each other; nothing is pooled. The interval is then from the
/// least to the greatest end of theirs, which by the same argument holds the changes of all; under five seeds none is
/// shown. Unclear where the change of a seed is not defined.
Verdict verdict_of_seeds(const SeedChanges& changes, double margin = kUsualMargin);

}  // namespace hone
