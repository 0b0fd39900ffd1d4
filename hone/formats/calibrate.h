#pragma once

#include <functional>

#include "hone/formats/format.h"

/// Computes the state of a quantizer from observations of its tensor.
namespace hone {

/// The range of the observed values that a calibrated format represents.
enum class RangeRule : std::uint8_t {
  minmax,      ///< all values
  percentile,  ///< all but the outermost values; see `CalibrationOptions::percentile`
  mse,         ///< the range with the least mean squared error; see `state_of_least_error`
};

struct CalibrationOptions {
  RangeRule rule = RangeRule::minmax;
  /// The minimum percentage of values inside the range: at most half of the rest is below it, and at most half above.
  /// The range is the narrowest of that kind (see `Observation::range_without`), or the full observed range if only
  /// zeros would be inside.
  double percentile = 99.99;
};

/// Parses "minmax", "percentile" or "mse". Throws `UserError` with the nearest name for other words.
RangeRule parse_range_rule(std::string_view text);

/// Returns the state of a format for an observed tensor, with one row for per-row state; empty for formats without
/// state.
std::vector<Tensor> calibrate(const Format& format, const Observation& seen,
                              const CalibrationOptions& options = {});

/// Returns whether any state of the format is per row, so that rows must be observed separately.
bool observes_rows(const Format& format);

/// Returns the state for a tensor whose values are all available. It observes one group at a time, because the
/// observation of one row takes as much memory as many rows. `on_observation` is called with each observation.
std::vector<Tensor> calibrate_tensor(
    const Format& format, const Sizes& sizes, std::span<const float> x,
    const CalibrationOptions& options = {},
    const std::function<void(const Observation&)>& on_observation = {});

}  // namespace hone
