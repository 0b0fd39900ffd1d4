#pragma once

#include <span>
#include <string>

/// Formats shares by one rule: a share has one decimal of a percentage; a rough one, such as a parameter's importance,
/// has none; differences between models, in points or as a share of changed predictions, have two. A nonzero value
/// never prints as zero; it prints as "< 0.01" with the usual number of decimals. Halves are rounded away from zero.
namespace hone {

inline constexpr int kShareDigits = 1;
inline constexpr int kRoughShareDigits = 0;
inline constexpr int kDifferenceDigits = 2;

/// Returns "12.35" or "∞", with `digits` decimals; "< 0.01" or "> -0.01" if a nonzero number would round to zero.
std::string rounded_text(double value, int digits);

/// Returns "87.8" for 0.878, for lists and ranges that share one unit.
std::string percent_number(double share, int digits = kShareDigits);

/// Returns "87.8%" for 0.878; "–" for NaN.
std::string share_text(double share);
/// Returns "83.5, 82.8, 83.1%"; "–" for NaN.
std::string shares_text(std::span<const double> shares, int digits = kShareDigits);
/// Returns a share of changed predictions: "0.42%" for 0.0042.
std::string flip_share_text(double share);
/// Returns a difference of shares in points, with its sign: "-0.23" for -0.0023.
std::string points_text(double difference);

}  // namespace hone
