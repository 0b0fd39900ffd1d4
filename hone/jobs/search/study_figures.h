#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/report/figure.h"
#include "hone/search/importance.h"
#include "hone/search/trial.h"

/// Figures of studies, by the names that Optuna has for the same ones.
namespace hone {

/// The study attribute with the lists that indices stand for, by the names of parameters: {"batch": [16, 32, 64]}. Samplers know the
/// order of such values.
inline constexpr const char* kIndexValuesAttribute = "index_values";
/// Optuna's study attribute with the names of objectives.
inline constexpr const char* kMetricNamesAttribute = "study:metric_names";
/// The study attribute with the part of the data that objectives are measured on: {"text": "validation, n = 600", "n", "effective_n"}.
inline constexpr const char* kMeasuredOnAttribute = "measured_on";
/// The study attribute with the model that trials are made of: {"values": of objectives, null where one has none, "metrics": by name}.
inline constexpr const char* kBaselineAttribute = "baseline";
/// The study attributes with everything that decides on trials but the seed, an object, and with that.
inline constexpr const char* kFamilyAttribute = "family";
inline constexpr const char* kSeedAttribute = "seed";
/// The trial attribute with the seconds that it took.
inline constexpr const char* kSecondsAttribute = "seconds";
/// The trial attribute with the seconds that all processors together spent on it, when it was computed: in this study, or an earlier one.
inline constexpr const char* kCpuSecondsAttribute = "cpu_seconds";
/// The trial attribute of one that repeats another with another seed: its number.
inline constexpr const char* kRepeatAttribute = "repeat_of";

/// Of values of objectives.
inline constexpr int kObjectiveDigits = 4;

/// A study, and what its numbers mean.
struct ShownStudy {
  StudyView view = {};
  std::vector<std::string> objectives = {};  ///< names, as many as there are directions
  Json index_values = Json::object();        ///< as in `kIndexValuesAttribute`
  Json measured_on = nullptr;                ///< as in `kMeasuredOnAttribute`; null: not known
  Json baseline = nullptr;                   ///< as in `kBaselineAttribute`; null: not known
  Json family = nullptr;                     ///< as in `kFamilyAttribute`; null: not known
  std::optional<std::int64_t> seed = {};
  /// Of the parameters, once somebody has asked by `find_importances`.
  std::vector<ParameterImportance> importances = {};
};

/// Looks for what mattered: once, for tables, programs and figures. With fewer than two complete trials nothing did.
void find_importances(ShownStudy& study);

/// Those with values, but repetitions, by number.
std::vector<const Trial*> complete_trials(const ShownStudy& study);
/// Whether every figure tells what trials are, or, of many trials, one figure alone: the others name them.
bool is_small(const ShownStudy& study);
/// A point of a figure that says which trial it is of, and, where `with_values`, what that is.
Point point_of(const ShownStudy& study, const Trial& trial, double x, double y, bool with_values);

/// Whether it repeats another one with another seed.
bool is_repetition(const Trial& trial);
/// What the value of a parameter stands for.
Json shown_value(const ShownStudy& study, const TrialParameter& parameter);
/// What a trial took: by its attribute, else from its begin to its end. NaN: not known.
double seconds_of(const Trial& trial);

struct StudyFigure {
  std::string_view name;         ///< "optimization_history"
  std::string_view description;  ///< for those who cannot see it
  Figure figure;
};

/// Those that the study has something for, in this order: optimization_history (the best so far against trials and against the
/// seconds of all trials together) and, where values crowd beside a few far ones, optimization_history_zoom; optimization_metrics, an objective
/// beside the metrics it is made of; of several objectives, pareto_front of the first two; param_importances (as `find_importances` has
/// left them), slice and parallel_coordinate of the most important parameters; intermediate_values; edf.
std::vector<StudyFigure> study_figures(const ShownStudy& study);

}  // namespace hone
