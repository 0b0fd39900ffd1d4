#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/search/study_figures.h"

/// The best trial so far, over the course of a search.
namespace hone {

/// A finished trial of a study, and the best one up to it, by the first objective.
struct TrialAndBest {
  const Trial* trial;
  const Trial* best;  ///< null: none is complete and feasible yet
};
/// Returns the finished trials by number, without repetitions with another seed. Leaves out interrupted trials that
/// were run again, so that the count does not depend on interruptions.
std::vector<TrialAndBest> trials_with_best(const StudyView& study);

/// Returns the number of trials until the best so far was within `within` of `target` or better; none if it never was.
std::optional<std::int64_t> trials_until(const StudyView& study, double target, double within);

/// The values of a study by trial, and the best so far by the first objective, against trials and against the total
/// time of all trials until then. Points are labelled with their trial.
struct BestHistory {
  Series values, by_trial;
  Series by_seconds;      ///< empty: the duration of some trial is not known
  Series by_cpu_seconds;  ///< empty: the CPU time of some trial is not known
};

/// Returns the better end of an axis of objective values.
inline BetterEnd better_end(Direction direction) {
  return direction == Direction::maximize ? BetterEnd::high : BetterEnd::low;
}

/// The position of a trial along x.
enum class TrialPosition {
  number,  ///< its number, as `shown_number` prints it
  count    ///< its position in `trials_with_best`, from 1
};

/// Returns the history of `metric`: "value" is the first objective, other names are metrics of the trials. Infeasible
/// trials are never the best.
BestHistory history_of(const DescribedStudy& study, const std::string& label,
                       const std::string& metric = "value",
                       TrialPosition place = TrialPosition::number);

/// Combines step curves into one: `middle` of their values at each position, with a band from the least to the
/// greatest. It begins where all curves have begun; a curve that ends earlier keeps its last value. Every point gets
/// `detail`.
Series band_of(const std::vector<Series>& curves, const std::string& label,
               double (*middle)(std::vector<double>), const std::string& detail);

}  // namespace hone
