#pragma once

#include <span>

/// The standard normal distribution in logarithms, whole or truncated to an interval, with double accuracy in both
/// tails.
namespace hone {

inline constexpr double kHalfLogTwoPi = 0.91893853320467274178;

/// Returns ln Φ(x).
double log_normal_cdf(double x);
/// Returns ln(Φ(b) − Φ(a)), the mass of [a, b]. -inf if a ≥ b.
double log_normal_mass(double a, double b);
/// Returns the x in [a, b] below which the share `q` (0 … 1) of the mass of [a, b] lies.
double truncated_normal_quantile(double q, double a, double b);

/// Returns ln(e^a + e^b).
double log_add(double a, double b);
/// Returns ln Σ e^x; -inf for no terms. Terms e^50 times smaller than the largest are omitted: a million of them are
/// 2e-16 of it.
double log_sum_exp(std::span<const double> logs);

}  // namespace hone
