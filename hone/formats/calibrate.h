#pragma once

#include <functional>

#include "hone/formats/format.h"

/// From what was observed of a tensor to the state its quantizer reads.
namespace hone {

/// Which range of the observed values a calibrated format should hold.
enum class RangeRule : std::uint8_t {
  minmax,      ///< all of them
  percentile,  ///< all but the outermost; see `CalibrationOptions::percentile`
  mse,         ///< the one with the least mean-squared error
};

struct CalibrationOptions {
  RangeRule rule = RangeRule::minmax;
  /// Share of the values inside the range, in percent; the rest is cut off at both ends alike.
  double percentile = 99.99;
};

/// "minmax", "percentile" or "mse". Throws `UserError` naming the nearest for another word.
RangeRule parse_range_rule(std::string_view text);

/// The state of a format for a tensor that was observed, with one row for state per row. None for formats without state.
///
/// The least mean-squared error is searched among the range itself and 100 narrower ones, each 4 %
/// below the one before, on the histogram of the observation.
std::vector<Tensor> calibrate(const Format& format, const Observation& seen,
                              const CalibrationOptions& options = {});

/// Whether any of the format's state is per row, so that rows must be observed apart.
bool observes_rows(const Format& format);

/// The state for a tensor whose values are all there, observed one group after the other: a row's observation is as large as
/// many rows. `look` sees each.
std::vector<Tensor> calibrate_tensor(const Format& format, const Sizes& sizes,
                                     std::span<const float> x,
                                     const CalibrationOptions& options = {},
                                     const std::function<void(const Observation&)>& look = {});

}  // namespace hone
