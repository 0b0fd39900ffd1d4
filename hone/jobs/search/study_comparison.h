#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/search/study_figures.h"
#include "hone/report/table.h"

/// Comparison of studies. Studies that differ only in their seed form one row, and one curve with a band.
namespace hone {

struct StudyFamily {
  std::string label;  ///< "tpe: 3 seeds (1, 2, 3)", or the name of a single study
  std::vector<const DescribedStudy*> studies;  ///< by seed

  bool has_several() const { return studies.size() > 1; }
};

/// Groups studies with the same `kFamilyAttribute`, which is everything but the seed, and different seeds into
/// families. All others are families of one. Keeps the given order.
std::vector<StudyFamily> families_of(const std::vector<DescribedStudy>& studies);

/// Distance from the best of all studies that counts as reaching it: half a point.
inline constexpr double kWithinReach = 0.005;

/// Returns the best complete and feasible value of all studies; NaN if there is none.
double best_of_all(const std::vector<StudyFamily>& families);

/// Returns a row for each family: seeds, the best value (median, least and greatest over seeds), and trials until
/// within reach of the best of all. Studies that never reach it count as longer than all others.
Table comparison_table(const std::vector<StudyFamily>& families);

/// A family in results.
struct StudyFamilyResult {
  std::string label;
  std::optional<std::string> sampler = {};
  std::vector<std::string> studies = {};
  std::vector<std::int64_t> seeds = {};
  std::vector<std::optional<double>> best = {};                   ///< for each study
  std::vector<std::optional<std::int64_t>> trials_to_reach = {};  ///< for each study
};
const Fields& fields_of(const StudyFamilyResult*);
std::vector<StudyFamilyResult> family_results(const std::vector<StudyFamily>& families);

/// The family that reached the best of all after the fewest trials, by the median over its seeds. Ties go to the better
/// median of best values, then to the first.
struct StudyLeader {
  std::string label;
  std::optional<std::string> sampler =
      {};  ///< none: another one was as fast with some seed as its own slowest
  std::string summary;
};
const Fields& fields_of(const StudyLeader*);
/// Returns none if no study has a best trial.
std::optional<StudyLeader> leader_of(const std::vector<StudyFamily>& families);

/// Plots the best value so far of each family, against trials and against the total time of all trials. Several studies
/// are drawn as in `band_of`, with their median. All studies must have one objective, with the same direction.
Figure compared_histories(const std::vector<StudyFamily>& families);

}  // namespace hone
