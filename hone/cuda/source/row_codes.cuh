#pragma once
// Values of a row rounded to bytes by one scale.
#include "hone/kernels/scalar/scaled_integer.h"
#include "coded_rows.cuh"

namespace hone::cuda {

/// Magnitudes that were seen, as bits: of finite values, and of all.
struct Magnitudes {
  unsigned finite = 0, largest = 0;

  void take(float value) {
    const unsigned magnitude = scalar::magnitude_bits(value);
    largest = max(largest, magnitude);
    if (magnitude < scalar::kInfinityBits) finite = max(finite, magnitude);
  }
  bool has_nan() const { return largest > scalar::kInfinityBits; }
};

/// Those of all threads of a row, which call this together. `largest`: makes the largest of theirs of a number of each. Rows without
/// infinities and NaN, the usual ones, take one such step.
template <typename Largest>
inline Magnitudes magnitudes_of_row(const Magnitudes& own, Largest&& largest) {
  const unsigned all = largest(own.largest);
  return {all < scalar::kInfinityBits ? all : largest(own.finite), all};
}

/// The scale of a row with these magnitudes.
inline float scale_for(const CodeGrid& grid, const Magnitudes& seen) {
  return grid.scale != nullptr ? scalar::usable_scale(std::fabs(*grid.scale), grid.bound)
                               : scalar::usable_scale(scalar::float_of(seen.finite) / grid.bound, grid.bound);
}

/// NaN has the code 0; the scale of its row is NaN.
inline int code_of(const scalar::ScaledGrid& grid, float value) {
  const float whole = grid.whole(value);
  return whole == whole ? int(whole) : 0;
}

}  // namespace hone::cuda
