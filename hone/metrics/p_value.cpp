#include "hone/metrics/p_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hone {
namespace {

constexpr double kSmallestShown = 1e-300;

// Three decimals, or one digit of what those would not show.
std::string digits(double p_value) {
  return p_value < 0.0005 ? fmt::format("{:.0e}", p_value) : fmt::format("{:.3f}", p_value);
}

}  // namespace

std::string p_text(double p_value) {
  if (std::isnan(p_value)) return "–";
  return p_value < kSmallestShown ? "< 1e-300" : digits(p_value);
}

std::string p_relation(double p_value) {
  return p_value < kSmallestShown ? p_text(p_value) : "= " + p_text(p_value);
}

std::vector<double> holm_adjusted(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p_values[i]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double left = static_cast<double>(order.size() - i);
    largest = std::max(largest, std::min(1.0, left * p_values[order[i]]));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

}  // namespace hone
