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

/// Points of shrinking made and judged, each a trial of a study.
namespace hone {

/// What every point is judged by.
struct ShrinkGate {
  const Measurement& original;  ///< the model as it was given, on the part that choices are made on
  std::vector<Gate> gates;
  std::int64_t looks = 1;
};

/// What was predicted of a candidate before it was made.
struct CandidatePrediction {
  ShrinkShares shares = {};
  double chance = 0, seconds = 0, damage = 0;
};
const Fields& fields_of(const CandidatePrediction*);

/// What was measured of a candidate, on the split that choices are made on.
struct CandidateMeasurement {
  ShrinkShares shares = {};
  std::optional<Interval> time_interval = {};        ///< of `shares.time`, at least 95%
  std::optional<Interval> time_alone_interval = {};  ///< of `shares.time_alone`
  double figure = 0;                                 ///< by which the task is judged
  Interval figure_interval = {};                     ///< 95%
  double change = 0;                                 ///< from that of the original
  Interval change_interval = {};                     ///< 95%, of this one alone
  std::optional<double> flip_share = {};             ///< none: a regression
  Conclusion conclusion = Conclusion::inconclusive;  ///< of all gates, corrected for all looks
  std::vector<std::string> missed = {};  ///< gates of that conclusion, as typed; none: kept
  double p_value = 1;                    ///< of the gate that is the hardest to pass
  std::optional<std::int64_t> examples_needed = {};  ///< see `examples_needed` of gates
  std::string summary = {};                          ///< in a sentence
  double seconds = 0;

  /// Rounds of `shares.time_alone` varied so much that it says little.
  bool is_noisy_alone() const { return Speedup{.interval = time_alone_interval}.noisy(); }
};
const Fields& fields_of(const CandidateMeasurement*);
/// "accuracy changed by +1.71 points (95% CI +0.82 to +2.80): inconclusive"; of several gates with those that decide: "…: inconclusive for
/// recall of science". Where the printed interval alone would decide: "…: inconclusive after correction for 10 tests", of as many as `looks`
/// and gates make.
std::string change_of_candidate(const CandidateMeasurement& measured, const MetricName& figure,
                                const std::vector<Gate>& gates, std::int64_t looks);
/// The same of the verdict alone: "inconclusive for recall of science".
std::string verdict_of_candidate(const CandidateMeasurement& measured,
                                 const std::vector<Gate>& gates);

/// What became of a point.
struct JudgedPoint {
  std::int64_t number = 1;  ///< of the candidate, from 1
  std::int64_t trial = 0;   ///< of the study
  ShrinkPoint point = {};
  std::string recipe = {};  ///< all that was done to the baseline
  CandidatePrediction predicted = {};
  std::optional<CandidateMeasurement> measured = {};  ///< none: it could not be made
  std::optional<std::string> failure = {};            ///< why it could not be made
  bool trained_before = false;                        ///< an earlier run had trained it
  bool chosen = false;                                ///< it is the result

  bool kept() const { return measured && measured->conclusion == Conclusion::within_limit; }
  /// It is inconclusive, and more examples may show it to be within the limit.
  bool may_be_shown() const {
    return measured && measured->conclusion == Conclusion::inconclusive &&
           measured->examples_needed;
  }
};
const Fields& fields_of(const JudgedPoint*);

/// The same from 64 texts: what is predicted asks for no more.
CalibrationRun quick_calibration(CalibrationRun calibration);

/// How many texts tell what is to come, and how many rounds of each timing.
struct PlanningTexts {
  std::int64_t levels = 0, layers = 0, rounds = 0;
};
const Fields& fields_of(const PlanningTexts*);

/// What is measured before any candidate.
struct MeasuredEffects {
  LevelEffect begin = {};                ///< all first levels together, by the baseline
  LevelEffects levels = {};              ///< by `begin`
  std::vector<ShrinkPoint> beside = {};  ///< as in `ShrinkState`
};

class ShrinkTrials {
 public:
  /// All that it refers to must outlive it. Opens the study in this file, or makes it. `cache` is a store of trainings, or empty;
  /// `begun_with` is what was done to the baseline before any point, as recipes name it, or empty.
  ShrinkTrials(const TrialSubject& subject, const TrialSpace& space, const ShrinkGate& gate,
               std::string begun_with, ShrinkTimer& timer, const fs::path& file,
               const fs::path& cache, const fs::path& checkpoints, Context& context);

  const std::vector<ShrinkParameter>& parameters() const { return parameters_; }
  /// What is remembered of the study under this key; null: nothing.
  Json remembered(const std::string& key) const;
  void remember(const std::string& key, const Json& value);
  /// Only for the next run, from any thread.
  void store(const std::string& key, const Json& value);

  /// What tells what levels, and formats of layers, do alone: as many training texts as some of the budget pays for. Remembered, so
  /// that a run that goes on has the same.
  PlanningTexts planning_texts(double budget_seconds);
  /// What every level does alone, as planned; what is remembered is not measured again.
  MeasuredEffects effects(const PlanningTexts& planning);
  /// About how many seconds that is going to take.
  double effects_seconds(const PlanningTexts& planning) const;
  /// Makes a point and judges it: the candidate of this number.
  void look(const ShrinkStep& step, std::int64_t number);
  /// Takes a look that was interrupted again; nothing where none was.
  void finish_waiting();
  /// All that were judged, by number.
  std::vector<JudgedPoint> judged();
  /// The model of a point, made again to the same bits.
  TrialModel model_of(const ShrinkPoint& point);
  TrialConfiguration configuration_of(const ShrinkPoint& point) const;
  std::string meaning_of(const ShrinkPoint& point) const;
  /// All that a point does to the baseline: "vocabulary -71%, heads -25%".
  std::string recipe_of(const ShrinkPoint& point) const;
  void close() { storage_->close(); }

 private:
  TrialModel made(const TrialSubject& subject, const TrialConfiguration& configuration);
  // Those of the cache, of which it knows which this run has trained.
  TrainedWeights trainings();
  ShrinkPoint context_of(std::size_t parameter) const;
  // Of the start of all points, and of each level with what it is measured beside.
  std::set<std::string> measured_meanings() const;
  LevelEffect measured_effect(const TrialSubject& sampled, const ShrinkPoint& point,
                              std::int64_t rounds);
  void remove_checkpoints() const;
  TrialOutcome run(TrialRun& run);

  const TrialSubject& subject_;
  const TrialSpace& space_;
  const ShrinkGate& gate_;
  std::string begun_with_;
  ShrinkTimer& timer_;
  fs::path checkpoints_;
  Context& context_;
  std::vector<ShrinkParameter> parameters_;
  TrialCache cache_;
  std::set<std::string> trained_here_;
  bool trained_before_ = false;                    // the model made last
  ParentLogits asked_;                             // of the parent, by trials before
  std::map<std::string, AloneDivergences> alone_;  // of layers, by trials before
  std::unique_ptr<StudyStorage> storage_;
  Study study_;
  std::vector<std::shared_ptr<const Trial>> trials_;
};

}  // namespace hone
