#include "hone/train/optimizer.h"

#include <algorithm>

namespace hone {

double linear_schedule(double learning_rate, std::int64_t step, std::int64_t steps,
                       std::int64_t warmup_steps) {
  if (step < warmup_steps)
    return learning_rate * static_cast<double>(step) / static_cast<double>(warmup_steps);
  const double left = static_cast<double>(std::max<std::int64_t>(0, steps - step));
  return learning_rate * left /
         static_cast<double>(std::max<std::int64_t>(1, steps - warmup_steps));
}

}  // namespace hone
