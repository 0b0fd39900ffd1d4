#pragma once
// Rounds values of a row to bytes with one scale.
#include "hone/kernels/scalar/scaled_integer.h"
#include "coded_rows.cuh"

namespace hone::cuda {

/// The largest magnitudes, as bits: of finite values, and of all.
struct Magnitudes {
  unsigned finite = 0, largest = 0;

  void take(float value) {
    const unsigned magnitude = scalar::magnitude_bits(value);
    largest = max(largest, magnitude);
    if (magnitude < scalar::kInfinityBits) finite = max(finite, magnitude);
  }
  bool has_nan() const { return largest > scalar::kInfinityBits; }
};

/// Returns the magnitudes of all threads of a row, which must all call it. `largest` returns the largest of a number of
/// each thread. Rows without infinities and NaN, the usual ones, need one such reduction.
template <typename Largest>
inline Magnitudes magnitudes_of_row(const Magnitudes& own, Largest&& largest) {
  const unsigned all = largest(own.largest);
  return {all < scalar::kInfinityBits ? all : largest(own.finite), all};
}

/// Returns the scale of a row with these magnitudes.
inline float scale_for(const CodeGrid& grid, const Magnitudes& seen) {
  return grid.scale != nullptr ? scalar::usable_scale(std::fabs(*grid.scale), grid.bound)
                               : scalar::usable_scale(scalar::float_of(seen.finite) / grid.bound, grid.bound);
}

/// Returns the code of a value. NaN has the code 0, and the scale of its row is NaN.
inline int code_of(const scalar::ScaledGrid& grid, float value) {
  const float whole = grid.whole(value);
  return whole == whole ? int(whole) : 0;
}

}  // namespace hone::cuda
