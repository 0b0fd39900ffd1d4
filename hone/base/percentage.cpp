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

}  // namespace

std::string rounded_text(double value, int digits) {
  if (std::isinf(value)) return value > 0 ? "∞" : "-∞";
  const double least = std::pow(10.0, -digits);
  const bool vanishes = value != 0 && std::abs(value) < 0.5 * least;
  if (vanishes)
    return value > 0 ? fmt::format("< {:.{}f}", least, digits)
                     : fmt::format("> -{:.{}f}", least, digits);
  return fmt::format("{:.{}f}", value, digits);
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
  // Of a whole number of hundredths, so that rounding leaves no sign on a zero.
  const double points = std::round(1e4 * difference) / 100 + 0.0;
  return fmt::format("{:+.{}f}", points, kDifferenceDigits);
}

}  // namespace hone
