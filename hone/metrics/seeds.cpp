#include "hone/metrics/seeds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "hone/base/error.h"

namespace hone {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

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
  double low = 0, high = 13;  // 12.71 is that of one degree
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (student_two_sided(middle, degrees) > 0.05 ? low : high) = middle;
  }
  return (low + high) / 2;
}

SeedSpread seed_spread(std::span<const double> values) {
  HONE_ASSERT(!values.empty(), "the spread of nothing");
  SeedSpread result;
  result.count = static_cast<std::int64_t>(values.size());
  result.least = std::ranges::min(values);
  result.greatest = std::ranges::max(values);
  const double count = static_cast<double>(values.size());
  for (const double value : values) result.mean += value / count;
  if (values.size() < 2) {
    result.deviation = kUnknown;
    result.interval = {-HUGE_VAL, HUGE_VAL};
    return result;
  }
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.deviation = std::sqrt(squares / (count - 1));
  const double half = student_975(result.count - 1) * result.deviation / std::sqrt(count);
  result.interval = {result.mean - half, result.mean + half};
  return result;
}

double paired_t_test(std::span<const double> differences) {
  if (differences.size() < 2) return kUnknown;
  const SeedSpread s = seed_spread(differences);
  if (s.deviation == 0) return s.mean == 0 ? 1 : 0;
  return student_two_sided(s.mean / (s.deviation / std::sqrt(static_cast<double>(s.count))),
                           s.count - 1);
}

}  // namespace hone
