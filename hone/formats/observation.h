#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace hone {

/// Statistics of one tensor over all calibration batches: extremes and a histogram. Memory does not grow with the
/// number of values, and the result does not depend on their order.
///
/// Up to `kExactValues` values are stored exactly. More are counted in bins: each bin holds the floats with the same
/// sign, exponent and first ten fraction bits, so its ends are within 1/1024 of each other at any magnitude. A bin has
/// the exact mean of its values.
class Observation {
 public:
  static constexpr std::size_t kExactValues = 1 << 14;

  /// Adds finite values; infinities and NaN are only counted.
  void include(std::span<const float> values);

  float minimum() const { return minimum_; }  ///< +infinity before any value
  float maximum() const { return maximum_; }  ///< -infinity before any value
  /// max(|minimum|, |maximum|), 0 before any value.
  float magnitude() const;
  std::int64_t count() const { return count_; }
  std::int64_t not_finite() const { return not_finite_; }
  double mean_magnitude() const {
    return count_ == 0 ? 0 : sum_magnitude_ / static_cast<double>(count_);
  }

  struct Range {
    float low = 0, high = 0;
  };
  /// Returns the narrowest range with at most `outside` values below it and at most as many above. If values are in
  /// bins, it ends at the outer end of a bin, so it may be wider by 1/1024 of its ends. `outside` is below half of the
  /// count.
  Range range_without(std::int64_t outside) const;
  /// Returns the smallest magnitude that is at least as large as `share`, in (0, 1], of all magnitudes. If values are
  /// in bins, these are the bins' means.
  float magnitude_quantile(double share) const;

  /// The observation as few values in rising order, with `weights[i]` occurrences each: the values, or the means of
  /// bins. A bin wider than `resolution` is split into several values spread over it.
  struct Summary {
    std::vector<float> values;
    std::vector<double> weights;
  };
  Summary summary(double resolution = std::numeric_limits<double>::infinity()) const;

  /// Returns the same observation with other extremes, for choosing a range.
  Observation with_range(float low, float high) const;

  /// The memory for values of both signs that span 32 powers of two; the maximum is eight times that.
  static constexpr std::int64_t kBytes = 1 << 20;

 private:
  struct Bin {
    std::int64_t count = 0;
    std::int64_t dropped = 0;  // sum of the fraction bits that the bins drop
  };
  struct Values {
    std::vector<float> exact;                       // until there are too many
    std::array<std::vector<Bin>, 512> by_exponent;  // and sign; empty before any value
    bool binned = false;

    void include(float value);
    void count(float value);
  };
  // Equal values, or the values of a bin, in rising order.
  struct Group {
    float low = 0, high = 0;
    double mean = 0;
    std::int64_t count = 0;
  };
  std::vector<Group> groups() const;
  static Group group_of(std::size_t block, std::size_t index, const Bin& bin);

  float minimum_ = std::numeric_limits<float>::infinity();
  float maximum_ = -std::numeric_limits<float>::infinity();
  std::int64_t count_ = 0;
  std::int64_t not_finite_ = 0;
  double sum_magnitude_ = 0;
  std::shared_ptr<Values> values_;  // shared by copies until one changes; null before any value
};

}  // namespace hone
