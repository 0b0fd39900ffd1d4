#pragma once

#include <span>
#include <vector>

#include "hone/report/figure.h"

/// The visible part of an axis and its ticks.
namespace hone {

struct AxisView {
  Range range;
  bool logarithmic = false;
  bool zero_at_low = false;  ///< the lower end of a logarithmic axis represents 0
  std::vector<Tick> ticks;

  /// Returns the position of `value` between low (0) and high (1).
  double fraction(double value) const;
  /// Returns the value at this position.
  double value(double fraction) const;
};

/// Returns the view of an axis that shows the finite ones of `values` with at most about `tick_count` ticks.
/// `with_zero`: zeros on a logarithmic axis are shown at its lower end. Throws `UserError` for an empty range or, on a
/// logarithmic axis, one that is not positive.
AxisView view_axis(const Axis& axis, std::span<const double> values, int tick_count,
                   bool with_zero);

/// Returns "0.25", "10,000", "−3" or "10⁻⁷".
std::string tick_text(double value);

}  // namespace hone
