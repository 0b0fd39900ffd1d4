#include "hone/formats/calibrate.h"

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/formats/least_error.h"
#include "hone/formats/range_rule_names.h"

namespace hone {
namespace {

std::vector<Tensor> with_percentile(const Format& format, const Observation& seen,
                                    double percentile) {
  if (seen.count() == 0) return format.def->calibrate(format, seen);
  const double cut = (100 - percentile) / 200 * static_cast<double>(seen.count());
  constexpr double kRounding = 1e-9;  // so that 99.9% of 2,000 values excludes one at each end
  const auto outside =
      std::min(static_cast<std::int64_t>(std::floor(cut + kRounding)), (seen.count() - 1) / 2);
  const Observation::Range range = seen.range_without(outside);
  // A range of only zero would map all remaining values to zero.
  if (range.low == 0 && range.high == 0) return format.def->calibrate(format, seen);
  return format.def->calibrate(format, seen.with_range(range.low, range.high));
}

std::vector<Tensor> calibrate_group(const Format& format, const Observation& seen,
                                    const CalibrationOptions& options) {
  switch (options.rule) {
    case RangeRule::minmax:
      return format.def->calibrate(format, seen);
    case RangeRule::percentile:
      return with_percentile(format, seen, options.percentile);
    case RangeRule::mse:
      return state_of_least_error(format, seen);
  }
  HONE_ASSERT(false, "range rule {}", static_cast<int>(options.rule));
}

void check(const CalibrationOptions& options) {
  user_check(options.percentile > 0 && options.percentile <= 100,
             "percentile: expected more than 0 and at most 100, got {}", options.percentile);
}

}  // namespace

const std::vector<std::string>& range_rule_names() {
  static const std::vector<std::string> names = {"minmax", "percentile", "mse"};
  return names;
}

RangeRule parse_range_rule(std::string_view text) {
  const std::vector<std::string>& words = range_rule_names();
  const auto found = std::ranges::find(words, text);
  user_check(found != words.end(), "calibration '{}': expected {}{}", text, fmt::join(words, ", "),
             did_you_mean(text, words));
  return static_cast<RangeRule>(found - words.begin());
}

std::vector<Tensor> calibrate(const Format& format, const Observation& seen,
                              const CalibrationOptions& options) {
  if (states_of(format).empty()) return {};
  check(options);
  return stacked(states_of(format), {calibrate_group(format, seen, options)});
}

bool observes_rows(const Format& format) {
  return std::ranges::any_of(states_of(format), &FormatStateDef::per_row);
}

std::vector<Tensor> calibrate_tensor(
    const Format& format, const Sizes& sizes, std::span<const float> x,
    const CalibrationOptions& options,
    const std::function<void(const Observation&)>& on_observation) {
  const std::vector<FormatStateDef> defs = states_of(format);
  if (defs.empty() && !on_observation) return {};
  check(options);
  const Rows rows =
      observes_rows(format) ? rows_of(sizes) : Rows{1, static_cast<std::int64_t>(x.size())};
  const auto columns = static_cast<std::size_t>(rows.columns);
  std::vector<std::vector<Tensor>> states;
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows.count); ++row) {
    Observation seen;
    seen.include(x.subspan(row * columns, columns));
    if (on_observation) on_observation(seen);
    if (!defs.empty()) states.push_back(calibrate_group(format, seen, options));
  }
  return defs.empty() ? std::vector<Tensor>() : stacked(defs, states);
}

}  // namespace hone
