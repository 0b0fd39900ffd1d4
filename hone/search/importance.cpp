#include "hone/search/importance.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "hone/search/samplers/non_domination.h"
#include "hone/search/truncated_normal.h"

namespace hone {
namespace {

using Trials = std::vector<const Trial*>;

constexpr std::size_t kMostPlaces = 50;
constexpr double kLeastDensity = 1e-12;
constexpr std::size_t kLeastTrials = 2;  // with one distribution; fewer are ignored

Trials usable_trials(const StudyView& study) {
  Trials trials;
  for (const Trial* trial : study.trials)
    if (trial->state == TrialState::complete &&
        std::ranges::all_of(trial->values, [](double value) { return std::isfinite(value); }))
      trials.push_back(trial);
  return trials;
}

LossVectors losses_of(const StudyView& study, const Trials& trials) {
  LossVectors losses;
  for (const Trial* trial : trials) {
    std::vector<double> loss;
    for (std::size_t i = 0; i < study.directions.size(); ++i)
      loss.push_back(loss_of(trial->values[i], study.directions[i]));
    losses.push_back(std::move(loss));
  }
  return losses;
}

// Marks the best tenth, rounded up; with one objective, including ties with the last of them.
std::vector<bool> best_tenth(const StudyView& study, const Trials& trials) {
  const LossVectors losses = losses_of(study, trials);
  const auto count = static_cast<std::size_t>(std::ceil(0.1 * static_cast<double>(trials.size())));
  if (study.has_several_objectives()) return best_by_rank(losses, count);
  std::vector<double> sorted;
  for (const std::vector<double>& loss : losses) sorted.push_back(loss[0]);
  std::ranges::nth_element(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(count - 1));
  std::vector<bool> best;
  for (const std::vector<double>& loss : losses) best.push_back(loss[0] <= sorted[count - 1]);
  return best;
}

// Returns the number of grid points for the values: one per value if there are few, and one per choice.
std::size_t places_of(const Distribution& distribution) {
  if (distribution.kind == DistributionKind::categorical) return distribution.choices.size();
  const double range = distribution.high - distribution.low;
  double places = static_cast<double>(kMostPlaces);
  if (distribution.logarithmic) {
    if (distribution.kind == DistributionKind::integer)
      places = std::min(places, std::ceil(std::log(range + 1) / std::numbers::ln2) + 1);
  } else if (distribution.step) {
    places = std::min(places, std::nearbyint(range / *distribution.step) + 1);
  }
  return static_cast<std::size_t>(places);
}

// Returns the number of trials at each grid point; halves round down.
std::vector<double> counts_of(const std::string& name, const Distribution& distribution,
                              const Trials& trials) {
  const std::size_t places = places_of(distribution);
  std::vector<double> counts(places);
  const auto scaled = [&](double value) {
    return distribution.logarithmic ? std::log(value) : value;
  };
  const double low = scaled(distribution.low);
  const double step = (scaled(distribution.high) - low) / (static_cast<double>(places) - 1);
  for (const Trial* trial : trials) {
    const double value = trial->parameter(name)->value;
    const double place = distribution.kind == DistributionKind::categorical
                             ? value
                             : std::ceil((scaled(value) - low) / step - 0.5);
    ++counts[static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(places) - 1))];
  }
  return counts;
}

/// The grid points of trials, and the number of trials at each.
struct Observed {
  std::vector<double> places, weights;
  double count = 0;
};

Observed observed_of(const std::vector<double>& counts) {
  Observed observed;
  for (std::size_t place = 0; place < counts.size(); ++place)
    if (counts[place] > 0) {
      observed.places.push_back(static_cast<double>(place));
      observed.weights.push_back(counts[place]);
      observed.count += counts[place];
    }
  return observed;
}

// Scott's rule (Multivariate Density Estimation, 1992), with the smaller of standard deviation and scaled
// interquartile range. At its minimum, 90% of a kernel stays within one grid point.
double bandwidth_of(const Observed& observed) {
  constexpr double kMin = 0.5 / 1.64;
  double sum = 0, square = 0;
  for (std::size_t i = 0; i < observed.places.size(); ++i)
    sum += observed.places[i] * observed.weights[i];
  const double mean = sum / observed.count;
  for (std::size_t i = 0; i < observed.places.size(); ++i)
    square += (observed.places[i] - mean) * (observed.places[i] - mean) * observed.weights[i];
  const double deviation = std::sqrt(square / std::max(1.0, observed.count - 1));
  const double first = std::floor(observed.count / 4), third = std::floor(observed.count * 3 / 4);
  double below = 0, low = observed.places.back(), high = observed.places.back();
  bool has_low = false, has_high = false;
  for (std::size_t i = 0; i < observed.places.size(); ++i) {
    below += observed.weights[i];
    if (!has_low && below >= first) low = observed.places[i], has_low = true;
    if (!has_high && below > third) high = observed.places[i], has_high = true;
  }
  return std::max(
      kMin, 1.059 * std::min((high - low) / 1.34, deviation) * std::pow(observed.count, -0.2));
}

