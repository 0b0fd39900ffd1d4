#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "hone/base/error.h"
#include "hone/search/sampler.h"
#include "hone/search/samplers/non_domination.h"
#include "hone/search/samplers/parzen.h"
#include "hone/search/samplers/tpe_split.h"
#include "hone/search/samplers/uniform_draw.h"

namespace hone {
namespace {

using NamedDistribution = std::pair<std::string, Distribution>;

// The internal values of a column under a distribution that may differ from that of a row: choices are matched by
// value.
class ColumnValues {
 public:
  ColumnValues(const TrialHistory::Column* column, const Distribution& wanted)
      : column_(column), wanted_(wanted) {
    if (column == nullptr) return;
    for (const Distribution& had : column->distributions) {
      const bool numbers = had.kind != DistributionKind::categorical;
      use_.push_back(compatible(had, wanted)                                   ? Use::as_it_is
                     : numbers || wanted.kind != DistributionKind::categorical ? Use::none
                                                                               : Use::by_choice);
    }
  }

  // Returns NaN if the trial has none.
  double at(std::uint32_t row) const {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    if (column_ == nullptr || row >= column_->values.size()) return kNone;
    const std::int32_t distribution = column_->distribution_of[row];
    if (distribution < 0) return kNone;
    const double value = column_->values[row];
    const Distribution& had = column_->distributions[static_cast<std::size_t>(distribution)];
    if (had.kind == DistributionKind::categorical && !had.contains(value)) return kNone;
    switch (use_[static_cast<std::size_t>(distribution)]) {
      case Use::as_it_is:
        return value;
      case Use::none:
        return kNone;
      case Use::by_choice:
        break;
    }
    const auto found =
        std::find(wanted_.choices.begin(), wanted_.choices.end(), had.external(value));
    return found == wanted_.choices.end() ? kNone
                                          : static_cast<double>(found - wanted_.choices.begin());
  }

 private:
  enum class Use : std::uint8_t { as_it_is, none, by_choice };
  const TrialHistory::Column* column_;
  const Distribution& wanted_;
  std::vector<Use> use_;
};

// Returns the members of an estimator, as positions among them, ordered by the value of a column.
std::vector<std::uint32_t> members_by_value(const TrialHistory::Column& column,
                                            const std::vector<std::int32_t>& position) {
  std::vector<std::uint32_t> order;
  for (const std::uint32_t row : column.by_value)
    if (position[row] >= 0) order.push_back(static_cast<std::uint32_t>(position[row]));
  return order;
}

// Returns the weights of good trials with several objectives; infeasible and pruned ones have almost no weight.
std::vector<double> weights_by_front(const TrialHistory& history,
                                     const std::vector<std::uint32_t>& members) {
  const auto is_comparable = [&](std::uint32_t row) {
    return history.row(row).violation <= 0 && !history.row(row).losses.empty();
  };
  LossVectors losses;
  for (const std::uint32_t row : members)
    if (is_comparable(row)) losses.push_back(history.row(row).losses);
  const std::vector<double> of_comparable = hypervolume_weights(losses);
  std::vector<double> weights;
  std::size_t next = 0;
  for (const std::uint32_t row : members)
    weights.push_back(is_comparable(row) ? of_comparable[next++] : 1e-12);
  return weights;
}

// Returns the coarsest partition in which every finished trial has all or none of the parameters of a part, in
// Optuna's order.
std::vector<std::vector<NamedDistribution>> groups_of(const TrialHistory& history) {
  std::vector<std::vector<NamedDistribution>> groups;
  std::set<std::uint32_t> seen;
  for (const std::uint32_t index : history.finished()) {
    const TrialHistory::Row& row = history.row(index);
    if (!seen.insert(row.parameter_set).second) continue;
    std::vector<std::vector<NamedDistribution>> next;
    std::set<std::string> names;
    for (const TrialParameter& parameter : row.trial->parameters) names.insert(parameter.name);
    for (const std::vector<NamedDistribution>& group : groups) {
      next.resize(next.size() + 2);
      for (const NamedDistribution& parameter : group)
        next[next.size() - (names.erase(parameter.first) > 0 ? 2 : 1)].push_back(parameter);
    }
    next.emplace_back();
    for (const TrialParameter& parameter : row.trial->parameters)
      if (names.contains(parameter.name))
        next.back().emplace_back(parameter.name, parameter.distribution);
    std::erase_if(next, [](const auto& group) { return group.empty(); });
    groups = std::move(next);
  }
  return groups;
}

class TpeSampler : public Sampler {
 public:
  explicit TpeSampler(const TpeSamplerOptions& options)
      : options_(options),
        rules_(rules_of(options.profile)),
        random_(options.seed, options.compatible),
        startup_random_(options.seed, options.compatible) {
    user_check(options.candidates >= 1, "TPE with {} candidates: expected at least 1",
               options.candidates);
    user_check(!options.group || options.multivariate.value_or(rules_.multivariate),
               "groups apply to parameters that are drawn jointly: set multivariate as well");
  }

  JointDraw draw_jointly(const StudyView& study, const Trial& trial,
                         const SearchSpace& space) override;
  double draw(const StudyView& study, const Trial& trial, const std::string& name,
              const Distribution& distribution) override;

 private:
  std::vector<std::vector<NamedDistribution>> joint_spaces(const SearchSpace& space) const;
  std::vector<NamedDistribution> intersection() const;
  std::vector<double> best_candidate(const Trial& trial,
                                     const std::vector<NamedDistribution>& space, bool joint);
  ParzenEstimator estimator(const std::vector<std::uint32_t>& rows,
                            const std::vector<NamedDistribution>& space, bool joint,
                            bool good) const;
  bool starts_up() const {
    return static_cast<std::int64_t>(history_.finished().size()) < options_.startup_trials;
  }

