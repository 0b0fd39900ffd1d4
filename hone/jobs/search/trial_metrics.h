#pragma once

#include <map>
#include <string>
#include <vector>

#include "hone/jobs/search/search_recipe.h"
#include "hone/jobs/search/trial_subject.h"

/// The metrics of a trial, which formulas of a recipe may have: what a metric or a model has to tell is one more name here.
namespace hone {

/// How many answers differ from those of the model it was made of, and by how much of its margins.
inline constexpr const char *kFlips = "flips", *kMarginSnr = "margin_snr";
/// How far a trial's answers are from those of the model it was made of (hone/study/layer_sensitivity.h).
inline constexpr const char* kDivergenceMetric = "divergence";
inline constexpr const char* kJudgedMetric = "judged";
/// The p-value of the gate that is the hardest to pass, corrected for their number but for no other trials.
inline constexpr const char* kGateMetric = "gate_p_value";

/// Milliseconds per example: of the moment, so it is measured anew by every trial.
inline constexpr const char* kLatencyMetric = "latency_ms";

/// Names of metrics that formulas may have: those of the task's metrics, and of the model.
std::vector<std::string> metric_names(const TrialSubject& subject);
/// Whether the metric of this name is known while a trial of this recipe and subject trains.
bool is_known_on_the_way(const std::string& name, const SearchRecipe& recipe,
                         const TrialSubject& subject);

/// The metrics of an evaluation by their names, those that are numbers.
std::map<std::string, double> evaluation_metrics(const TaskEvaluation& evaluation);

/// Metrics that depend on a configuration alone. `graph` is without quantizers, `plan` what it is to have, `layers` those whose bits
/// are averaged.
std::map<std::string, double> shape_metrics(const Graph& graph, const QuantizationPlan& plan,
                                            const LayerSparsities& sparsities,
                                            const std::vector<std::string>& layers,
                                            const EncodedSplits& data);

}  // namespace hone