// Returns the mass of each grid point in a mixture of one kernel per trial and a prior with the weight of one trial.
std::vector<double> masses_of_numbers(const Observed& observed, std::size_t places) {
  const double last = static_cast<double>(places) - 1;
  const double bandwidth = bandwidth_of(observed), all = observed.count + 1;
  std::vector<double> masses(places);
  const auto add = [&](double centre, double width, double weight) {
    const double whole = log_normal_mass((-0.5 - centre) / width, (last + 0.5 - centre) / width);
    for (std::size_t place = 0; place < places; ++place) {
      const double x = static_cast<double>(place) - centre;
      masses[place] +=
          weight * std::exp(log_normal_mass((x - 0.5) / width, (x + 0.5) / width) - whole);
    }
  };
  for (std::size_t i = 0; i < observed.places.size(); ++i)
    add(observed.places[i], bandwidth, observed.weights[i] / all);
  add(last / 2, last + 1, 1 / all);
  return masses;
}

// Each observed choice is a kernel that also gives some mass to the others.
std::vector<double> masses_of_choices(const Observed& observed, std::size_t choices) {
  const double kernels = static_cast<double>(observed.places.size()) + 1;
  const double count = static_cast<double>(choices), all = observed.count + 1;
  const double each = 1 / kernels, whole = 1 + count * each;
  std::vector<double> masses(choices, 1 / count / all);
  for (std::size_t i = 0; i < observed.places.size(); ++i) {
    const double weight = observed.weights[i] / all;
    for (double& mass : masses) mass += weight * each / whole;
    masses[static_cast<std::size_t>(observed.places[i])] += weight / whole;
  }
  return masses;
}

std::vector<double> masses_of(const std::string& name, const Distribution& distribution,
                              const Trials& trials) {
  const std::vector<double> counts = counts_of(name, distribution, trials);
  std::vector<double> masses = distribution.kind == DistributionKind::categorical
                                   ? masses_of_choices(observed_of(counts), counts.size())
                                   : masses_of_numbers(observed_of(counts), counts.size());
  for (double& mass : masses) mass += kLeastDensity;
  return masses;
}

// Returns Pearson's χ² divergence of the masses of the best trials from those of all.
double divergence(const std::string& name, const Distribution& distribution, const Trials& best,
                  const Trials& all) {
  const std::vector<double> top = masses_of(name, distribution, best),
                            whole = masses_of(name, distribution, all);
  double sum = 0;
  for (std::size_t i = 0; i < top.size(); ++i) {
    const double ratio = top[i] / whole[i] - 1;
    sum += whole[i] * ratio * ratio;
  }
  return sum;
}

/// Trials that have a parameter with one distribution, and the best among them.
struct Regime {
  Distribution distribution;
  Trials all = {}, best = {};
};

std::vector<Regime> regimes_of(const std::string& name, const Trials& trials,
                               const std::vector<bool>& is_best) {
  std::vector<Regime> regimes;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const TrialParameter* parameter = trials[i]->parameter(name);
    if (parameter == nullptr) continue;
    auto regime = std::ranges::find(regimes, parameter->distribution, &Regime::distribution);
    if (regime == regimes.end())
      regime = regimes.insert(regime, {.distribution = parameter->distribution});
    regime->all.push_back(trials[i]);
    if (is_best[i]) regime->best.push_back(trials[i]);
  }
  std::erase_if(regimes, [](const Regime& regime) {
    return regime.all.size() < kLeastTrials || regime.best.empty() || regime.distribution.single();
  });
  return regimes;
}

}  // namespace

const Fields& fields_of(const ParameterImportance*) {
  using P = ParameterImportance;
  static const Fields fields = describe<P>(
      "parameter_importance", "How much a parameter distinguishes the best trials from the others.",
      field<&P::name>("name", "The parameter."),
      field<&P::share>("importance", Unit::share,
                       "Its share of the importance of all parameters."));
  return fields;
}

std::vector<ParameterImportance> parameter_importances(const StudyView& study) {
  const Trials trials = usable_trials(study);
  std::set<std::string> names;
  for (const Trial* trial : trials)
    for (const TrialParameter& parameter : trial->parameters) names.insert(parameter.name);
  std::vector<ParameterImportance> importances;
  for (const std::string& name : names) importances.push_back({.name = name});
  if (trials.size() > 1) {
    const std::vector<bool> is_best = best_tenth(study, trials);
    const auto all = static_cast<double>(trials.size()),
               best = static_cast<double>(std::ranges::count(is_best, true));
    for (ParameterImportance& importance : importances)
      for (const Regime& regime : regimes_of(importance.name, trials, is_best)) {
        const double share = static_cast<double>(regime.best.size()) / best;
        importance.share +=
            share * share / (static_cast<double>(regime.all.size()) / all) *
            divergence(importance.name, regime.distribution, regime.best, regime.all);
      }
  }
  double sum = 0;
  for (const ParameterImportance& importance : importances) sum += importance.share;
  for (ParameterImportance& importance : importances)
    importance.share =
        sum == 0 ? 1 / static_cast<double>(importances.size()) : importance.share / sum;
  std::ranges::stable_sort(importances, std::greater(), &ParameterImportance::share);
  return importances;
}

}  // namespace hone
