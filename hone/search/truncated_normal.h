#pragma once

#include <span>

/// The standard normal distribution by logarithms, whole and cut to an interval, as accurate as doubles in either tail.
namespace hone {

inline constexpr double kHalfLogTwoPi = 0.91893853320467274178;

/// ln Φ(x).
double log_normal_cdf(double x);
/// ln(Φ(b) − Φ(a)), the mass of [a, b]. -inf where a ≥ b.
double log_normal_mass(double a, double b);
/// The x in [a, b] below which the share `q` (0 … 1) of the mass of [a, b] lies.
double truncated_normal_quantile(double q, double a, double b);

/// ln(e^a + e^b).
double log_add(double a, double b);
/// ln Σ e^x; -inf for none. Terms that are e^50 times smaller than the largest are left out: a million of them are 2e-16 of it.
double log_sum_exp(std::span<const double> logs);

}  // namespace hone
