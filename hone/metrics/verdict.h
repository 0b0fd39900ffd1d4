#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/metrics/comparison.h"
#include "hone/metrics/metric_change.h"

/// One rule for whether a candidate keeps its parent's accuracy, or the figure that stands for it in another task, used
/// wherever two models are compared, a gate decides
/// or one of several is chosen. Finding no difference is never taken for there being none. The rule is one-sided
/// (non-inferiority): a candidate that is kept may be as good, better or a little worse, and only the interval says which.
///
///     const Verdict v = verdict(comparison);      // half a point may be lost
///     v.conclusion, v.examples_needed, v.summary  // "accuracy changed by +0.00 points (95% CI …"
namespace hone {

enum class Conclusion {
  within_limit,   ///< the whole 95% interval of the change lies above minus the margin
  exceeds_limit,  ///< the whole interval lies below
  inconclusive    ///< the interval contains minus the margin: there are too few examples
};
std::span<const EnumWord> enum_words(Conclusion);
/// "within limit", "exceeds limit", "inconclusive".
std::string to_string(Conclusion conclusion);

/// What a verdict over seeds stands on, and so of what it speaks (hone/metrics/seed_verdict.h).
enum class Grounds {
  seeds_and_examples,  ///< the mean over the seeds: of other seeds and other texts
  each_seed            ///< the texts of each seed alone: of these seeds, and other texts
};
std::span<const EnumWord> enum_words(Grounds);
std::string to_string(Grounds grounds);

/// How often kept, and how often lost, is claimed falsely.
inline constexpr double kVerdictLevel = 0.025;

/// The loss of accuracy that is allowed when nobody says another: half a point.
inline constexpr double kUsualMargin = 0.005;

/// What a comparison with the parent says.
struct Verdict {
  Conclusion conclusion = Conclusion::inconclusive;
  MetricName figure = kAccuracy;  ///< of what is spoken
  double margin = kUsualMargin;   ///< loss of it that is allowed, a share: 0.01 is one point
  double change =
      0;  ///< figure of the candidate minus that of the parent; NaN where it is not defined
  /// Of `change`, 95%; nothing where a few seeds tell none, and where the change is not defined.
  std::optional<Interval> change_interval = {};
  /// The one-sided p-value of "at least the margin is lost": kept is 0.025 or less. For one of several candidates it is
  /// corrected for their number. NaN over seeds.
  double p_value = 1;
  /// From how many the choice is made for which p-values are corrected. The interval is of this one alone.
  std::int64_t candidates = 1;
  /// Over seeds: what the conclusion and the interval stand on.
  std::optional<Grounds> grounds = {};
  /// For unclear ones, how many different texts would tell if the true change is the one seen; where none of them
  /// disagreed, also if disagreement is as rare as assumed then (`rates_seen`, `planned_examples` of
  /// hone/metrics/planning.h): that it is kept where that lies within the margin, else that it is lost. Nothing where the change lies
  /// too near to the margin (`planned_texts`), and where a gain is asked for and less was seen; over seeds only where more seeds would
  /// not do.
  std::optional<std::int64_t> examples_needed = {};
  /// For unclear ones over seeds: how many seeds would do.
  std::optional<std::int64_t> seeds_needed = {};
  /// What decides that the limit is not shown to hold, whatever the interval is, a clause (`overruled`); empty: nothing does.
  std::string overruled_by = {};
  /// A clause: "accuracy changed by +0.02 points (95% CI -0.10 to +0.14), within the allowed drop of 0.50; 12 of 4,000
  /// predictions changed". It says so when a gain, or a drop within the limit, is significant. An inconclusive one says how many
  /// examples would show what, at which power.
  std::string summary = {};

  bool kept() const { return conclusion == Conclusion::within_limit; }
};
const Fields& fields_of(const Verdict*);

/// The rule, by Tango's score at a loss of `margin`: kept and lost are each claimed falsely in 2.5% of cases, as is usual
/// for non-inferiority (an enumeration of all outcomes finds at most 2.7% from 172 examples on, 3.0% with 50).
Verdict verdict(const Comparison& comparison, double margin = kUsualMargin);

/// The rule for any figure: kept where the score at a loss of `margin` is 1.96 or more, lost where it is -1.96 or less.
/// That of `accuracy_change` is Tango's.
Verdict verdict(const MetricChange& change, double margin = kUsualMargin);

/// The verdicts on K candidates of which one is to be chosen: both claims hold at their level for all of them together,
/// by Holm's correction (hone/metrics/p_value.h). The intervals are those of each alone.
std::vector<Verdict> verdicts_of_choice(std::span<const MetricChange> candidates,
                                        double margin = kUsualMargin);

/// The same of changes of several metrics too, each with a margin of its own.
std::vector<Verdict> verdicts_of_choice(std::span<const MetricChange> changes,
                                        std::span<const double> margins);

/// The verdict on one of several candidates that are judged one after the other, each as soon as it is there, of which there will be no
/// more than `looks`: both claims hold at their level for all of them together, by Bonferroni's correction (Dunn 1961, J. Amer. Statist.
/// Assoc. 56:52). The interval is that of this one alone. What is tried next may depend on the verdicts before it, which no
/// correction for their number makes good: what is chosen in the end is to be measured on other texts.
Verdict verdict_of_look(const MetricChange& change, std::int64_t looks,
                        double margin = kUsualMargin);

/// The verdict where something else decides that the limit is not shown to hold: inconclusive, with `why` as a clause after the
/// change and "but".
Verdict overruled(Verdict verdict, const std::string& why);

/// The verdicts on candidates whose order was fixed beforehand, the safest first: each is tested at its full level, and
/// after the first that is not kept none is called kept any more. That needs no correction (fixed-sequence testing:
/// Maurer, Hothorn & Lehmacher 1995; Westfall & Krishen 2001, J. Statist. Plann. Inference 99:25).
std::vector<Verdict> verdicts_in_sequence(std::span<const MetricChange> candidates,
                                          double margin = kUsualMargin);

}  // namespace hone
