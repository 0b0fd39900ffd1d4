#pragma once

#include <memory>
#include <set>
#include <string>

#include "hone/jobs/search/search_trial.h"
#include "hone/jobs/search/trial_cache.h"
#include "hone/jobs/shrink/shrink_plan.h"
#include "hone/jobs/shrink/shrink_timer.h"
#include "hone/search/search.h"
#include "hone/study/gates.h"

/// Makes and judges the candidates of a shrink run, each a trial of a study.
namespace hone {

/// The limits that candidates are judged by.
struct ShrinkGate {
  const Measurement& original;  ///< the baseline on the deciding split
  std::vector<Gate> gates;
  std::int64_t max_evaluations = 1;
};

/// Predictions for a candidate before it was made.
struct CandidatePrediction {
  ShrinkShares shares = {};
  double chance = 0, seconds = 0, damage = 0;
};
const Fields& fields_of(const CandidatePrediction*);

/// Measurements of a candidate on the deciding split.
struct CandidateMeasurement {
  ShrinkShares shares = {};
  std::optional<Interval> batch_latency_interval = {};  ///< of `shares.batch_latency`, at least 95%
  std::optional<Interval> batch1_latency_interval = {};  ///< of `shares.batch1_latency`
  double metric = 0;                                     ///< the task's metric
  Interval metric_interval = {};                         ///< 95%
  double change = 0;                                     ///< of the metric, from the original
  Interval change_interval = {};                         ///< 95%, for this test alone
  std::optional<double> flip_share = {};                 ///< none: a regression
  Conclusion conclusion =
      Conclusion::inconclusive;          ///< of all gates, corrected for all evaluations
  std::vector<std::string> missed = {};  ///< gates with that conclusion, as typed; empty: kept
  double p_value = 1;                    ///< of the gate that is hardest to pass
  std::optional<std::int64_t> examples_needed = {};  ///< see `examples_needed` of gates
  std::string summary = {};                          ///< of the verdict
  double seconds = 0;

  /// Returns whether the rounds of `shares.batch1_latency` vary too much.
  bool is_batch1_noisy() const { return Speedup{.interval = batch1_latency_interval}.noisy(); }
};
const Fields& fields_of(const CandidateMeasurement*);
/// "accuracy changed by +1.71 points (95% CI +0.82 to +2.80): inconclusive". With several gates it names those that
/// decide: "…: inconclusive for recall of science". If the printed interval alone would decide: "…: inconclusive after
/// correction for 10 tests", the number of `max_evaluations` times gates.
std::string candidate_change(const CandidateMeasurement& measured, const MetricName& figure,
                             const std::vector<Gate>& gates, std::int64_t max_evaluations);
/// Returns only the verdict: "inconclusive for recall of science".
std::string candidate_verdict(const CandidateMeasurement& measured, const std::vector<Gate>& gates);

/// A candidate and its result.
struct JudgedCandidate {
  std::int64_t number = 1;  ///< of the candidate, from 1
  std::int64_t trial = 0;   ///< number in the study
  ShrinkPoint point = {};
  std::string recipe = {};  ///< everything done to the baseline
  CandidatePrediction predicted = {};
  std::optional<CandidateMeasurement> measured = {};  ///< none: it failed
  std::optional<std::string> failure = {};            ///< why it failed
  bool trained_before = false;                        ///< its training comes from an earlier run
  bool chosen = false;                                ///< it is the result

  bool within_limit() const { return measured && measured->conclusion == Conclusion::within_limit; }
  /// Returns whether it is inconclusive, and more examples may show it to be within the limit.
  bool could_pass() const {
    return measured && measured->conclusion == Conclusion::inconclusive &&
           measured->examples_needed;
  }
};
const Fields& fields_of(const JudgedCandidate*);

/// Returns the calibration with 64 texts, which is enough for predictions.
CalibrationRun quick_calibration(CalibrationRun calibration);

/// Numbers of texts, and of rounds of each timing, for predictions.
struct PlanningCounts {
  std::int64_t levels = 0, layers = 0, rounds = 0;
};
const Fields& fields_of(const PlanningCounts*);

/// Measurements made before any candidate.
struct MeasuredEffects {
  LevelEffect begin = {};    ///< all first levels together, relative to the baseline
  LevelEffects levels = {};  ///< relative to the points of `reference_points`
  std::vector<ShrinkPoint> reference_points = {};  ///< as in `ShrinkState`
};

class ShrinkTrials {
 public:
  /// Opens or creates the study in `file`. `cache` is a cache of trainings, or empty; `shared_changes` describes
  /// changes that all candidates share ("vocabulary -71%"), or is empty. Every referenced object must outlive this one.
  ShrinkTrials(const TrialSubject& subject, const TrialSpace& space, const ShrinkGate& gate,
               std::string shared_changes, ShrinkTimer& timer, const fs::path& file,
               const fs::path& cache, const fs::path& checkpoints, Context& context);

  const std::vector<ShrinkParameter>& parameters() const { return parameters_; }
  /// Returns the study attribute under this key; null if there is none.
  Json attribute(const std::string& key) const;
  void set_attribute(const std::string& key, const Json& value);
  /// Stores an attribute for the next run only; callable from any thread.
  void store(const std::string& key, const Json& value);

  /// Returns how many training texts and timing rounds a share of the budget pays for. Remembered for resumed runs.
  PlanningCounts planning_counts(double budget_seconds);
  /// Measures the effect of every level, except those that the study remembers.
  MeasuredEffects effects(const PlanningCounts& planning);
  /// Estimates the seconds that `effects` takes.
  double effects_seconds(const PlanningCounts& planning) const;
  /// Makes and judges the candidate with this number.
  void evaluate(const ShrinkStep& step, std::int64_t number);
  /// Repeats an interrupted evaluation, if there is one.
  void finish_interrupted();
  /// Returns all candidates that were judged, by number.
  std::vector<JudgedCandidate> judged();
  /// Rebuilds the model of a point, bit for bit.
  TrialModel model_of(const ShrinkPoint& point);
  TrialConfiguration configuration_of(const ShrinkPoint& point) const;
  std::string key_of(const ShrinkPoint& point) const;
  /// Describes everything that a point does to the baseline: "vocabulary -71%, heads -25%".
  std::string recipe_of(const ShrinkPoint& point) const;
  void close() { storage_->close(); }

 private:
  TrialModel build(const TrialSubject& subject, const TrialConfiguration& configuration);
  // Wraps the training cache, to know which trainings are from earlier runs.
  TrainingCache trainings();
  ShrinkPoint reference_point_of(std::size_t parameter) const;
  // Returns the keys of all points that `effects` measures.
  std::set<std::string> measured_keys() const;
  LevelEffect measured_effect(const TrialSubject& sampled, const ShrinkPoint& point,
                              std::int64_t rounds);
  void remove_checkpoints() const;
  TrialOutcome run(TrialRun& run);

  const TrialSubject& subject_;
  const TrialSpace& space_;
  const ShrinkGate& gate_;
  std::string shared_changes_;
  ShrinkTimer& timer_;
  fs::path checkpoints_;
  Context& context_;
  std::vector<ShrinkParameter> parameters_;
  TrialCache cache_;
  std::set<std::string> trained_here_;
  bool trained_before_ = false;                                // of the last model
  TeacherLogits teacher_logits_;                               // teacher logits, shared by trials
  std::map<std::string, LayerDivergences> layer_divergences_;  // of single layers, shared by trials
  std::unique_ptr<StudyStorage> storage_;
  Study study_;
  std::vector<std::shared_ptr<const Trial>> trials_;
};

}  // namespace hone
