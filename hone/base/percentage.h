#pragma once

#include <span>
#include <string>

/// How shares read to people, by one rule wherever they stand: a share has one decimal of a percentage; a rough one,
/// such as the importance of a parameter, has none; what tells two models apart, a difference in points or a share of
/// predictions that differ, has two. What is not zero never reads as zero, and is not given more decimals than what it
/// stands beside: "< 0.01". Halves are rounded away from zero.
namespace hone {

inline constexpr int kShareDigits = 1;
inline constexpr int kRoughShareDigits = 0;
inline constexpr int kDifferenceDigits = 2;

/// "12.35"; "∞". `digits` decimals; where they would show a number that is not zero as zero, "< 0.01", "> -0.01".
std::string rounded_text(double value, int digits);

/// 0.878 as "87.8", for lists and ranges with one unit behind them.
std::string percent_number(double share, int digits = kShareDigits);

/// 0.878 as "87.8%"; "–" for a NaN.
std::string share_text(double share);
/// "83.5, 82.8, 83.1%"; "–" for what is not defined.
std::string shares_text(std::span<const double> shares, int digits = kShareDigits);
/// A share of predictions that differ: 0.0042 as "0.42%".
std::string flip_share_text(double share);
/// A difference of shares in points, with its sign: -0.0023 as "-0.23".
std::string points_text(double difference);

}  // namespace hone
