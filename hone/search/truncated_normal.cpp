#include "hone/search/truncated_normal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace hone {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

// −x²/2 − ln(−x) − ½ ln 2π + ln(1 − x⁻² + 3x⁻⁴ − 15x⁻⁶ …)
double log_cdf_far_below(double x) {
  double sum = 1, term = 1;
  for (int i = 1; i < 20; ++i) {
    term *= -(2 * i - 1) / (x * x);
    sum += term;
    if (std::abs(term) < std::numeric_limits<double>::epsilon()) break;
  }
  return -0.5 * x * x - std::log(-x) - kHalfLogTwoPi + std::log(sum);
}

// ln(e^a − e^b) for a ≥ b.
double log_difference(double a, double b) { return a + std::log1p(-std::exp(b - a)); }

// Returns the x ≤ 0 with ln Φ(x) = y, y ≤ ln ½: a rational approximation (Abramowitz, Stegun 26.2.23; error at most
// 4.5e-4), then Newton steps on ln Φ, which is smooth and concave, so that each squares the error.
double lower_quantile(double y) {
  const double t = std::sqrt(-2 * y);
  double x = -(t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                       (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
  for (int i = 0; i < 50; ++i) {
    const double log_cdf = log_normal_cdf(x);
    const double log_slope = -0.5 * x * x - kHalfLogTwoPi - log_cdf;
    const double step = (log_cdf - y) * std::exp(-log_slope);
    x -= step;
    if (std::abs(step) <= 1e-9 * std::max(1.0, std::abs(x))) break;
  }
  return x;
}

// Returns the x with ln Φ(x) = y.
double log_quantile(double y) {
  if (y <= -std::numbers::ln2) return lower_quantile(y);
  if (y >= 0) return kInfinity;
  return -lower_quantile(std::log(-std::expm1(y)));
}

}  // namespace

double log_normal_cdf(double x) {
  if (x > 0) return std::log1p(-normal_cdf(-x));
  if (x > -20) return std::log(normal_cdf(x));
  return log_cdf_far_below(x);
}

double log_normal_mass(double a, double b) {
  if (!(a < b)) return -kInfinity;
  if (b <= 0) return log_difference(log_normal_cdf(b), log_normal_cdf(a));
  if (a > 0) return log_difference(log_normal_cdf(-a), log_normal_cdf(-b));
  return std::log1p(-normal_cdf(a) - normal_cdf(-b));
}

double truncated_normal_quantile(double q, double a, double b) {
  if (q <= 0) return a;
  if (q >= 1) return b;
  const double mass = log_normal_mass(a, b);
  const double x = a < 0 ? log_quantile(log_add(log_normal_cdf(a), std::log(q) + mass))
                         : -log_quantile(log_add(log_normal_cdf(-b), std::log1p(-q) + mass));
  return std::clamp(x, a, b);
}

double log_add(double a, double b) {
  const double high = std::max(a, b), low = std::min(a, b);
  return high == -kInfinity ? high : high + std::log1p(std::exp(low - high));
}

double log_sum_exp(std::span<const double> logs) {
  constexpr double kNothing = 50;
  double high = -kInfinity;
  for (const double x : logs) high = std::max(high, x);
  if (high == -kInfinity) return high;
  double sum = 0;
  for (const double x : logs)
    if (x - high > -kNothing) sum += std::exp(x - high);
  return high + std::log(sum);
}

}  // namespace hone
