#pragma once

#include <map>
#include <string>
#include <vector>

#include "hone/jobs/search/search_recipe.h"
#include "hone/jobs/search/trial_subject.h"

/// The metrics of trials, which formulas of recipes may use.
namespace hone {

/// The share of changed predictions, and the SNR of the margins (`TaskComparison::snr_db`), against the baseline.
inline constexpr const char *kFlips = "flips", *kMarginSnr = "margin_snr";
/// The divergence of a trial's predictions from those of the baseline (hone/study/layer_sensitivity.h).
inline constexpr const char* kDivergenceMetric = "divergence";
inline constexpr const char* kJudgedMetric = "judged";
/// The p-value of the gate that is hardest to pass, corrected for the number of gates but not of trials.
inline constexpr const char* kGateMetric = "gate_p_value";

/// Milliseconds per example. It varies between runs, so every trial measures it again.
inline constexpr const char* kLatencyMetric = "latency_ms";

/// Returns the names of metrics that formulas may use: those of the task and of the model.
std::vector<std::string> metric_names(const TrialSubject& subject);
/// Returns whether this metric is known while a trial of this recipe and subject trains.
bool is_known_during_training(const std::string& name, const SearchRecipe& recipe,
                              const TrialSubject& subject);

/// Returns the finite metrics of an evaluation by name.
std::map<std::string, double> evaluation_metrics(const TaskEvaluation& evaluation);

/// Returns the metrics that depend only on the configuration. `graph` has no quantizers, `plan` contains the formats,
/// and `layers` are those whose bits are averaged.
std::map<std::string, double> shape_metrics(const Graph& graph, const QuantizationPlan& plan,
                                            const LayerSparsities& sparsities,
                                            const std::vector<std::string>& layers,
                                            const EncodedSplits& data);

}  // namespace hone
