#include "hone/formats/learned_scale.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/formats/groups.h"
#include "hone/kernels/row_loop.h"
#include "hone/kernels/scalar/scaled_integer.h"

namespace hone {

kernels::ScaledGrid learned_grid(float scale, float bound) {
  const scalar::ScaledGrid grid = scalar::learned_grid(scale, bound);
  return {grid.scale, grid.lowest, grid.highest};
}

double gradient_scale(std::int64_t elements, double bound) {
  return 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(elements, 1)) * bound);
}

void learned_scale_backward(const QuantizerInput& input, const Rows& groups, float bound,
                            ThreadPool& pool, std::span<const float> dy, std::span<float> dx,
                            Tensor& scale_gradient) {
  const std::span<const float> scales = input.state[0].values<float>();
  const std::span<float> gradients = scale_gradient.values<float>();
  const double pace = gradient_scale(groups.columns, bound);
  kernels::for_rows(pool, groups.count, groups.columns, [&](std::int64_t g) {
    const auto at = static_cast<std::size_t>(g);
    const double sum = kernels::round_to_grid_gradient(
        pool, learned_grid(scales[at], bound), groups.columns, group_of(input.x, groups, g).data(),
        group_of(dy, groups, g).data(), group_of(dx, groups, g).data());
    // The values depend on |s|.
    gradients[at] = static_cast<float>(std::signbit(scales[at]) ? -pace * sum : pace * sum);
  });
}

}  // namespace hone
