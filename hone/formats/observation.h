#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace hone {

/// What calibration saw of one tensor over all its batches: extremes, and a histogram fine enough
/// for quantiles and expected errors. Memory does not grow with the number of samples.
///
/// A bin holds the floats that share sign, exponent and the first five bits of the fraction, so a
/// quantile is off by 1/64 of its value at most, whatever the magnitudes are.
class Observation {
 public:
  /// Adds finite values; infinities and NaN are counted apart.
  void include(std::span<const float> values);

  float minimum() const { return minimum_; }  ///< +infinity before anything was seen
  float maximum() const { return maximum_; }  ///< -infinity before anything was seen
  /// max(|minimum|, |maximum|), 0 before anything was seen.
  float magnitude() const;
  std::int64_t count() const { return count_; }
  std::int64_t not_finite() const { return not_finite_; }
  double mean_magnitude() const {
    return count_ == 0 ? 0 : sum_magnitude_ / static_cast<double>(count_);
  }

  /// The smallest value that at least `share` of all are not above; `share` in (0, 1].
  float quantile(double share) const;
  /// The same of the magnitudes.
  float magnitude_quantile(double share) const;

  /// The observation as few values, each standing for `weights[i]` samples: the middles of the
  /// bins, in rising order.
  struct Summary {
    std::vector<float> values;
    std::vector<double> weights;
  };
  Summary summary() const;

  /// The same observation with its extremes drawn in to [low, high]; for choosing a narrower range.
  Observation clipped(float low, float high) const;

  /// What it takes, whatever it has seen.
  static constexpr std::int64_t kBytes = 8 << 14;

 private:
  float minimum_ = std::numeric_limits<float>::infinity();
  float maximum_ = -std::numeric_limits<float>::infinity();
  std::int64_t count_ = 0;
  std::int64_t not_finite_ = 0;
  double sum_magnitude_ = 0;
  std::vector<std::int64_t> bins_;  // by the top bits of the float; empty before anything was seen
};

}  // namespace hone
