#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/search/study_figures.h"

/// What a search has come to on the way: the best so far.
namespace hone {

/// A finished trial of a study, and the best one up to it, by the first objective.
struct TrialOnTheWay {
  const Trial* trial;
  const Trial* best;  ///< null: none is complete and feasible yet
};
/// By number, without those that repeat others with another seed, and those that were interrupted and run again: how many they are does
/// not depend on where a search was killed.
std::vector<TrialOnTheWay> trials_on_the_way(const StudyView& study);

/// How many trials it took until the best so far lay no further than `within` from `target`, or beyond it. None: it never did.
std::optional<std::int64_t> trials_until(const StudyView& study, double target, double within);

/// The values of a study by trial, and those of the best so far by the first objective, against trials and against what all trials up
/// to it took together. A point says what the trial is that it is of.
struct BestHistory {
  Series values, by_trial;
  Series by_seconds;      ///< empty: some trial does not say when it ran
  Series by_cpu_seconds;  ///< empty: some trial does not say what it took of processors
};

/// Which end of an axis of objectives is the better one.
inline BetterEnd better_end(Direction direction) {
  return direction == Direction::maximize ? BetterEnd::high : BetterEnd::low;
}

/// What stands for a trial along x.
enum class TrialPlace {
  number,  ///< its own, as `shown_number` has it
  count    ///< its place in `trials_on_the_way`, from 1
};

/// `metric`: what of trials is drawn, "value" the first objective, else one of their metrics. What is not feasible is never the best.
BestHistory history_of(const ShownStudy& study, const std::string& label,
                       const std::string& metric = "value", TrialPlace place = TrialPlace::number);

/// Curves of steps as one: at each place what `middle` makes of their values, with a band from the least to the greatest, from where
/// all of them have begun on; one that ends before others keeps its best. `detail` is said of each point.
Series band_of(const std::vector<Series>& curves, const std::string& label,
               double (*middle)(std::vector<double>), const std::string& detail);

}  // namespace hone
