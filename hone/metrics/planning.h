#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hone/metrics/comparison.h"

/// How many examples, or seeds, would tell what those at hand do not.
namespace hone {

/// The probabilities, for an example, that the candidate alone is wrong and that it alone is right.
struct DisagreementRates {
  double lost = 0;
  double gained = 0;
  bool assumed = false;  ///< no example disagreed, so that their sum is nothing that was seen
  double change() const { return gained - lost; }
};

/// What is planned with: the change that was seen, and where k of n examples disagree, disagreement at a rate of
/// (k + ½) / (n + 1), so that none seen is not none; that is then said to be assumed. n and k are taken times the evidence.
DisagreementRates rates_seen(const Comparison& comparison);

/// What holds if as many examples as planned with these rates do: "the true change is the one seen"; by assumed ones "both
/// models are equally accurate and differ on one example in 74 (none was seen)".
std::string condition_text(const DisagreementRates& rates);

/// Whether a gain is asked for (a margin below 0) and this change is less: that more examples, or seeds, would show it lost is
/// of no use to who waits for the gain, so none are planned.
inline bool falls_short(double change, double margin) { return margin < 0 && change < -margin; }

/// How many examples show four times out of five that a candidate with these rates is kept, or lost where it loses more
/// than the margin (Nam 1997, Biometrics 53:1422, sample size of the score test for matched pairs):
///
///     n = (z s₀ + 0.84 s₁)² / (change + margin)²
///
/// s₁² = lost + gained - change²; s₀² is the same of the likeliest rates under a change of -margin. z is 1.96, or that of
/// the level by which one of several candidates is tested. Nothing where it loses just the margin, and where more than
/// `kMostExamples` would be needed, which nobody has.
std::optional<std::int64_t> planned_examples(const DisagreementRates& rates, double margin,
                                             double z = kNormal975);
inline constexpr std::int64_t kMostExamples = 10'000'000;

/// How likely so many examples show that a candidate with these rates is kept: the same formula, read the other way,
/// Φ((√n (change + margin) - z s₀) / s₁).
double chance_to_be_shown_kept(const DisagreementRates& rates, double margin, std::int64_t examples,
                               double z = kNormal975);

/// How many seeds, whose changes have this standard deviation, show as often that their mean lies on this side of what is
/// `gap` away from it (Guenther 1981, The American Statistician 35:243: the normal number and a term that makes up for
/// Student's distribution). Nothing where it is no distance, and above `kMostSeeds`.
std::optional<std::int64_t> planned_seeds(double gap, double deviation);
inline constexpr std::int64_t kMostSeeds = 1000;

/// Two significant digits, rounded up.
std::int64_t rounded_up(std::int64_t count);
/// The same in words: "about 4,600".
std::string about_text(std::int64_t count);

/// What is planned, in words: "about 4,600 examples would show it to be within the limit (power 80%) if the true change is the
/// one seen"; by assumed rates "… if both models are equally accurate and differ on one example in 74 (none was seen)".
struct PlanWords {
  std::string kind = "";  ///< before the unit where they are counted: " different"
  std::string unit = " examples";
  std::string whom = "it";      ///< is shown to be within the limit, or not
  std::string about = "about";  ///< "at least about": something else is needed as well
  std::string condition = "the true change is the one seen";  ///< what is assumed
};

/// `change` is kept where it lies within the margin, else lost. Without a count it is said that the change falls short of the
/// gain asked for, or lies too near to the margin.
std::string plan_text(std::optional<std::int64_t> count, double change, double margin,
                      const PlanWords& words);

}  // namespace hone
