#include "hone/report/figure_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {
namespace {

// Room between the outermost values and the ends of the axis, as a share of its length.
constexpr double kPadding = 0.05;

std::vector<double> usable(const Axis& axis, std::span<const double> values) {
  std::vector<double> result;
  for (double value : values) {
    if (std::isfinite(value) && (!axis.logarithmic || value > 0)) result.push_back(value);
  }
  return result;
}

Range padded_linear(double low, double high) {
  // Values that differ only in their last bits count as one: no tick would fit between them.
  if (high - low <= 1e-12 * std::max(std::abs(low), std::abs(high)))
    return {low - std::max(std::abs(low) * kPadding, 1e-9),
            high + std::max(std::abs(high) * kPadding, 1e-9)};
  const double room = kPadding * (high - low);
  // Values that cannot be negative (shares, times, counts) get no room below zero.
  return {low >= 0 && low < room ? 0 : low - room, high + room};
}

Range padded_logarithmic(double low, double high) {
  const double room = std::max(kPadding * std::log10(high / low), 0.05);
  return {low * std::pow(10, -room), high * std::pow(10, room)};
}

Range check_range(const Axis& axis) {
  const Range range = *axis.range;
  user_check(range.low < range.high && (!axis.logarithmic || range.low > 0),
             "figure: axis '{}' cannot show the range {} to {}{}", axis.label, range.low,
             range.high,
             axis.logarithmic ? "; a logarithmic axis needs 0 < low < high"
                              : "; low must be less than high");
  return range;
}

std::vector<Tick> multiples(Range range, double step) {
  std::vector<Tick> ticks;
  // In a range this small for its numbers, adding a step does not change them.
  if (range.low + step == range.low || range.high - step == range.high) return ticks;
  const double slack = 1e-9 * step;
  for (double i = std::ceil((range.low - slack) / step); i * step <= range.high + slack; ++i) {
    ticks.push_back({i * step, tick_text(i * step)});
  }
  return ticks;
}

// Returns multiples of 1, 2 or 5 times a power of ten, at most about `count` of them, at least `closest` apart. A
// single tick gives no scale; then the next smaller step is used.
std::vector<Tick> linear_ticks(Range range, int count, double closest = 0) {
  const double least = std::max(closest, (range.high - range.low) / count);
  const double power = std::pow(10, std::floor(std::log10(least)));
  constexpr double kSteps[] = {0.5, 1, 2, 5, 10};
  const double* const step =
      std::find_if(kSteps + 1, kSteps + 4, [&](double factor) { return factor * power >= least; });
  const double smaller = *std::prev(step) * power;
  std::vector<Tick> ticks = multiples(range, *step * power);
  return ticks.size() < 2 && smaller >= closest ? multiples(range, smaller) : ticks;
}

// Returns powers of ten, all or every n-th; over less than two decades also their multiples by 2 and 5.
std::vector<Tick> logarithmic_ticks(Range range, int count) {
  const int first = static_cast<int>(std::floor(std::log10(range.low)));
  const int last = static_cast<int>(std::ceil(std::log10(range.high)));
  const int every = std::max(1, (last - first + count - 1) / count);
  const bool few = std::log10(range.high / range.low) < 2;
  std::vector<Tick> ticks;
  for (int exponent = first; exponent <= last; ++exponent) {
    if (exponent % every != 0) continue;
    for (double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10, exponent);
      if ((factor == 1 || few) && range.low <= value && value <= range.high)
        ticks.push_back({value, tick_text(value)});
    }
  }
  // If the range contains hardly any of these, uses round values like a linear axis.
  constexpr std::size_t kMin = 3;
  return ticks.size() < kMin ? linear_ticks(range, count) : ticks;
}

bool is_whole_number(double value) { return value == std::floor(value); }

std::vector<Tick> ticks_of(const Axis& axis, const AxisView& view, std::span<const double> shown,
                           int count) {
  if (!axis.ticks.empty()) return axis.ticks;
  if (view.logarithmic) return logarithmic_ticks(view.range, count);
  const bool all_whole = !shown.empty() && std::ranges::all_of(shown, is_whole_number);
  if (!all_whole && !axis.whole_ticks) return linear_ticks(view.range, count);
  std::vector<Tick> ticks = linear_ticks(view.range, count, /*closest=*/1);
  return all_whole || ticks.size() > 1 ? ticks : linear_ticks(view.range, count);
}

}  // namespace

double AxisView::fraction(double value) const {
  if (!logarithmic) return (value - range.low) / (range.high - range.low);
  if (value == 0 && zero_at_low) return 0;
  return std::log(value / range.low) / std::log(range.high / range.low);
}

double AxisView::value(double fraction) const {
  if (!logarithmic) return range.low + fraction * (range.high - range.low);
  return range.low * std::pow(range.high / range.low, fraction);
}

AxisView view_axis(const Axis& axis, std::span<const double> values, int tick_count,
                   bool with_zero) {
  AxisView view;
  view.logarithmic = axis.logarithmic;
  const std::vector<double> shown = usable(axis, values);
  if (axis.range) {
    view.range = check_range(axis);
  } else if (shown.empty()) {
    view.range = axis.logarithmic ? Range{0.1, 10} : Range{0, 1};
  } else {
    const auto [low, high] = std::ranges::minmax(shown);
    view.range = axis.logarithmic ? padded_logarithmic(low, high) : padded_linear(low, high);
  }
  const bool zeros =
      axis.logarithmic && with_zero && std::ranges::find(values, 0.0) != values.end();
  if (zeros && !axis.range) {
    // Spans at least a decade; otherwise tiny values would look as far from 0 as from all others. The axis starts far
    // enough below the smallest value to separate its tick from that of 0.
    view.range.low = std::min(view.range.low, view.range.high / 10);
    view.range.low /= std::pow(view.range.high / view.range.low, 0.15);
    view.zero_at_low = true;
  }
  view.ticks = ticks_of(axis, view, shown, tick_count);
  if (view.zero_at_low) {
    std::erase_if(view.ticks, [&](const Tick& tick) { return view.fraction(tick.value) < 0.08; });
    view.ticks.insert(view.ticks.begin(), {view.range.low, "0"});
  }
  return view;
}

std::string tick_text(double value) {
  if (value == 0) return "0";
  const std::string sign = value < 0 ? "−" : "";
  const double size = std::abs(value);
  if (size >= 1e-4 && size < 1e7) {
    const double rounded = std::round(size);
    return sign + (std::abs(size - rounded) < 1e-9 * size ? grouped(std::llround(size))
                                                          : fmt::format("{:.10g}", size));
  }
  const int exponent = static_cast<int>(std::floor(std::log10(size) + 1e-9));
  const double mantissa = size / std::pow(10, exponent);
  constexpr std::string_view kSuperscripts[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string power = exponent < 0 ? "10⁻" : "10";
  for (char digit : std::to_string(std::abs(exponent))) power += kSuperscripts[digit - '0'];
  return sign + (std::abs(mantissa - 1) < 1e-6 ? power : fmt::format("{:g}·{}", mantissa, power));
}

}  // namespace hone
