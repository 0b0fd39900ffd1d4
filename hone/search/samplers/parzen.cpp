#include "hone/search/samplers/parzen.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

#include "hone/base/error.h"
#include "hone/search/truncated_normal.h"

namespace hone {
namespace {

using Kernels = ParzenEstimator::Kernels;

// Sorts as numpy's introsort does on CPUs without wide vectors: quicksort with the median of three down to 16
// elements, then insertion sort.
void sort_as_numpy(std::span<std::uint32_t> items, std::span<const double> keys) {
  const auto less = [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; };
  std::size_t low = 0, high = items.size();
  while (high - low > 16) {
    const std::size_t first = low, last = high - 1, middle = first + (last - first) / 2;
    if (less(items[middle], items[first])) std::swap(items[middle], items[first]);
    if (less(items[last], items[middle])) std::swap(items[last], items[middle]);
    if (less(items[middle], items[first])) std::swap(items[middle], items[first]);
    const std::uint32_t pivot = items[middle];
    std::swap(items[middle], items[last - 1]);
    std::size_t i = first, j = last - 1;
    for (;;) {
      do ++i;
      while (less(items[i], pivot));
      do --j;
      while (less(pivot, items[j]));
      if (i >= j) break;
      std::swap(items[i], items[j]);
    }
    std::swap(items[i], items[last - 1]);
    sort_as_numpy(items.subspan(low, i - low), keys);
    low = i + 1;
  }
  std::stable_sort(items.begin() + static_cast<std::ptrdiff_t>(low),
                   items.begin() + static_cast<std::ptrdiff_t>(high), less);
}

// Returns the larger of the gaps to both neighbours, including the bounds; for the outermost the inner gap.
std::vector<double> widths_by_gaps(const Observations& observed, const NumericScale& scale,
                                   bool prior_in_gaps) {
  std::vector<double> places = observed.places;
  std::vector<std::uint32_t> order = observed.by_place;
  const std::size_t count = places.size();
  if (prior_in_gaps) {
    places.push_back((scale.low + scale.high) / 2);
    if (observed.as_numpy) {
      order = order_of(places, true);
    } else {  // after equal ones, because the prior is the last
      const auto behind =
          std::upper_bound(order.begin(), order.end(), places.back(),
                           [&](double place, std::uint32_t i) { return place < places[i]; });
      order.insert(behind, static_cast<std::uint32_t>(count));
    }
  }
  std::vector<double> widths(places.size());
  const std::size_t last = order.size() - 1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double here = places[order[i]];
    const double left = here - (i == 0 ? scale.low : places[order[i - 1]]);
    const double right = (i == last ? scale.high : places[order[i + 1]]) - here;
    double& width = widths[order[i]];
    width = std::max(left, right);
    if (order.size() < 2) continue;
    if (i == 0) width = right;
    if (i == last) width = left;
  }
  widths.resize(count);
  return widths;
}

Kernels choice_kernels(const Observations& observed) {
  const std::size_t choices = observed.distribution.choices.size();
  const std::size_t count = observed.places.size();
  Kernels kernels{.distribution = observed.distribution, .discrete = true};
  // One shape per choice, and one for the prior.
  const double share = 1 / (static_cast<double>(count) + 1);
  const double whole = 1 + share * static_cast<double>(choices);
  kernels.masses.assign((choices + 1) * choices, 1 / static_cast<double>(choices));
  for (std::size_t shape = 0; shape < choices; ++shape)
    for (std::size_t c = 0; c < choices; ++c)
      kernels.masses[shape * choices + c] = (share + (shape == c ? 1 : 0)) / whole;
  for (const double place : observed.places)
    kernels.shape_of.push_back(static_cast<std::uint32_t>(place));
  kernels.shape_of.push_back(static_cast<std::uint32_t>(choices));
  return kernels;
}

// Assigns a shape to equal neighbours in the order of centres, including the prior.
void number_shapes(Kernels& kernels, std::span<const std::uint32_t> by_place) {
  kernels.shape_of.resize(kernels.centres.size());
  for (const std::uint32_t kernel : by_place) {
    const bool same = !kernels.kernel_of_shape.empty() &&
                      kernels.centres[kernels.kernel_of_shape.back()] == kernels.centres[kernel] &&
                      kernels.widths[kernels.kernel_of_shape.back()] == kernels.widths[kernel];
    if (!same) kernels.kernel_of_shape.push_back(kernel);
    kernels.shape_of[kernel] = static_cast<std::uint32_t>(kernels.kernel_of_shape.size()) - 1;
  }
  const auto prior = static_cast<std::uint32_t>(kernels.centres.size()) - 1;
  kernels.kernel_of_shape.push_back(prior);
  kernels.shape_of[prior] = static_cast<std::uint32_t>(kernels.kernel_of_shape.size()) - 1;
}

void set_divisors(Kernels& kernels, bool density_by_width) {
  kernels.log_divisors.resize(kernels.centres.size());
  double width = 0, log_width = 0;
  for (std::size_t i = 0; i < kernels.centres.size(); ++i) {
    if (kernels.widths[i] != width) {  // most have the smallest
      width = kernels.widths[i];
      log_width = std::log(width);
    }
    const double a = (kernels.scale.low - kernels.centres[i]) / width;
    const double b = (kernels.scale.high - kernels.centres[i]) / width;
    // The mass beyond 8.5 widths is below the rounding error of 1.
    const double mass = a < -8.5 && b > 8.5 ? 0 : log_normal_mass(a, b);
    kernels.log_divisors[i] =
        kernels.discrete ? mass : mass + kHalfLogTwoPi + (density_by_width ? log_width : 0);
  }
}

Kernels number_kernels(Observations& observed, const TpeRules& rules, bool joint,
                       std::size_t parameters) {
  const NumericScale scale = scale_of(observed.distribution);
  const auto count = static_cast<double>(observed.places.size());
  Kernels kernels{.distribution = observed.distribution, .scale = scale};
  kernels.discrete =
      observed.distribution.step.has_value() && (!scale.logarithmic || rules.steps_of_logarithms);
  if (joint && rules.scott) {
    const double exponent = -1 / (static_cast<double>(parameters) + 4);
    kernels.widths.assign(observed.places.size(),
                          0.2 * std::pow(std::max(count, 1.0), exponent) * scale.width());
  } else {
    kernels.widths = widths_by_gaps(observed, scale, rules.prior_in_gaps);
  }
  const double least = scale.width() / std::min(100.0, count + 2);
  for (double& width : kernels.widths) width = std::clamp(width, least, scale.width());
  kernels.widths.push_back(scale.width());
  kernels.centres = std::move(observed.places);
  kernels.centres.push_back((scale.low + scale.high) / 2);
  if (kernels.discrete) number_shapes(kernels, observed.by_place);
  set_divisors(kernels, rules.density_by_width);
  return kernels;
}

double draw_number(const Kernels& kernels, std::size_t kernel, double q) {
  const double centre = kernels.centres[kernel], width = kernels.widths[kernel];
  const double place =
      centre + width * truncated_normal_quantile(q, (kernels.scale.low - centre) / width,
                                                 (kernels.scale.high - centre) / width);
  return kernels.scale.from_scale(place, kernels.distribution);
}

double draw_choice(const Kernels& kernels, std::size_t kernel, double u) {
  const std::size_t choices = kernels.distribution.choices.size();
  const double* masses = &kernels.masses[kernels.shape_of[kernel] * choices];
  double sum = 0;
  std::size_t choice = 0;
  while (choice + 1 < choices && (sum += masses[choice]) < u) ++choice;
  return static_cast<double>(choice);
}

// Returns ln of each shape's mass at one value.
std::vector<double> log_masses(const Kernels& kernels, double value, const TpeRules& rules) {
  std::vector<double> result;
  if (kernels.distribution.kind == DistributionKind::categorical) {
    const std::size_t choices = kernels.distribution.choices.size();
    for (std::size_t at = static_cast<std::size_t>(value); at < kernels.masses.size();
         at += choices)
      result.push_back(std::log(kernels.masses[at]));
    return result;
  }
  const double half = *kernels.distribution.step / 2;
  double low = kernels.scale.to_scale(value - half), high = kernels.scale.to_scale(value + half);
  if (rules.clipped_steps) {
    low = std::max(low, kernels.scale.low);
    high = std::min(high, kernels.scale.high);
  }
  result.reserve(kernels.kernel_of_shape.size());
  for (const std::uint32_t i : kernels.kernel_of_shape)
    result.push_back(log_normal_mass((low - kernels.centres[i]) / kernels.widths[i],
                                     (high - kernels.centres[i]) / kernels.widths[i]) -
                     kernels.log_divisors[i]);
  return result;
}

// Sums the weights of the kernels of each shape, for a mixture of a single parameter.
std::vector<double> weights_of_shapes(const Kernels& kernels, std::span<const double> weights) {
  std::vector<double> sums;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (kernels.shape_of[i] >= sums.size()) sums.resize(kernels.shape_of[i] + 1);
    sums[kernels.shape_of[i]] += weights[i];
  }
  return sums;
}

