#include "hone/formats/calibrate.h"

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/formats/range_rule_names.h"

namespace hone {
namespace {

constexpr int kNarrowerRanges = 100;
constexpr double kNarrowing = 0.96;

// The state of several groups: tensors per row get a leading axis, the others are those of the
// first (and only) group.
std::vector<Tensor> stacked(const std::vector<FormatStateDef>& defs,
                            const std::vector<std::vector<Tensor>>& groups) {
  std::vector<Tensor> stack;
  for (std::size_t s = 0; s < defs.size(); ++s) {
    if (!defs[s].per_row) {
      stack.push_back(groups[0][s]);
      continue;
    }
    Sizes sizes = defs[s].sizes;
    sizes.insert(sizes.begin(), static_cast<std::int64_t>(groups.size()));
    Tensor all = Tensor::empty(DType::f32, sizes);
    auto at = all.values<float>().begin();
    for (const std::vector<Tensor>& group : groups)
      at = std::ranges::copy(group[s].values<float>(), at).out;
    stack.push_back(all);
  }
  return stack;
}

// Mean-squared error of one group's values in the format with a given state.
double error_of(const Format& format, const Observation::Summary& summary,
                const std::vector<Tensor>& state) {
  const Sizes sizes = {static_cast<std::int64_t>(summary.values.size())};
  const std::vector<Tensor> row = stacked(states_of(format), {state});
  std::vector<float> y(summary.values.size());
  format.def->quantize_reference({format, sizes, summary.values, row}, y);
  double error = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double difference = static_cast<double>(y[i]) - summary.values[i];
    error += summary.weights[i] * difference * difference;
  }
  return error;
}

std::vector<Tensor> with_least_error(const Format& format, const Observation& seen) {
  const Observation::Summary summary = seen.summary();
  std::vector<Tensor> best = format.def->calibrate(format, seen);
  if (summary.values.empty()) return best;
  double least = error_of(format, summary, best), scale = 1;
  for (int i = 0; i < kNarrowerRanges; ++i) {
    scale *= kNarrowing;
    const Observation narrower = seen.clipped(static_cast<float>(scale * seen.minimum()),
                                              static_cast<float>(scale * seen.maximum()));
    std::vector<Tensor> state = format.def->calibrate(format, narrower);
    const double error = error_of(format, summary, state);
    if (error < least) {
      least = error;
      best = std::move(state);
    }
  }
  return best;
}

std::vector<Tensor> with_percentile(const Format& format, const Observation& seen,
                                    double percentile) {
  if (seen.count() == 0) return format.def->calibrate(format, seen);
  const double outside = (1 - percentile / 100) / 2;
  return format.def->calibrate(format,
                               seen.clipped(outside > 0 ? seen.quantile(outside) : seen.minimum(),
                                            seen.quantile(1 - outside)));
}

std::vector<Tensor> calibrate_group(const Format& format, const Observation& seen,
                                    const CalibrationOptions& options) {
  switch (options.rule) {
    case RangeRule::minmax:
      return format.def->calibrate(format, seen);
    case RangeRule::percentile:
      return with_percentile(format, seen, options.percentile);
    case RangeRule::mse:
      return with_least_error(format, seen);
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

std::vector<Tensor> calibrate_tensor(const Format& format, const Sizes& sizes,
                                     std::span<const float> x, const CalibrationOptions& options,
                                     const std::function<void(const Observation&)>& look) {
  const std::vector<FormatStateDef> defs = states_of(format);
  if (defs.empty() && !look) return {};
  check(options);
  const Rows rows =
      observes_rows(format) ? rows_of(sizes) : Rows{1, static_cast<std::int64_t>(x.size())};
  const auto columns = static_cast<std::size_t>(rows.columns);
  std::vector<std::vector<Tensor>> states;
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows.count); ++row) {
    Observation seen;
    seen.include(x.subspan(row * columns, columns));
    if (look) look(seen);
    if (!defs.empty()) states.push_back(calibrate_group(format, seen, options));
  }
  return defs.empty() ? std::vector<Tensor>() : stacked(defs, states);
}

}  // namespace hone
