#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/report/figure.h"
#include "hone/search/importance.h"
#include "hone/search/trial.h"

/// Figures of studies, with Optuna's names for the same plots.
namespace hone {

/// The study attribute with the lists that index parameters refer to: {"batch": [16, 32, 64]}. With indices, samplers
/// know the order of the values.
inline constexpr const char* kIndexValuesAttribute = "index_values";
/// Optuna's study attribute with the names of objectives.
inline constexpr const char* kMetricNamesAttribute = "study:metric_names";
/// The study attribute with the measured split: {"text": "validation, n = 600", "n", "effective_n"}.
inline constexpr const char* kMeasuredOnAttribute = "measured_on";
/// The study attribute with the baseline of the trials: {"values": of objectives, null if unknown, "metrics": by name}.
inline constexpr const char* kBaselineAttribute = "baseline";
/// The study attributes with everything except the seed that affects the trials, an object, and with the seed.
inline constexpr const char* kFamilyAttribute = "family";
inline constexpr const char* kSeedAttribute = "seed";
/// The trial attribute with its duration in seconds.
inline constexpr const char* kSecondsAttribute = "seconds";
/// The trial attribute with the CPU seconds of its computation, in this study or an earlier one.
inline constexpr const char* kCpuSecondsAttribute = "cpu_seconds";
/// The trial attribute of a repetition with another seed: the number of the repeated trial.
inline constexpr const char* kRepeatAttribute = "repeat_of";

/// Digits of printed objective values.
inline constexpr int kObjectiveDigits = 4;

/// A study, and the meaning of its numbers.
struct DescribedStudy {
  StudyView view = {};
  std::vector<std::string> objectives = {};  ///< names, one for each direction
  Json index_values = Json::object();        ///< as in `kIndexValuesAttribute`
  Json measured_on = nullptr;                ///< as in `kMeasuredOnAttribute`; null: not known
  Json baseline = nullptr;                   ///< as in `kBaselineAttribute`; null: not known
  Json family = nullptr;                     ///< as in `kFamilyAttribute`; null: not known
  std::optional<std::int64_t> seed = {};
  /// Importances of the parameters, set by `find_importances`.
  std::vector<ParameterImportance> importances = {};
};

/// Computes the importances of the parameters; none with fewer than two complete trials.
void find_importances(DescribedStudy& study);

/// Returns the complete trials by number, without repetitions.
std::vector<const Trial*> complete_trials(const DescribedStudy& study);
/// Returns whether all figures show the values of trials. In larger studies one does; the others only name them.
bool is_small(const DescribedStudy& study);
/// Returns a point labelled with its trial, `with_values` also with the trial's values.
Point point_of(const DescribedStudy& study, const Trial& trial, double x, double y,
               bool with_values);

/// Returns whether it repeats another trial with another seed.
bool is_repetition(const Trial& trial);
/// Returns what the value of a parameter stands for.
Json shown_value(const DescribedStudy& study, const TrialParameter& parameter);
/// Returns the duration of a trial: its attribute, else the time from start to end. NaN if it is not known.
double seconds_of(const Trial& trial);

struct StudyFigure {
  std::string_view name;         ///< "optimization_history"
  std::string_view description;  ///< alternative text
  Figure figure;
};

/// Returns the figures that the study has data for, in this order: optimization_history (the best so far against trials
/// and against the total time of all trials), optimization_history_zoom if most values are close together and a few far
/// away, optimization_metrics (an objective and the metrics in its formula), pareto_front of the first two of several
/// objectives, param_importances (from `find_importances`), slice and parallel_coordinate of the most important
/// parameters, intermediate_values, edf.
std::vector<StudyFigure> study_figures(const DescribedStudy& study);

}  // namespace hone
