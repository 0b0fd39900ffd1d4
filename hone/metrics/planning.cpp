#include "hone/metrics/planning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hone/base/text.h"
#include "hone/metrics/seeds.h"

namespace hone {
namespace {

// "about": two significant digits, rounded up.
std::int64_t rounded_up(std::int64_t count) {
  std::int64_t unit = 1;
  while (count / unit >= 100) unit *= 10;
  return (count + unit - 1) / unit * unit;
}

}  // namespace

DisagreementRates rates_seen(const Comparison& c) {
  const double n = c.evidence * static_cast<double>(c.examples),
               disagree = c.evidence * static_cast<double>(c.only_parent + c.only_candidate),
               change = c.accuracy_change();
  const double rate = std::max((disagree + 0.5) / (n + 1), std::abs(change));
  return {(rate - change) / 2, (rate + change) / 2, /*assumed=*/disagree == 0};
}

std::string condition_text(const DisagreementRates& rates) {
  if (!rates.assumed) return PlanWords{}.condition;
  return fmt::format(
      "the true change is none and one text in {} (none was seen) is right in one model alone",
      grouped(std::llround(1 / (rates.lost + rates.gained))));
}

std::optional<std::int64_t> planned_examples(const DisagreementRates& rates, double margin,
                                             double z) {
  const double lost = rates.lost, gained = rates.gained, change = rates.change();
  if (change == -margin) return std::nullopt;
  // The likeliest share of lost examples under a change of -margin: the quadratic equation of `tango_score`, per example.
  const double null = std::max(-margin, -1.0), b = (2 - gained + lost) * null - gained - lost,
               d = -lost * null * (1 - null);
  const double q = (std::sqrt(std::max(0.0, b * b - 8 * d)) - b) / 4;
  const double null_variance = std::max(0.0, 2 * q + null * (1 - null)),
               variance = std::max(0.0, lost + gained - change * change);
  const double root =
      (z * std::sqrt(null_variance) + kNormal80 * std::sqrt(variance)) / (change + margin);
  const double count = std::max(1.0, std::ceil(root * root));
  if (!(count <= static_cast<double>(kMostExamples))) return std::nullopt;
  return static_cast<std::int64_t>(count);
}

std::optional<std::int64_t> planned_seeds(double gap, double deviation) {
  if (gap <= 0) return std::nullopt;
  const double root = (kNormal975 + kNormal80) * deviation / gap;
  const double seeds = std::ceil(root * root + kNormal975 * kNormal975 / 2);
  if (!(seeds <= static_cast<double>(kMostSeeds))) return std::nullopt;
  return std::max(kFewestSeeds, static_cast<std::int64_t>(seeds));
}

std::string plan_text(std::optional<std::int64_t> count, double change, double margin,
                      std::int64_t most, const PlanWords& words) {
  if (count)
    return fmt::format("{} {}{} would show {} {} four times out of five if {}", words.about,
                       grouped(rounded_up(*count)), words.unit, words.whom,
                       change > -margin ? "kept" : "lost", words.condition);
  if (change == -margin) return "the change seen is the margin, and no number tells them apart";
  return fmt::format("the change seen lies so near the margin that it would take more than {}{}",
                     grouped(most), words.unit);
}

}  // namespace hone