// Adds to `logs` the log densities of a parameter's continuous kernels at `place`.
void add_densities(const Kernels& kernels, std::span<const double> inverse_widths, double place,
                   std::span<double> logs) {
  const double* const centres = kernels.centres.data();
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const double z = (place - centres[i]) * inverse_widths[i];
    logs[i] -= 0.5 * (z * z);
  }
}

}  // namespace

std::vector<std::uint32_t> order_of(std::span<const double> places, bool as_numpy) {
  std::vector<std::uint32_t> order(places.size());
  std::iota(order.begin(), order.end(), 0u);
  if (as_numpy) {
    sort_as_numpy(order, places);
  } else {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return places[a] < places[b]; });
  }
  return order;
}

std::vector<double> trial_weights(std::size_t count) {
  constexpr std::size_t kRecent = 25;
  std::vector<double> weights(count, 1.0);
  if (count <= kRecent) return weights;
  const std::size_t old = count - kRecent;
  const double first = 1 / static_cast<double>(count);
  const double step = old == 1 ? 0 : (1 - first) / static_cast<double>(old - 1);
  for (std::size_t i = 0; i < old; ++i) weights[i] = first + static_cast<double>(i) * step;
  return weights;
}

ParzenEstimator::ParzenEstimator(std::vector<Observations> observations,
                                 std::vector<double> weights, const TpeRules& rules, bool joint)
    : weights_(std::move(weights)), rules_(rules) {
  weights_.push_back(1);
  const double sum = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  for (double& weight : weights_) weight /= sum;
  for (Observations& observed : observations) {
    HONE_ASSERT(observed.places.size() + 1 == weights_.size(), "{} observations, {} weights",
                observed.places.size(), weights_.size() - 1);
    kernels_.push_back(observed.distribution.kind == DistributionKind::categorical
                           ? choice_kernels(observed)
                           : number_kernels(observed, rules, joint, observations.size()));
  }
}

