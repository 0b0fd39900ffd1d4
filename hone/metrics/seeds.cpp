#include "hone/metrics/seeds.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "hone/base/error.h"

namespace hone {
double student_two_sided(double t, std::int64_t degrees) {
  HONE_ASSERT(degrees >= 1, "Student's distribution with {} degrees of freedom", degrees);
  if (std::isnan(t)) return t;
  const double angle = std::atan(std::abs(t) / std::sqrt(static_cast<double>(degrees)));
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const bool odd = degrees % 2 == 1;
  // The sum over powers of the cosine: from cos θ on for odd degrees, from 1 on for even ones.
  double term = odd ? cosine : 1, sum = degrees == 1 ? 0 : term;
  for (std::int64_t k = odd ? 3 : 2; k <= degrees - 2; k += 2) {
    term *= cosine * cosine * static_cast<double>(k - 1) / static_cast<double>(k);
    sum += term;
  }
  const double inside = odd ? 2 / std::numbers::pi * (angle + sine * sum) : sine * sum;
  return std::clamp(1 - inside, 0.0, 1.0);
}

double student_975(std::int64_t degrees) {
  double low = 0, high = 13;  // 12.71 for one degree
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (student_two_sided(middle, degrees) > 0.05 ? low : high) = middle;
  }
  return (low + high) / 2;
}

namespace {

// Shares of whole counts differ by more; smaller differences are rounding errors.
constexpr double kRounding = 1e-12;

// Returns the 95% interval of the mean of values, of which at least two differ.
Interval t_interval(double mean, double deviation, std::int64_t count) {
  const double half = student_975(count - 1) * deviation / std::sqrt(static_cast<double>(count));
  return {mean - half, mean + half};
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

const Fields& fields_of(const SeedSpread*) {
  using S = SeedSpread;
  static const Fields fields = describe<S>(
      "seed_spread", "A metric over several random seeds.",
      field<&S::count>("seeds", Unit::seeds, "How many."),
      field<&S::mean>("mean", "Mean; null: a value is no number.").or_null(),
      field<&S::least>("min", "Smallest value.").or_null(),
      field<&S::greatest>("max", "Largest value.").or_null(),
      field<&S::values>("values", "One per seed, in their order."),
      field<&S::deviation>("standard_deviation", "Of the sample; null under five seeds."),
      field<&S::interval>("mean_interval",
                          "95% interval of the mean (Student's t), for other seeds on the same "
                          "examples; null under five seeds, and where all values are equal."));
  return fields;
}

SeedSpread seed_spread(std::span<const double> values) {
  HONE_ASSERT(!values.empty(), "the spread of nothing");
  SeedSpread s;
  s.count = static_cast<std::int64_t>(values.size());
  s.values.assign(values.begin(), values.end());
  s.least = std::ranges::min(values);
  s.greatest = std::ranges::max(values);
  const double count = static_cast<double>(values.size());
  for (const double value : values) s.mean += value;
  const bool same = s.greatest - s.least < kRounding;
  s.mean = same ? s.least : s.mean / count;
  if (s.count < kFewestSeeds) return s;
  double squares = 0;
  for (const double value : values) squares += (value - s.mean) * (value - s.mean);
  s.deviation = same ? 0 : std::sqrt(squares / (count - 1));
  if (!same) s.interval = t_interval(s.mean, *s.deviation, s.count);
  return s;
}

SeedSpread share_spread(std::span<const double> shares) {
  SeedSpread s = seed_spread(shares);
  if (!s.interval) return s;
  const double slope = s.mean * (1 - s.mean), logit = std::log(s.mean / (1 - s.mean));
  const double half = (s.interval->high - s.mean) / slope;
  s.interval = {logistic(logit - half), logistic(logit + half)};
  return s;
}

SeedSpread metric_spread(const MetricName& metric, std::span<const double> values) {
  return metric.may_be_negative ? seed_spread(values) : share_spread(values);
}

SeedSpread change_spread(const MetricName& metric, std::span<const double> before,
                         std::span<const double> after) {
  HONE_ASSERT(before.size() == after.size(), "{} seeds against {}", before.size(), after.size());
  std::vector<double> differences;
  for (std::size_t i = 0; i < before.size(); ++i) differences.push_back(after[i] - before[i]);
  SeedSpread s = seed_spread(differences);
  if (!s.interval) return s;
  const double mean_before = seed_spread(before).mean;
  s.interval->high = std::min(s.interval->high, 1 - mean_before);
  if (!metric.may_be_negative) s.interval->low = std::max(s.interval->low, -mean_before);
  return s;
}

std::optional<double> paired_t_test(std::span<const double> differences) {
  const SeedSpread s = seed_spread(differences);
  if (!s.interval) return std::nullopt;
  return student_two_sided(s.mean / (*s.deviation / std::sqrt(static_cast<double>(s.count))),
                           s.count - 1);
}

}  // namespace hone
