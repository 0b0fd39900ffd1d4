#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hone/search/distribution.h"
#include "hone/search/samplers/numeric_scale.h"
#include "hone/search/samplers/sampler_random.h"
#include "hone/search/samplers/tpe_profile.h"

/// Parzen estimators of TPE (Bergstra et al. 2011; Watanabe 2023, arXiv 2304.11127): a mixture with one kernel per
/// observation and one for the prior. Each kernel is a product over the parameters.
namespace hone {

/// Observations of one parameter, in the order of trials.
struct Observations {
  Distribution distribution;
  std::vector<double> places = {};           ///< numbers on their scale, or indices of choices
  std::vector<std::uint32_t> by_place = {};  ///< for numbers: `order_of(places, as_numpy)`
  bool as_numpy = false;
};

/// Returns the indices of `places` in ascending order. `as_numpy`: ties in the order of numpy's unstable sort;
/// otherwise stable.
std::vector<std::uint32_t> order_of(std::span<const double> places, bool as_numpy);

/// Returns the weights of `count` observations, oldest first: the last 25 have 1, those before rise to it from 1 /
/// count.
std::vector<double> trial_weights(std::size_t count);

class ParzenEstimator {
 public:
  /// `weights` are those of the observations, without the prior's; one per observation. `joint`: for joint draws,
  /// even of a single parameter.
  ParzenEstimator(std::vector<Observations> observations, std::vector<double> weights,
                  const TpeRules& rules, bool joint);

  /// Returns `count` points, by parameter: (parameters, count) internal values.
  std::vector<std::vector<double>> sample(std::size_t count, const UniformNumbers& numbers) const;
  /// Returns ln of the density, or mass, at points of that form.
  std::vector<double> log_density(const std::vector<std::vector<double>>& points) const;

  /// The factors of one parameter in the kernels, the prior's last.
  struct Kernels {
    Distribution distribution;
    NumericScale scale = {};
    bool discrete = false;  ///< values have masses, over an interval of one step
    std::vector<double> centres = {}, widths = {};  ///< for numbers, on their scale
    /// Logarithm of the divisor of each kernel's density: ln(σ √2π) and the mass within the bounds; for discrete
    /// values only that mass.
    std::vector<double> log_divisors = {};
    /// For discrete numbers and choices: equal kernels share a shape, so that their masses are computed once.
    std::vector<std::uint32_t> shape_of = {};
    std::vector<std::uint32_t> kernel_of_shape = {};  ///< one kernel of each shape
    std::vector<double> masses = {};  ///< for choices (shapes, choices), not logarithms
  };
  const std::vector<Kernels>& kernels() const { return kernels_; }
  /// Returns the weights, which sum to 1; the prior's is the last.
  const std::vector<double>& weights() const { return weights_; }

 private:
  std::vector<Kernels> kernels_;
  std::vector<double> weights_;
  TpeRules rules_;
};

}  // namespace hone
