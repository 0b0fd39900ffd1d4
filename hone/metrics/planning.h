#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hone/metrics/comparison.h"

/// Planning: how many examples or seeds would decide what the present ones do not.
namespace hone {

/// The probabilities for an example that only the candidate is wrong, and that only it is right.
struct DisagreementRates {
  double lost = 0;
  double gained = 0;
  bool assumed = false;  ///< no example disagreed, so their sum is an assumption
  double change() const { return gained - lost; }
};

/// Returns the rates to plan with: the observed change, and a disagreement rate of (k + ½) / (n + 1) if k of n examples
/// disagree, so that none observed does not mean none; it is then marked as assumed. n and k are multiplied by the
/// evidence.
DisagreementRates observed_rates(const Comparison& comparison);

/// Returns the assumption of a plan with these rates: "the true change equals the observed change"; with assumed rates
/// "both models are equally accurate and differ on one example in 74 (none was observed)".
std::string condition_text(const DisagreementRates& rates);

/// Returns whether a gain is required (a margin below 0) and this change is smaller. No examples or seeds are planned
/// then: to show that the gain is missed is of no use to those who need it.
inline bool falls_short(double change, double margin) { return margin < 0 && change < -margin; }

/// Returns how many examples show with power 80% that a candidate with these rates is within the limit, or exceeds it
/// if it loses more than the margin (Nam 1997, Biometrics 53:1422, sample size of the score test for matched pairs):
///
///     n = (z s₀ + 0.84 s₁)² / (change + margin)²
///
/// s₁² = lost + gained - change²; s₀² is the same for the maximum-likelihood rates under a change of -margin. z is
/// 1.96, or that of the level at which one of several candidates is tested. None if it loses exactly the margin, and if
/// more than `kMaxExamples` would be needed, which nobody has.
std::optional<std::int64_t> planned_examples(const DisagreementRates& rates, double margin,
                                             double z = kNormal975);
inline constexpr std::int64_t kMaxExamples = 10'000'000;

/// Returns the probability that this many examples show a candidate with these rates to be within the limit: the same
/// formula solved for it, Φ((√n (change + margin) - z s₀) / s₁).
double power_to_show_within_limit(const DisagreementRates& rates, double margin,
                                  std::int64_t examples, double z = kNormal975);

/// Returns how many seeds, whose changes have this standard deviation, show with the same power that their mean is on
/// this side of a value `gap` away from it (Guenther 1981, The American Statistician 35:243: the normal number and a
/// term that corrects for Student's distribution). None if `gap` is not positive, and above `kMostSeeds`.
std::optional<std::int64_t> planned_seeds(double gap, double deviation);
inline constexpr std::int64_t kMostSeeds = 1000;

/// Returns the count rounded up to two significant digits.
std::int64_t rounded_up(std::int64_t count);
/// Returns the same as text: "about 4,600".
std::string about_text(std::int64_t count);

/// Parts of the sentence of a plan: "about 4,600 examples would show it to be within the limit (power 80%) if the true
/// change equals the observed change"; with assumed rates "… if both models are equally accurate and differ on one
/// example in 74 (none was observed)".
struct PlanTextOptions {
  std::string kind = "";  ///< before the unit: " different"
  std::string unit = " examples";
  std::string subject = "it";   ///< the subject that is shown to be within the limit, or not
  std::string about = "about";  ///< "at least about": something else is needed as well
  std::string condition = "the true change equals the observed change";  ///< the assumption
};

/// Returns the sentence of a plan: `change` is within the limit if it is above -margin. Without a count, it says that
/// the change falls short of the required gain, or is too close to the limit.
std::string plan_text(std::optional<std::int64_t> count, double change, double margin,
                      const PlanTextOptions& options);

}  // namespace hone
