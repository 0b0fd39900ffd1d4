#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/search/study_figures.h"
#include "hone/report/table.h"

/// Studies beside each other; those that differ in their seed alone are one row and one curve with a band.
namespace hone {

struct StudyFamily {
  std::string label;                       ///< "tpe: 3 seeds (1, 2, 3)", of a single study its name
  std::vector<const ShownStudy*> studies;  ///< by seed

  bool has_several() const { return studies.size() > 1; }
};

/// By what their searches say of themselves (`kFamilyAttribute`), which is everything but the seed: studies of equal ones
/// with seeds of their own are a family, all others stand alone. In the order in which they were given.
std::vector<StudyFamily> families_of(const std::vector<ShownStudy>& studies);

/// How far the best so far may lie from the best of all studies to be as good as it: half a point.
inline constexpr double kWithinReach = 0.005;

/// The best complete and feasible value of all of them; NaN: there is none.
double best_of_all(const std::vector<StudyFamily>& families);

/// A row for each family: seeds, the best (median, least and greatest over seeds), trials until within reach of the best of all, those
/// that never came there counted as longer than all.
Table comparison_table(const std::vector<StudyFamily>& families);

/// A family in results.
struct StudyFamilyResult {
  std::string label;
  std::optional<std::string> sampler = {};
  std::vector<std::string> studies = {};
  std::vector<std::int64_t> seeds = {};
  std::vector<std::optional<double>> best = {};                   ///< of each study
  std::vector<std::optional<std::int64_t>> trials_to_reach = {};  ///< of each study
};
const Fields& fields_of(const StudyFamilyResult*);
std::vector<StudyFamilyResult> family_results(const std::vector<StudyFamily>& families);

/// The family that came within reach of the best of all after the fewest trials, by the median over its seeds; of several the one with
/// the better median of bests, then the first.
struct StudyLeader {
  std::string label;
  std::optional<std::string> sampler =
      {};  ///< none where another with some seed was as fast as the slowest of its own
  std::string summary;
};
const Fields& fields_of(const StudyLeader*);
/// Nothing where no study has a best.
std::optional<StudyLeader> leader_of(const std::vector<StudyFamily>& families);

/// The best so far of each family against trials and against the seconds of all trials together: of several studies the
/// median with a band from the least to the greatest, from where all of them have begun; one that ends before others keeps its best. They
/// must have one objective, of one direction.
Figure compared_histories(const std::vector<StudyFamily>& families);

}  // namespace hone
