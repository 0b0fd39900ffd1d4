#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hone/search/distribution.h"
#include "hone/search/samplers/numeric_scale.h"
#include "hone/search/samplers/sampler_random.h"
#include "hone/search/samplers/tpe_profile.h"

/// Parzen estimators of TPE (Bergstra et al. 2011; Watanabe 2023, arXiv 2304.11127): a mixture with one kernel for each
/// observation and one for the prior, each the product of a kernel of every parameter.
namespace hone {

/// What was observed of one parameter, in the order of trials.
struct Observations {
  Distribution distribution;
  std::vector<double> places = {};           ///< numbers on their scale, or indices of choices
  std::vector<std::uint32_t> by_place = {};  ///< of numbers: `order_of(places, as_numpy)`
  bool as_numpy = false;
};

/// Indices of `places` in rising order. `as_numpy`: equal ones in the order in which numpy's plain sort leaves them, otherwise the
/// first first.
std::vector<std::uint32_t> order_of(std::span<const double> places, bool as_numpy);

/// Weights of so many observations, the oldest first: the last 25 have 1, those before rise to it from 1 / count.
std::vector<double> trial_weights(std::size_t count);

class ParzenEstimator {
 public:
  /// `weights` of the observations, without the prior's; as many as each parameter has observations. `joint`: for a draw of
  /// parameters together, though it were of one.
  ParzenEstimator(std::vector<Observations> observations, std::vector<double> weights,
                  const TpeRules& rules, bool joint);

  /// `count` points, by parameter: (parameters, count) internal values.
  std::vector<std::vector<double>> sample(std::size_t count, const UniformNumbers& numbers) const;
  /// ln of the density, or mass, at points of that form.
  std::vector<double> log_density(const std::vector<std::vector<double>>& points) const;

  /// What one parameter's part of the kernels is, the prior's last.
  struct Kernels {
    Distribution distribution;
    NumericScale scale = {};
    bool discrete = false;  ///< values have masses, of an interval as wide as a step
    std::vector<double> centres = {}, widths = {};  ///< of numbers, on their scale
    /// What each kernel's density is divided by, as a logarithm: ln(σ √2π) and the mass within the bounds, of discrete ones that mass.
    std::vector<double> log_divisors = {};
    /// Equal kernels share a number, so that their masses are computed once; of discrete numbers and choices.
    std::vector<std::uint32_t> shape_of = {};
    std::vector<std::uint32_t> kernel_of_shape = {};  ///< one that has it
    std::vector<double> masses = {};  ///< of choices (shapes, choices), not logarithms
  };
  const std::vector<Kernels>& kernels() const { return kernels_; }
  /// Sum 1, the prior's last.
  const std::vector<double>& weights() const { return weights_; }

 private:
  std::vector<Kernels> kernels_;
  std::vector<double> weights_;
  TpeRules rules_;
};

}  // namespace hone
