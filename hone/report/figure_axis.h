#pragma once

#include <span>
#include <vector>

#include "hone/report/figure.h"

/// Which part of an axis is seen and where its ticks stand.
namespace hone {

struct AxisView {
  Range range;
  bool logarithmic = false;
  bool zero_at_low = false;  ///< the lower end of a logarithmic axis stands for 0
  std::vector<Tick> ticks;

  /// Where `value` lies between low (0) and high (1).
  double fraction(double value) const;
  /// The value that lies there.
  double value(double fraction) const;
};

/// The view of an axis that shows `values` (those that are not finite do not count) with at most
/// about `tick_count` ticks. `with_zero`: zeros on a logarithmic axis get a place of their own at
/// its lower end. Throws `UserError` for a range that is empty or, on a logarithmic axis, not
/// positive.
AxisView view_axis(const Axis& axis, std::span<const double> values, int tick_count,
                   bool with_zero);

/// "0.25", "10,000", "−3", "10⁻⁷".
std::string tick_text(double value);

}  // namespace hone
