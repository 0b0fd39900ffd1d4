#include "hone/jobs/call_series.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {
namespace {

constexpr std::size_t kFewestForP95 = 20;
constexpr double kOnePercent = 0.01;
constexpr double kNormalQuartiles = 1.349;

double sum_of_calls(const std::vector<double>& values, std::size_t begin, std::size_t count) {
  HONE_ASSERT(begin + count <= values.size() && count > 0, "{} of {} values from {} on", count,
              values.size(), begin);
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
  return std::accumulate(first, first + static_cast<std::ptrdiff_t>(count), 0.0);
}

// Returns the smallest value with at least a share q of all values at or below it.
double quantile_of_sorted(std::span<const double> sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

std::optional<std::int64_t> calls_to_one_percent(const CallSummary& summary) {
  if (!summary.median_interval) return std::nullopt;
  const double half = std::max(summary.median_interval->high - summary.median_ms,
                               summary.median_ms - summary.median_interval->low);
  const double times = half / (kOnePercent * summary.median_ms);
  if (times <= 1) return std::nullopt;
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(summary.calls) * times * times));
}

// Empty: never.
std::optional<std::int64_t> call_of(double extra, double second_extra, double gain) {
  const double all = extra + second_extra;
  // The second call ends no later, so only the first output decides.
  if (gain >= 0 && all <= gain) return extra <= 0 ? 1 : 2;
  if (gain <= 0) return std::nullopt;
  const double call = 1 + std::ceil(all / gain);
  return call < static_cast<double>(kMostRounds) ? std::optional(static_cast<std::int64_t>(call))
                                                 : std::nullopt;
}

}  // namespace

double CallSeries::preparation_ms() const {
  double sum = 0;
  for (const StageTime& stage : stages) sum += stage.ms;
  return sum;
}

double CallSeries::mean_ms(std::size_t n, std::size_t ignored) const {
  return sum_of_calls(calls_ms, ignored, n) / static_cast<double>(n);
}

double CallSeries::mean_with_preparation_ms(std::size_t n) const {
  return (preparation_ms() + sum_of_calls(calls_ms, 0, n)) / static_cast<double>(n);
}

std::vector<double> CallSeries::cumulative_ms() const {
  std::vector<double> all;
  double sum = preparation_ms();
  for (const double call : calls_ms) all.push_back(sum += call);
  return all;
}

const Fields& fields_of(const StageTime*) {
  using S = StageTime;
  static const Fields fields = describe<S>(
      "stage_time", "A stage of the preparation.", field<&S::name>("stage", "Its name."),
      field<&S::ms>("ms", Unit::milliseconds, "Time that it took."));
  return fields;
}

const Fields& fields_of(const CallSeries*) {
  using C = CallSeries;
  static const Fields fields =
      describe<C>("call_series", "Calls of one executor in one process, one after the other.",
                  field<&C::stages>("stages", "Preparation, stage by stage."),
                  field<&C::calls_ms>("calls_ms", Unit::milliseconds, "Each call."));
  return fields;
}

CallSummary summary_of(const CallSeries& series, std::size_t ignored) {
  HONE_ASSERT(ignored < series.calls_ms.size(), "all of {} calls are ignored",
              series.calls_ms.size());
  std::vector<double> sorted(series.calls_ms.begin() + static_cast<std::ptrdiff_t>(ignored),
                             series.calls_ms.end());
  std::ranges::sort(sorted);
  CallSummary summary{
      .calls = sorted.size(), .min_ms = sorted.front(), .median_ms = median_of_sorted(sorted)};
  if (sorted.size() >= kFewestForMedianInterval) summary.median_interval = median_interval(sorted);
  if (sorted.size() >= kFewestForP95) summary.p95_ms = quantile_of_sorted(sorted, 0.95);
  summary.calls_for_one_percent = calls_to_one_percent(summary);
  return summary;
}

std::optional<Interval> phases_of(const CallSeries& series, std::size_t ignored) {
  constexpr std::size_t kStretches = 5, kMin = 20;
  const std::span<const double> calls = std::span(series.calls_ms).subspan(ignored);
  if (calls.size() < kMin) return std::nullopt;
  std::vector<double> medians;
  for (std::size_t i = 0; i < kStretches; ++i) {
    const std::size_t begin = calls.size() * i / kStretches,
                      end = calls.size() * (i + 1) / kStretches;
    std::vector<double> stretch(calls.begin() + static_cast<std::ptrdiff_t>(begin),
                                calls.begin() + static_cast<std::ptrdiff_t>(end));
    std::ranges::sort(stretch);
    medians.push_back(median_of_sorted(stretch));
  }
  const auto [least, greatest] = std::ranges::minmax(medians);
  if (greatest <= kMaxPhaseRatio * least) return std::nullopt;
  return Interval{least, greatest};
}

std::optional<std::int64_t> rounds_to_detect(std::span<const double> before_ms,
                                             std::span<const double> after_ms) {
  HONE_ASSERT(before_ms.size() == after_ms.size() && before_ms.size() >= kFewestForMedianInterval,
              "{} and {} rounds", before_ms.size(), after_ms.size());
  std::vector<double> logs;
  for (std::size_t i = 0; i < before_ms.size(); ++i)
    logs.push_back(std::log(before_ms[i] / after_ms[i]));
  std::ranges::sort(logs);
  const double sigma =
      (quantile_of_sorted(logs, 0.75) - quantile_of_sorted(logs, 0.25)) / kNormalQuartiles;
  const double distance = std::abs(median_of_sorted(logs));
  const double rounds =
      std::numbers::pi / 2 * std::pow((kNormal975 + kNormal80) * sigma / distance, 2);
  if (!(rounds <= static_cast<double>(kMostRounds))) return std::nullopt;
  return std::max(static_cast<std::int64_t>(std::ceil(rounds)),
                  static_cast<std::int64_t>(kFewestForMedianInterval));
}

BreakEven break_even(const ValueWithInterval& extra_ms, double second_extra_ms,
                     const ValueWithInterval& gain_ms) {
  return {.call = call_of(extra_ms.value, second_extra_ms, gain_ms.value),
          .low = call_of(extra_ms.low, second_extra_ms, gain_ms.high).value_or(kMostRounds),
          .high = call_of(extra_ms.high, second_extra_ms, gain_ms.low)};
}

std::string break_even_text(const BreakEven& even) {
  if (!even.call) return "never in these measurements";
  std::string from = *even.call == 1 ? "from the first call on"
                                     : fmt::format("from call {} on", grouped(*even.call));
  if (even.high == even.call && even.low == *even.call) return from;
  return even.high ? fmt::format("{} ({} to {})", from, grouped(even.low), grouped(*even.high))
                   : fmt::format("{} ({} at the earliest, perhaps never)", from, grouped(even.low));
}

}  // namespace hone
