#include "hone/base/percentage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <vector>

namespace hone {
namespace {

std::string percentage(double share, int digits) {
  return std::isnan(share) ? "–" : percent_number(share, digits) + "%";
}

// Rounds halves away from zero. Tolerates rounding errors of halves, so that a difference of two shares and the same
// difference from counts print alike.
double rounded(double value, int digits) {
  const double scale = std::pow(10.0, digits), lost = 1e-9;
  const double scaled = std::abs(value) * scale;
  if (!(scaled < 1e12)) return value;
  return std::copysign(std::floor(scaled + 0.5 + lost) / scale, value);
}

}  // namespace

std::string rounded_text(double value, int digits) {
  if (std::isinf(value)) return value > 0 ? "∞" : "-∞";
  const double least = std::pow(10.0, -digits);
  const double shown = rounded(value, digits);
  const bool vanishes = value != 0 && shown == 0;
  if (vanishes)
    return value > 0 ? fmt::format("< {:.{}f}", least, digits)
                     : fmt::format("> -{:.{}f}", least, digits);
  return fmt::format("{:.{}f}", shown, digits);
}

std::string percent_number(double share, int digits) { return rounded_text(100 * share, digits); }

std::string share_text(double share) { return percentage(share, kShareDigits); }

std::string shares_text(std::span<const double> shares, int digits) {
  std::vector<std::string> texts;
  for (const double share : shares)
    texts.push_back(std::isnan(share) ? "–" : percent_number(share, digits));
  return fmt::format("{}%", fmt::join(texts, ", "));
}

std::string flip_share_text(double share) { return percentage(share, kDifferenceDigits); }

std::string points_text(double difference) {
  if (std::isnan(difference)) return "–";
  const double points = rounded(100 * difference, kDifferenceDigits);
  return fmt::format("{:+.{}f}", points + 0.0, kDifferenceDigits);  // no sign on a zero
}

}  // namespace hone
