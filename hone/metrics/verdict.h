#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/metrics/comparison.h"
#include "hone/metrics/metric_change.h"

/// One rule for whether a candidate preserves its baseline's accuracy, or the main metric of another task. It is used
/// wherever two models are compared, a gate decides or one of several is chosen. Finding no difference is never taken
/// as equality. The rule is one-sided (non-inferiority): a candidate within the limit may be as good, better or a
/// little worse, and only the interval says which.
///
///     const Verdict v = verdict(comparison);      // half a point may be lost
///     v.conclusion, v.examples_needed, v.summary  // "accuracy changed by +0.00 points (95% CI …"
namespace hone {

enum class Conclusion {
  within_limit,   ///< the whole 95% interval of the change is above minus the margin
  exceeds_limit,  ///< the whole interval is below
  inconclusive    ///< the interval contains minus the margin: there are too few examples
};
std::span<const EnumName> enum_names(Conclusion);
/// Returns "within limit", "exceeds limit" or "inconclusive".
std::string to_string(Conclusion conclusion);

/// The basis of a verdict over seeds, and so its scope (hone/metrics/seed_verdict.h).
enum class VerdictBasis {
  seeds_and_examples,  ///< the mean over the seeds: for other seeds and other texts
  each_seed            ///< each seed alone: for these seeds, and other texts
};
std::span<const EnumName> enum_names(VerdictBasis);
std::string to_string(VerdictBasis basis);

/// The probability of falsely concluding "within limit", and of falsely concluding "exceeds limit".
inline constexpr double kVerdictLevel = 0.025;

/// The default for the allowed loss of accuracy: half a point.
inline constexpr double kDefaultMargin = 0.005;

/// The verdict on a comparison with the baseline.
struct Verdict {
  Conclusion conclusion = Conclusion::inconclusive;
  MetricName metric = kAccuracy;   ///< the judged metric
  double margin = kDefaultMargin;  ///< its allowed loss, a share: 0.01 is one point
  double change =
      0;  ///< metric of the candidate minus that of the baseline; NaN if it is not defined
  /// Of `change`, 95%; none for fewer than five seeds, and if the change is not defined.
  std::optional<Interval> change_interval = {};
  /// The one-sided p-value of "at least the margin is lost": 0.025 or less is within the limit. Corrected for the
  /// number of candidates. NaN over seeds.
  double p_value = 1;
  /// The number of candidates that p-values are corrected for. The interval is of this one alone.
  std::int64_t candidates = 1;
  /// Over seeds: the basis of the conclusion and the interval.
  std::optional<VerdictBasis> basis = {};
  /// If inconclusive: how many different texts would decide if the true change is the one seen. If the models disagreed
  /// on none, this also assumes a rate of disagreement (`observed_rates` and `planned_examples` of planning.h).
  /// The texts would show that the candidate is within the limit if the change is within the margin, else that it
  /// exceeds it. None if the change is too close to the margin (`planned_texts`), and if a gain is required and less
  /// was seen. Over seeds, it is only set if more seeds would not do.
  std::optional<std::int64_t> examples_needed = {};
  /// If inconclusive over seeds: how many seeds would decide.
  std::optional<std::int64_t> seeds_needed = {};
  /// Why the limit is not shown to hold whatever the interval is, as a clause (`overruled`); empty: no such reason.
  std::string overruled_by = {};
  /// A clause: "accuracy changed by +0.02 points (95% CI -0.10 to +0.14), within the allowed drop of 0.50; 12 of 4,000
  /// predictions changed". It mentions a significant gain, and a significant drop within the limit. If inconclusive, it
  /// says how many examples would show what, and at which power.
  std::string summary = {};

  bool within_limit() const { return conclusion == Conclusion::within_limit; }
};
const Fields& fields_of(const Verdict*);

/// Returns the verdict by Tango's score at a loss of `margin`. "Within limit" and "exceeds limit" are each false in
/// 2.5% of cases, as is usual for non-inferiority (an enumeration of all outcomes finds at most 2.7% from 172 examples
/// on, 3.0% with 50).
Verdict verdict(const Comparison& comparison, double margin = kDefaultMargin);

/// Returns the verdict on any metric: within the limit if the score at a loss of `margin` is 1.96 or more, exceeding it
/// if it is -1.96 or less. The score of `accuracy_change` is Tango's.
Verdict verdict(const MetricChange& change, double margin = kDefaultMargin);

/// Returns the verdicts on K candidates to choose one from: both conclusions hold at their level for all of them
/// together, by Holm's correction (hone/metrics/p_value.h). The intervals are those of each alone.
std::vector<Verdict> verdicts_of_choice(std::span<const MetricChange> candidates,
                                        double margin = kDefaultMargin);

/// The same for changes of several metrics, each with its own margin.
std::vector<Verdict> verdicts_of_choice(std::span<const MetricChange> changes,
                                        std::span<const double> margins);

/// Returns the verdict on one of at most `evaluations` candidates that are judged one by one, each as soon as it
/// exists: both conclusions hold at their level for all of them together, by Bonferroni's correction (Dunn 1961,
/// J. Amer. Statist. Assoc. 56:52). The interval is of this one alone. The next trial may depend on earlier verdicts,
/// which no correction for their number can fix: the final choice must be measured on other texts.
Verdict verdict_of_evaluation(const MetricChange& change, std::int64_t evaluations,
                              double margin = kDefaultMargin);

/// Returns the verdict with another reason why the limit is not shown to hold: inconclusive, with `why` as a clause
/// after the change and "but".
Verdict overruled(Verdict verdict, const std::string& why);

/// Returns the verdicts on candidates in an order fixed beforehand, the safest first: each is tested at its full level,
/// and after the first that is not within the limit none is. No correction is needed (fixed-sequence testing: Maurer,
/// Hothorn & Lehmacher 1995; Westfall & Krishen 2001, J. Statist. Plann. Inference 99:25).
std::vector<Verdict> verdicts_in_sequence(std::span<const MetricChange> candidates,
                                          double margin = kDefaultMargin);

}  // namespace hone
