#pragma once

#include <string>
#include <vector>

#include "hone/metrics/verdict.h"

/// The rule of hone/metrics/verdict.h over the seeds of a repeated job.
namespace hone {

/// The main metric before and after for each seed, and its change on the examples of each seed.
struct SeedChanges {
  std::vector<double> before = {}, after = {};
  std::vector<MetricChange> changes = {};
  std::string notes =
      {};  ///< text after the change in a sentence: "; 0.30% of predictions changed on average"

  const MetricName& metric() const { return changes.front().metric; }
};

/// Returns the verdict over seeds. With at least five seeds that differ, it is about other seeds and other examples:
/// the interval of the mean change has halves √(s² + e²). s is that of Student's interval over the seeds
/// (`change_spread` of hone/metrics/seeds.h). e is the mean half of the seeds' own intervals, as if all seeds erred on
/// the same examples, which is the worst case.
///
/// If that is inconclusive (fewer seeds, all with one change, too wide), the verdict is about these seeds and other
/// examples: within the limit if every seed is, exceeding it if every seed does. The conclusion is false as soon as one
/// of its parts is, so testing each at its full level keeps the level of the whole (intersection-union test: Berger
/// 1982, Technometrics 24:295), however the seeds depend on each other; nothing is pooled. The interval is then from
/// the smallest to the largest end of the seeds' intervals, which by the same argument contains the changes of all;
/// with fewer than five seeds none is shown. Inconclusive if the change of a seed is not defined.
Verdict verdict_of_seeds(const SeedChanges& changes, double margin = kDefaultMargin);

}  // namespace hone
