#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/report/figure.h"
#include "hone/search/trial.h"

/// Figures of studies, by the names that Optuna has for the same ones.
namespace hone {

/// The study attribute with the lists that indices stand for, by the names of parameters: {"batch": [16, 32, 64]}. Samplers know the
/// order of such values.
inline constexpr const char* kIndexValuesAttribute = "index_values";
/// Optuna's study attribute with the names of objectives.
inline constexpr const char* kMetricNamesAttribute = "study:metric_names";
/// The trial attribute with the seconds that it took.
inline constexpr const char* kSecondsAttribute = "seconds";
/// The trial attribute of one that repeats another with another seed: its number.
inline constexpr const char* kRepeatAttribute = "repeat_of";

/// Of values of objectives.
inline constexpr int kObjectiveDigits = 4;

/// A study, and what its numbers mean.
struct ShownStudy {
  StudyView view = {};
  std::vector<std::string> objectives = {};  ///< names, as many as there are directions
  Json index_values = Json::object();        ///< as in `kIndexValuesAttribute`
  std::string measured_on = {};              ///< "validation, n = 600"; empty: not known
};

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
/// seconds of all trials together) or, of several objectives, pareto_front of the first two; param_importances (see
/// `parameter_importances`), slice and parallel_coordinate of the most important parameters; intermediate_values; edf.
std::vector<StudyFigure> study_figures(const ShownStudy& study);

/// The first of them for several studies beside each other: each one's best so far, by its name. They must have one objective, of one
/// direction.
Figure compared_histories(const std::vector<ShownStudy>& studies);

}  // namespace hone
