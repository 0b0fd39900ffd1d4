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

/// What the values are like that the layers of a model read and give.
namespace hone {

/// What was seen of the values of one tensor. Memory does not grow with their number.
class ValueStatistics {
 public:
  /// Adds values, in any number of pieces; moments are merged piece by piece (Chan, Golub and LeVeque, "Updating formulae
  /// and a pairwise algorithm for computing sample variances", 1979). Values that are not finite are counted apart.
  void include(std::span<const float> values);

  const Observation& seen() const { return seen_; }  ///< extremes and quantiles
  std::int64_t count() const { return seen_.count(); }
  std::int64_t zeros() const { return zeros_; }  ///< of both signs
  double mean() const { return mean_; }
  /// Of the population; 0 before anything was seen.
  double standard_deviation() const;
  double zero_share() const;

  /// So many values between two powers of two of one sign. Zero is a bin of its own, and so is, for each sign, what is too
  /// small for a normal float.
  struct Bin {
    double low = 0, high = 0;  ///< towards zero the end belongs to it: [1, 2), (-2, -1]
    std::int64_t count = 0;
  };
  /// From the lowest to the highest, without those that are empty.
  std::vector<Bin> histogram() const;

 private:
  Observation seen_;
  std::int64_t zeros_ = 0;
  double mean_ = 0;
  double squares_ = 0;                           // of distances from the mean, added up
  std::array<std::int64_t, 512> by_exponent_{};  // by sign and exponent; zeros too
};

/// One operand of a layer, or its output.
struct TensorStatistics {
  std::string layer;
  Operand operand = Operand::input;
  std::string tensor;  ///< the value that is read or given: behind masks, thresholds and quantizers
  ValueStatistics values;

  std::int64_t count() const { return values.count(); }
  std::int64_t not_finite() const { return values.seen().not_finite(); }
  // Nothing where no value is finite.
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

/// Looks at what the layers that the globs name read and give, as the model stands: masked and quantized where it is. Weights
/// are looked at once, values over `texts` one after the other, so that nothing is padding. In the order of the graph.
/// Empty `layers`: all that multiply with weights. Throws `UserError` for a glob that names none; `Interrupted`.
std::vector<TensorStatistics> measure_statistics(const Model& model,
                                                 const std::vector<std::string>& layers,
                                                 const EncodedSet& texts, Context& context);

/// A row for each of them.
Table statistics_table(const std::vector<TensorStatistics>& all);
/// A row for each bin of each of them.
Table histogram_table(const std::vector<TensorStatistics>& all);
/// Median, 99.9% and largest magnitude of every layer, a panel for each kind of operand, and the largest values first.
Figure statistics_figure(const std::vector<TensorStatistics>& all, const std::string& title);

}  // namespace hone
