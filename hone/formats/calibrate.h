#pragma once

#include <functional>

#include "hone/formats/format.h"

/// From what was observed of a tensor to the state its quantizer reads.
namespace hone {

/// Which range of the observed values a calibrated format should hold.
enum class RangeRule : std::uint8_t {
  minmax,      ///< all of them
  percentile,  ///< all but the outermost; see `CalibrationOptions::percentile`
  mse,         ///< the one with the least mean-squared error; see `state_of_least_error`
};

struct CalibrationOptions {
  RangeRule rule = RangeRule::minmax;
  /// At least this share of the values is inside the range, in percent: at most half of the rest lies below it, and at
  /// most half above. The range is the narrowest of that kind (see `Observation::range_without`), but all that was seen
  /// where only zeros would be inside.
  double percentile = 99.99;
};

/// "minmax", "percentile" or "mse". Throws `UserError` naming the nearest for another word.
RangeRule parse_range_rule(std::string_view text);

/// The state of a format for a tensor that was observed, with one row for state per row. None for formats without state.
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
