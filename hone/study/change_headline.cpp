#include "hone/study/change_headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "hone/base/percentage.h"
#include "hone/base/text.h"
#include "hone/study/measure.h"

namespace hone {
namespace {

// Returns "0.5 points" or "1 point".
std::string points_of(double share) {
  const double points = std::abs(100 * share);
  return fmt::format("{:g} point{}", points, points == 1 ? "" : "s");
}

// For use before the change in points: if both values round to the same text, returns it once.
std::string values_before_points(double before, double after) {
  const bool alike = before != after && share_text(before) == share_text(after);
  return alike ? share_text(after) : values_text(before, after);
}

}  // namespace

std::string values_text(double before, double after) {
  return fmt::format("{} → {}", share_text(before), share_text(after));
}

std::string change_headline(double before, double after, const Verdict& verdict) {
  return change_headline(values_text(before, after), verdict);
}

std::string change_headline(const std::string& values, const Verdict& verdict) {
  const std::string_view metric = verdict.metric.text;
  const std::string points = points_of(verdict.margin);
  const bool gain = verdict.margin < 0;
  switch (verdict.conclusion) {
    case Conclusion::within_limit:
      return fmt::format("{} {} {} ({})", metric, gain ? "gained at least" : "within", points,
                         values);
    case Conclusion::exceeds_limit:
      return fmt::format("{} {} {} ({})", metric,
                         gain ? "gained less than" : "dropped by more than", points, values);
    case Conclusion::inconclusive:
      break;
  }
  return fmt::format("{} {}, inconclusive for a {} of {}", metric, values, gain ? "gain" : "limit",
                     points);
}

std::string unjudged_headline(double before, double after, const Verdict& v) {
  if (!v.change_interval) return fmt::format("{} {}", v.metric.text, values_text(before, after));
  return fmt::format("{} {} ({} points, 95% CI {} to {})", v.metric.text,
                     values_before_points(before, after), points_text(v.change),
                     points_text(v.change_interval->low), points_text(v.change_interval->high));
}

Fact change_fact(const TaskEvaluation& before, const TaskEvaluation& after) {
  return {metric_title(before.metric),
          fmt::format("{} ({} points)", values_before_points(before.value, after.value),
                      points_text(after.value - before.value))};
}

std::string points_change(const TaskComparison& c) {
  if (!c.change.interval) return "not defined";
  return fmt::format("{} points ({} to {})", points_text(c.change.change),
                     points_text(c.change.interval->low), points_text(c.change.interval->high));
}

Fact flips_fact(const TaskComparison& c) {
  if (!c.counted)
    return {"Mean absolute change of predictions", fmt::format("{:.3g}", c.mean_shift)};
  return {"Predictions changed",
          fmt::format("{} ({} of {})", flip_share_text(c.counted->flip_share),
                      grouped(c.counted->flips), grouped(c.counted->examples))};
}

void prepend_key_figures(Document& document, std::vector<Fact> figures) {
  std::ranges::move(document.key_figures, std::back_inserter(figures));
  document.key_figures = std::move(figures);
}

std::string short_bytes(double bytes) {
  const std::size_t unit = byte_unit(bytes);
  const std::string in_unit = bytes_in_unit(bytes, unit, /*decimals=*/false);
  return three_digits(std::ldexp(bytes, -10 * static_cast<int>(unit))) +
         in_unit.substr(in_unit.find(' '));
}

Fact size_fact(const std::string& name, double before, double after) {
  std::string text = fmt::format("{} → {}", short_bytes(before), short_bytes(after));
  if (before >= 1.005 * after) text += fmt::format(" ({}× smaller)", three_digits(before / after));
  if (after >= 1.005 * before) text += fmt::format(" ({}× larger)", three_digits(after / before));
  return {name, text};
}

}  // namespace hone
