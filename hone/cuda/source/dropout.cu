// Dropout. A thread processes four adjacent elements of a row. y may be x.
#include "dropout.cuh"

extern "C" __global__ void dropout(const __grid_constant__ Drops drops, const VALUE* x, VALUE* y,
                                   std::int64_t groups, std::int64_t groups_per_row, int aligned) {
  const std::int64_t i = thread_number();
  if (i >= groups) return;
  const std::int64_t row = quotient(i, groups_per_row), column = (i - row * groups_per_row) * 4;
  const std::int64_t at = row * drops.length + column;
  const Pack<float, 4> factors =
      four_factors(drops, drops.random(), drops.first_word(row) + column);
  // Infinite values are dropped to 0, too.
  const auto dropped = [](VALUE value, float factor) {
    return from_float<VALUE>(factor != 0 ? to_float(value) * factor : 0.0f);
  };
  if (aligned && column + 4 <= drops.length) {
    Pack<VALUE, 4> values = *reinterpret_cast<const Pack<VALUE, 4>*>(x + at);
#pragma unroll
    for (int k = 0; k < 4; ++k) values.at[k] = dropped(values.at[k], factors.at[k]);
    *reinterpret_cast<Pack<VALUE, 4>*>(y + at) = values;
  } else {
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (column + k < drops.length) y[at + k] = dropped(x[at + k], factors.at[k]);
  }
}