std::vector<std::vector<double>> ParzenEstimator::sample(std::size_t count,
                                                         const UniformNumbers& numbers) const {
  std::vector<double> sums(weights_.size());
  std::partial_sum(weights_.begin(), weights_.end(), sums.begin());
  std::vector<std::size_t> chosen(count);
  for (std::size_t& kernel : chosen) {
    const auto found = std::upper_bound(sums.begin(), sums.end() - 1, numbers() * sums.back());
    kernel = static_cast<std::size_t>(found - sums.begin());
  }
  std::vector<std::vector<double>> points(kernels_.size(), std::vector<double>(count));
  const auto draw = [&](std::size_t parameter) {
    const Kernels& kernels = kernels_[parameter];
    const auto draw_one =
        kernels.distribution.kind == DistributionKind::categorical ? draw_choice : draw_number;
    for (std::size_t i = 0; i < count; ++i)
      points[parameter][i] = draw_one(kernels, chosen[i], numbers());
  };
  // In order, or all choices before all numbers.
  for (const bool of_choices : {true, false})
    for (std::size_t p = 0; p < kernels_.size(); ++p) {
      const bool is_choice = kernels_[p].distribution.kind == DistributionKind::categorical;
      if (rules_.choices_first ? is_choice == of_choices : of_choices) draw(p);
    }
  return points;
}

std::vector<double> ParzenEstimator::log_density(
    const std::vector<std::vector<double>>& points) const {
  const bool by_shapes = kernels_.size() == 1 && kernels_[0].discrete;
  std::vector<double> base = by_shapes ? weights_of_shapes(kernels_[0], weights_) : weights_;
  for (double& weight : base) weight = std::log(weight);
  std::vector<std::vector<double>> inverse_widths(kernels_.size());
  for (std::size_t p = 0; p < kernels_.size(); ++p) {
    if (kernels_[p].discrete) continue;
    for (std::size_t i = 0; i < base.size(); ++i) {
      base[i] -= kernels_[p].log_divisors[i];
      inverse_widths[p].push_back(1 / kernels_[p].widths[i]);
    }
  }
  std::vector<std::map<double, std::vector<double>>> masses(kernels_.size());  // by value
  std::vector<double> result, logs;
  for (std::size_t point = 0; point < points[0].size(); ++point) {
    logs = base;
    for (std::size_t p = 0; p < kernels_.size(); ++p) {
      const Kernels& kernels = kernels_[p];
      const double value = points[p][point];
      if (!kernels.discrete) {
        add_densities(kernels, inverse_widths[p], kernels.scale.to_scale(value), logs);
        continue;
      }
      auto found = masses[p].find(value);
      if (found == masses[p].end())
        found = masses[p].emplace(value, log_masses(kernels, value, rules_)).first;
      const std::vector<double>& by_shape = found->second;
      for (std::size_t i = 0; i < logs.size(); ++i)
        logs[i] += by_shape[by_shapes ? i : kernels.shape_of[i]];
    }
    result.push_back(log_sum_exp(logs));
  }
  return result;
}

}  // namespace hone
