#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/data/encoded_set.h"
#include "hone/formats/observation.h"
#include "hone/models/model_source.h"
#include "hone/report/figure.h"
#include "hone/report/table.h"

/// Statistics of the values that a model's layers read and write.
namespace hone {

/// Statistics of the values of one tensor. Memory does not grow with their number.
class ValueStatistics {
 public:
  /// Adds values, in any number of pieces; moments are merged piece by piece (Chan, Golub and LeVeque, "Updating
  /// formulae and a pairwise algorithm for computing sample variances", 1979). Values that are not finite are counted
  /// separately.
  void include(std::span<const float> values);

  const Observation& seen() const { return seen_; }  ///< extremes and quantiles
  std::int64_t count() const { return seen_.count(); }
  std::int64_t zeros() const { return zeros_; }  ///< of both signs
  double mean() const { return mean_; }
  /// Of the population; 0 without values.
  double standard_deviation() const;
  double zero_share() const;

  /// The number of values of one sign between two powers of two. Zero has its own bin, and so have the subnormals of
  /// both signs together.
  struct Bin {
    double low = 0, high = 0;  ///< the bound nearer to zero is inclusive: [1, 2), (-2, -1]
    std::int64_t count = 0;
  };
  /// Returns the bins from the lowest to the highest, without empty ones.
  std::vector<Bin> histogram() const;

 private:
  Observation seen_;
  std::int64_t zeros_ = 0;
  double mean_ = 0;
  double squares_ = 0;                           // sum of squared distances from the mean
  std::array<std::int64_t, 512> by_exponent_{};  // by sign and exponent; zeros too
};

/// One operand of a layer, or its output.
struct TensorStatistics {
  std::string layer;
  Operand operand = Operand::input;
  std::string tensor;  ///< the value read or written: after masks, thresholds and quantizers
  ValueStatistics values;

  std::int64_t count() const { return values.count(); }
  std::int64_t not_finite() const { return values.seen().not_finite(); }
  // None if no value is finite.
  std::optional<double> minimum() const;
  std::optional<double> maximum() const;
  std::optional<double> mean() const;
  std::optional<double> standard_deviation() const;
  std::optional<double> median_magnitude() const;
  std::optional<double> p999_magnitude() const;
  std::optional<double> max_magnitude() const;
  std::optional<double> zero_share() const;
};
const Fields& fields_of(const TensorStatistics*);

/// Measures the values that the layers matching the globs read and write, with the model's masks and formats. Weights
/// are measured once. Other values are measured over `texts` one by one, so that nothing is padded. Returns them in the
/// order of the graph. Empty `layers`: all that multiply with weights. Throws `UserError` for a glob without a match;
/// `Interrupted`.
std::vector<TensorStatistics> measure_statistics(const Model& model,
                                                 const std::vector<std::string>& layers,
                                                 const EncodedSet& texts, Context& context);

/// Returns a row for each tensor.
Table statistics_table(const std::vector<TensorStatistics>& all);
/// Returns a row for each bin of each tensor.
Table histogram_table(const std::vector<TensorStatistics>& all);
/// Draws the median, 99.9% and largest magnitude of every layer, with a panel for each kind of operand and the largest
/// values first.
Figure statistics_figure(const std::vector<TensorStatistics>& all, const std::string& title);

}  // namespace hone
