#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace hone {

/// What calibration saw of one tensor over all its batches: extremes, and how often which values came.
/// Memory does not grow with the number of values, and nothing depends on their order.
///
/// Up to `kExactValues` values are kept as they are. More are counted in bins: one holds the floats that
/// share sign, exponent and the first ten bits of the fraction, so its ends are within 1/1024 of
/// each other whatever the magnitudes are. A bin knows the exact mean of its values.
class Observation {
 public:
  static constexpr std::size_t kExactValues = 1 << 14;

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

  struct Range {
    float low = 0, high = 0;
  };
  /// The narrowest range with at most `outside` values below it and at most as many above. Where
  /// values are in bins it ends at the outer end of one: it holds what it has to, and may be wider by
  /// 1/1024 of its ends. `outside` is below half of the count.
  Range range_without(std::int64_t outside) const;
  /// The smallest magnitude that at least `share` of all are not above, in (0, 1]; that of the mean of
  /// its bin where values are in bins.
  float magnitude_quantile(double share) const;

  /// The observation as few values in rising order, `weights[i]` of each: the values, or the means of
  /// bins. A bin wider than `resolution` counts as several values spread over it.
  struct Summary {
    std::vector<float> values;
    std::vector<double> weights;
  };
  Summary summary(double resolution = std::numeric_limits<double>::infinity()) const;

  /// The same observation with other extremes, for choosing a range.
  Observation with_range(float low, float high) const;

  /// What it takes for values of both signs that span 32 powers of two; at most eight times that.
  static constexpr std::int64_t kBytes = 1 << 20;

 private:
  struct Bin {
    std::int64_t count = 0;
    std::int64_t dropped = 0;  // the bits that the bins leave out, added up
  };
  struct Values {
    std::vector<float> exact;                       // until there are too many
    std::array<std::vector<Bin>, 512> by_exponent;  // and sign; empty before anything was seen
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
  std::shared_ptr<Values>
      values_;  // copies share it until one sees more; null before anything was seen
};

}  // namespace hone
