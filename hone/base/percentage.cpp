#include "hone/base/percentage.h"

#include <fmt/format.h>

#include <cmath>

namespace hone {
namespace {

std::string percentage(double share, int digits) {
  return std::isnan(share) ? "–" : percent_number(share, digits) + " %";
}

}  // namespace

std::string rounded_text(double value, int digits) {
  if (std::isinf(value)) return value > 0 ? "∞" : "-∞";
  const bool vanishes = value != 0 && std::abs(value) < 0.5 * std::pow(10.0, -digits);
  if (vanishes) return fmt::format("{:.1g}", value);
  return fmt::format("{:.{}f}", value, digits);
}

std::string percent_number(double share, int digits) { return rounded_text(100 * share, digits); }

std::string share_text(double share) { return percentage(share, kShareDigits); }

std::string flip_share_text(double share) { return percentage(share, kDifferenceDigits); }

std::string points_text(double difference) {
  if (std::isnan(difference)) return "–";
  // Of a whole number of hundredths, so that rounding leaves no sign on a zero.
  const double points = std::round(1e4 * difference) / 100 + 0.0;
  return fmt::format("{:+.{}f}", points, kDifferenceDigits);
}

}  // namespace hone
