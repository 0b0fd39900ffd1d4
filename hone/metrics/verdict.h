#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/metrics/comparison.h"

/// One rule for whether a candidate keeps its parent's accuracy, used wherever two models are compared, a gate decides
/// or one of several is chosen. Finding no difference is never taken for there being none.
///
///     const Verdict v = verdict(comparison);      // half a point may be lost
///     v.conclusion, v.examples_needed, v.summary  // "cannot tell with n = 36: +0.00 points of accuracy (95 %: …"
namespace hone {

enum class Conclusion {
  kept,    ///< the whole 95 % interval of the loss lies within the margin
  lost,    ///< it lies wholly outside
  unclear  ///< neither: there are too few examples to tell
};
std::string to_string(Conclusion conclusion);

/// The loss of accuracy that is allowed when nobody says another: half a point.
inline constexpr double kUsualMargin = 0.005;

/// What a comparison with the parent says.
struct Verdict {
  Conclusion conclusion = Conclusion::unclear;
  double margin = kUsualMargin;  ///< loss of accuracy that is allowed, a share
  double change = 0;             ///< accuracy of the candidate minus that of the parent
  /// Of `change`, 95 %; nothing where a few seeds tell none.
  std::optional<Interval> change_interval = {};
  /// The one-sided p-value of "at least the margin is lost": kept is 0.025 or less. For one of several candidates it is
  /// corrected for their number. NaN over seeds.
  double p_value = 1;
  /// From how many the choice is made for which p-values are corrected. The interval is of this one alone.
  std::int64_t candidates = 1;
  /// For unclear ones, how many different texts would tell: see `planned_examples`. Nothing where no number would do; over
  /// seeds only where more seeds would not do.
  std::optional<std::int64_t> examples_needed = {};
  /// For unclear ones over seeds: how many seeds would do.
  std::optional<std::int64_t> seeds_needed = {};
  /// A sentence without its full stop: "kept: +0.02 points of accuracy (95 %: -0.10 to 0.14), within the margin of 0.50;
  /// 0.30 % flips". A gain, or a loss within the margin, that is shown to be one is called so. An unclear one says how
  /// many examples would do, and what they would show at which power.
  std::string summary = {};

  bool kept() const { return conclusion == Conclusion::kept; }
};

/// The rule, by Tango's score at a loss of `margin`: kept and lost are each claimed falsely in 2.5 % of cases, as is usual
/// for non-inferiority (an enumeration of all outcomes finds at most 2.7 % from 172 examples on, 3.0 % with 50).
Verdict verdict(const Comparison& comparison, double margin = kUsualMargin);

/// The verdicts on K candidates of which one is to be chosen: both claims hold at their level for all of them together,
/// by Holm's correction (hone/metrics/p_value.h). The intervals are those of each alone.
std::vector<Verdict> verdicts_of_choice(std::span<const Comparison> candidates,
                                        double margin = kUsualMargin);

/// The verdicts on candidates whose order was fixed beforehand, the safest first: each is tested at its full level, and
/// after the first that is not kept none is called kept any more. That needs no correction (fixed-sequence testing:
/// Maurer, Hothorn & Lehmacher 1995; Westfall & Krishen 2001, J. Statist. Plann. Inference 99:25).
std::vector<Verdict> verdicts_in_sequence(std::span<const Comparison> candidates,
                                          double margin = kUsualMargin);

/// The probabilities, for an example, that the candidate alone is wrong and that it alone is right.
struct DisagreementRates {
  double lost = 0;
  double gained = 0;
  double change() const { return gained - lost; }
};

/// How many examples show four times out of five that a candidate with these rates is kept, or lost where it loses more
/// than the margin; nothing where it loses just that much (Nam 1997, Biometrics 53:1422, sample size of the score test
/// for matched pairs):
///
///     n = (z s₀ + 0.84 s₁)² / (change + margin)²
///
/// s₁² = lost + gained - change²; s₀² is the same of the likeliest rates under a change of -margin. z is 1.96, or that of
/// the level by which one of several candidates is tested.
///
/// `verdict` plans with what is usual for non-inferiority: there is no true change, and the rate of disagreement is the
/// one seen, (k + ½) / (n + 1), so that none seen is not none. Where the interval excludes no change, or so many examples
/// were there already, the change seen is taken for the true one.
std::optional<std::int64_t> planned_examples(const DisagreementRates& rates, double margin,
                                             double z = kNormal975);

/// The seeds of a repeated job: the accuracies before and after of each, and what its examples say.
struct SeedChanges {
  std::vector<double> before, after;
  std::vector<Comparison> comparisons;
};

/// The rule over the seeds of a repeated job, for other seeds and other examples: the mean change in an interval whose
/// halves are √(s² + e²), s that of Student's interval over the seeds (`change_spread` of hone/metrics/seeds.h), e the mean
/// half of Tango's intervals, as if all seeds erred on the same examples, which is the worst that they can share. Unclear
/// under five seeds.
Verdict verdict_of_seeds(const SeedChanges& changes, double margin = kUsualMargin);

}  // namespace hone