  TpeSamplerOptions options_;
  const TpeRules& rules_;
  SamplerRandom random_, startup_random_;
  // From the view of the last `draw_jointly`; independent draws use the same view.
  TrialHistory history_;
  TpeSplit split_;
  std::size_t objectives_ = 1;
};

// Returns the parameters that every finished trial has with the same distribution.
std::vector<NamedDistribution> TpeSampler::intersection() const {
  std::vector<NamedDistribution> result;
  if (history_.finished().empty()) return result;
  for (const TrialParameter& parameter : history_.row(history_.finished()[0]).trial->parameters) {
    const TrialHistory::Column& column = *history_.column(parameter.name);
    const std::int32_t first = column.distribution_of[history_.finished()[0]];
    const bool everywhere =
        std::all_of(history_.finished().begin(), history_.finished().end(), [&](std::uint32_t row) {
          return row < column.values.size() && column.distribution_of[row] == first;
        });
    if (everywhere) result.emplace_back(parameter.name, parameter.distribution);
  }
  return result;
}

std::vector<std::vector<NamedDistribution>> TpeSampler::joint_spaces(
    const SearchSpace& space) const {
  std::vector<std::vector<NamedDistribution>> spaces = {intersection()};
  if (options_.group) spaces = groups_of(history_);
  for (std::vector<NamedDistribution>& part : spaces) {
    std::erase_if(part, [&](const NamedDistribution& parameter) {
      const SpaceParameter* present = space.find(parameter.first);
      return parameter.second.single() ||
             (present != nullptr && !compatible(present->distribution, parameter.second));
    });
    if (rules_.sorted_space || options_.group)
      std::sort(part.begin(), part.end(),
                [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  std::erase_if(spaces, [](const auto& part) { return part.empty(); });
  return spaces;
}

JointDraw TpeSampler::draw_jointly(const StudyView& study, const Trial& trial,
                                   const SearchSpace& space) {
  objectives_ = study.directions.size();
  history_.observe(study, options_.constant_liar.value_or(rules_.constant_liar));
  JointDraw result;
  if (starts_up()) return result;
  split_ = split_trials(history_, good_count(history_.finished().size(), objectives_, rules_));
  if (!options_.multivariate.value_or(rules_.multivariate && objectives_ == 1)) return result;
  for (const std::vector<NamedDistribution>& part : joint_spaces(space)) {
    const std::vector<double> values = best_candidate(trial, part, /*joint=*/true);
    for (std::size_t i = 0; i < part.size(); ++i) result.values[part[i].first] = values[i];
  }
  return result;
}

double TpeSampler::draw(const StudyView&, const Trial& trial, const std::string& name,
                        const Distribution& distribution) {
  if (starts_up())
    return draw_uniformly(distribution, startup_random_.numbers_for(trial.number, "random", name));
  return best_candidate(trial, {{name, distribution}}, /*joint=*/false)[0];
}

std::vector<double> TpeSampler::best_candidate(const Trial& trial,
                                               const std::vector<NamedDistribution>& space,
                                               bool joint) {
  const ParzenEstimator good = estimator(split_.below, space, joint, true);
  const ParzenEstimator others = estimator(split_.above, space, joint, false);
  const UniformNumbers numbers =
      random_.numbers_for(trial.number, joint ? "tpe.joint" : "tpe", space[0].first);
  const auto points = good.sample(static_cast<std::size_t>(options_.candidates), numbers);
  const std::vector<double> l = good.log_density(points), g = others.log_density(points);
  std::size_t best = 0;
  for (std::size_t i = 1; i < l.size(); ++i)
    if (l[i] - g[i] > l[best] - g[best]) best = i;
  std::vector<double> values;
  for (const std::vector<double>& of_parameter : points) values.push_back(of_parameter[best]);
  return values;
}

// Builds the estimator from the rows that have all parameters of the space.
ParzenEstimator TpeSampler::estimator(const std::vector<std::uint32_t>& rows,
                                      const std::vector<NamedDistribution>& space, bool joint,
                                      bool good) const {
  std::vector<Observations> observations;
  std::vector<ColumnValues> columns;
  for (const auto& [name, distribution] : space) {
    observations.push_back({.distribution = distribution, .as_numpy = options_.compatible});
    columns.emplace_back(history_.column(name), distribution);
  }
  std::vector<std::uint32_t> members;
  std::vector<std::int32_t> position(history_.row_count(), -1);
  std::vector<double> places(space.size());
  for (const std::uint32_t row : rows) {
    bool has_all = true;
    for (std::size_t p = 0; p < space.size() && has_all; ++p) {
      const double value = columns[p].at(row);
      places[p] = space[p].second.logarithmic ? std::log(value) : value;
      has_all = std::isfinite(places[p]);
    }
    if (!has_all) continue;
    position[row] = static_cast<std::int32_t>(members.size());
    members.push_back(row);
    for (std::size_t p = 0; p < space.size(); ++p) observations[p].places.push_back(places[p]);
  }
  for (std::size_t p = 0; p < space.size(); ++p) {
    if (space[p].second.kind == DistributionKind::categorical) continue;
    const TrialHistory::Column* column = history_.column(space[p].first);
    observations[p].by_place = options_.compatible || column == nullptr
                                   ? order_of(observations[p].places, options_.compatible)
                                   : members_by_value(*column, position);
  }
  const bool by_front = good && objectives_ > 1 && rules_.weighted_front;
  return {std::move(observations),
          by_front ? weights_by_front(history_, members) : trial_weights(members.size()), rules_,
          joint};
}

}  // namespace

std::unique_ptr<Sampler> tpe_sampler(const TpeSamplerOptions& options) {
  return std::make_unique<TpeSampler>(options);
}

}  // namespace hone
