#pragma once

#include <cstdint>
#include <span>

namespace hone {

/// The error of rounding values, accumulated over any number of pieces of a tensor.
struct Noise {
  std::int64_t count = 0;
  double signal = 0;         ///< Σ x²
  double noise = 0;          ///< Σ (y - x)²
  double sum = 0;            ///< Σ x
  std::int64_t flushed = 0;  ///< x ≠ 0, y = 0
  std::int64_t clipped = 0;  ///< beyond the largest or below the smallest y by more than half the
                             ///< step between that y and its neighbour
  float smallest_step = 0;   ///< the least |y| ≠ 0; 0 if there is none

  /// Adds a piece: x before and y after rounding, of the same size. Skips pairs with a NaN.
  void include(std::span<const float> x, std::span<const float> y);

  /// Returns 10 log10(signal / noise); infinite without noise, NaN without signal.
  double snr_db() const;
  double standard_deviation() const;
  double flushed_share() const;
  double clipped_share() const;
};

}  // namespace hone
