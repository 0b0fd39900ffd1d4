#include "hone/metrics/planning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hone/base/text.h"
#include "hone/metrics/seeds.h"

namespace hone {
namespace {

// Standard deviations of one example's contribution, by the rates and by the maximum-likelihood ones under a change of
// -margin.
struct Deviations {
  double of_rates = 0, of_null = 0;
};

Deviations deviations_of(const DisagreementRates& rates, double margin) {
  const double lost = rates.lost, gained = rates.gained, change = rates.change();
  // The maximum-likelihood share of lost examples there: the quadratic equation of `tango_score`, per example.
  const double null = std::max(-margin, -1.0), b = (2 - gained + lost) * null - gained - lost,
               d = -lost * null * (1 - null);
  const double q = (std::sqrt(std::max(0.0, b * b - 8 * d)) - b) / 4;
  return {.of_rates = std::sqrt(std::max(0.0, lost + gained - change * change)),
          .of_null = std::sqrt(std::max(0.0, 2 * q + null * (1 - null)))};
}

}  // namespace

DisagreementRates observed_rates(const Comparison& c) {
  const double n = c.evidence * static_cast<double>(c.examples),
               disagree = c.evidence * static_cast<double>(c.only_baseline + c.only_candidate),
               change = c.accuracy_change();
  const double rate = std::max((disagree + 0.5) / (n + 1), std::abs(change));
  return {(rate - change) / 2, (rate + change) / 2, /*assumed=*/disagree == 0};
}

std::string condition_text(const DisagreementRates& rates) {
  if (!rates.assumed) return PlanTextOptions{}.condition;
  return fmt::format(
      "both models are equally accurate and differ on one example in {} (none was observed)",
      grouped(std::llround(1 / (rates.lost + rates.gained))));
}

std::optional<std::int64_t> planned_examples(const DisagreementRates& rates, double margin,
                                             double z) {
  const double change = rates.change();
  if (change == -margin) return std::nullopt;
  const Deviations deviations = deviations_of(rates, margin);
  const double root =
      (z * deviations.of_null + kNormal80 * deviations.of_rates) / (change + margin);
  const double count = std::max(1.0, std::ceil(root * root));
  if (!(count <= static_cast<double>(kMaxExamples))) return std::nullopt;
  return static_cast<std::int64_t>(count);
}

double power_to_show_within_limit(const DisagreementRates& rates, double margin,
                                  std::int64_t examples, double z) {
  const Deviations deviations = deviations_of(rates, margin);
  const double beyond =
      std::sqrt(static_cast<double>(examples)) * (rates.change() + margin) - z * deviations.of_null;
  if (deviations.of_rates == 0) return beyond >= 0 ? 1 : 0;
  return normal_tail(-beyond / deviations.of_rates);
}

std::optional<std::int64_t> planned_seeds(double gap, double deviation) {
  if (gap <= 0) return std::nullopt;
  const double root = (kNormal975 + kNormal80) * deviation / gap;
  const double seeds = std::ceil(root * root + kNormal975 * kNormal975 / 2);
  if (!(seeds <= static_cast<double>(kMostSeeds))) return std::nullopt;
  return std::max(kFewestSeeds, static_cast<std::int64_t>(seeds));
}

std::int64_t rounded_up(std::int64_t count) {
  std::int64_t unit = 1;
  while (count / unit >= 100) unit *= 10;
  return (count + unit - 1) / unit * unit;
}

std::string about_text(std::int64_t count) {
  return fmt::format("about {}", grouped(rounded_up(count)));
}

std::string plan_text(std::optional<std::int64_t> count, double change, double margin,
                      const PlanTextOptions& options) {
  if (count)
    return fmt::format("{} {}{}{} would show {} to {} the limit (power 80%) if {}", options.about,
                       grouped(rounded_up(*count)), options.kind, options.unit, options.subject,
                       change > -margin ? "be within" : "exceed", options.condition);
  if (change == -margin)
    return fmt::format("the observed change equals the limit, so no number of{} is sufficient",
                       options.unit);
  if (falls_short(change, margin))
    return fmt::format(
        "the observed change is below the required gain, so more{} would not show the gain",
        options.unit);
  return fmt::format("the observed change is too close to the limit for more{} to decide",
                     options.unit);
}

}  // namespace hone
