#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_set>

#include "hone/base/error.h"
#include "hone/search/sampler.h"
#include "hone/search/samplers/permutation.h"
#include "hone/search/samplers/sampler_random.h"
#include "hone/search/samplers/uniform_draw.h"

namespace hone {
namespace {

// Numbers all combinations of values, whether they are valid points or not. Parameters are in `order`, the last one
// changing fastest.
class Combinations {
 public:
  Combinations(const SearchSpace& space, bool by_name) : space_(&space) {
    order_.resize(space.parameters.size());
    std::iota(order_.begin(), order_.end(), 0u);
    if (by_name)
      std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
        return space.parameters[a].name < space.parameters[b].name;
      });
    for (const SpaceParameter& parameter : space.parameters) {
      const auto size = parameter.distribution.size();
      user_check(size.has_value(),
                 "a grid over {}, which has infinitely many values: give it a step",
                 parameter.name);
      sizes_.push_back(*size);
      countable_ = countable_ && count_ <= (WideCount{1} << 126) / *size;
      if (countable_) count_ *= *size;
    }
  }

  /// Returns whether there are at most 2^126 combinations.
  bool countable() const { return countable_; }
  WideCount count() const { return count_; }

  /// Returns a value per parameter, in the space's order, including inactive parameters.
  std::vector<TrialParameter> values_at(WideCount index) const {
    std::vector<TrialParameter> values;
    for (const SpaceParameter& parameter : space_->parameters)
      values.push_back({parameter.name, parameter.distribution, parameter.distribution.low});
    for (auto parameter = order_.rbegin(); parameter != order_.rend(); ++parameter) {
      TrialParameter& value = values[*parameter];
      value.value =
          value.distribution.value_at(static_cast<std::uint64_t>(index % sizes_[*parameter]));
      index /= sizes_[*parameter];
    }
    return values;
  }

  /// Returns the index of a combination, the inverse of `values_at`.
  WideCount index_of(const std::vector<TrialParameter>& values) const {
    WideCount index = 0;
    for (const std::size_t parameter : order_) {
      const Distribution& d = values[parameter].distribution;
      const double place = d.kind == DistributionKind::categorical || !d.step
                               ? values[parameter].value
                               : std::round((values[parameter].value - d.low) / *d.step);
      index = index * sizes_[parameter] + static_cast<std::uint64_t>(d.single() ? 0 : place);
    }
    return index;
  }

 private:
  const SearchSpace* space_;
  std::vector<std::size_t> order_;
  std::vector<std::uint64_t> sizes_;
  bool countable_ = true;
  WideCount count_ = 1;
};

// Returns the point of a combination, without the values of inactive parameters.
std::vector<TrialParameter> point_of(const SearchSpace& space,
                                     const std::vector<TrialParameter>& values) {
  std::vector<TrialParameter> point;
  Assignment earlier;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const SpaceParameter& parameter = space.parameters[i];
    if (parameter.active && !parameter.active(earlier)) continue;
    point.push_back(values[i]);
    earlier[parameter.name] = parameter.distribution.external(values[i].value);
  }
  return point;
}

bool objects(const SearchSpace& space, const std::vector<TrialParameter>& point) {
  return space.objection && !space.objection(assignment_of(point)).empty();
}

bool is_at(const Trial& trial, const std::vector<TrialParameter>& point) {
  return trial.parameters.size() == point.size() &&
         std::all_of(point.begin(), point.end(), [&](const TrialParameter& wanted) {
           const TrialParameter* had = trial.parameter(wanted.name);
           return had != nullptr && had->value == wanted.value;
         });
}

// Returns the grid, in the form that Optuna stores in trials.
Json search_space_of(const SearchSpace& space) {
  Json result = Json::object();
  for (const SpaceParameter& parameter : space.parameters)
    for (std::uint64_t i = 0; i < parameter.distribution.size(); ++i)
      result[parameter.name].push_back(
          parameter.distribution.external(parameter.distribution.value_at(i)));
  return result;
}

class GridSampler : public Sampler {
 public:
  explicit GridSampler(const GridSamplerOptions& options)
      : options_(options), random_(options.seed, options.compatible) {}

  JointDraw draw_jointly(const StudyView& study, const Trial& trial,
                         const SearchSpace& space) override;
  double draw(const StudyView&, const Trial&, const std::string& name,
              const Distribution&) override {
    fail("the grid has no parameter '{}': a grid has the parameters of a single space", name);
  }
  bool exhausted(const StudyView& study, const SearchSpace& space) const override;

 private:
  JointDraw draw_of_uncountable(const Trial& trial, const SearchSpace& space) const;
  JointDraw draw_as_optuna(const StudyView& study, const Trial& trial, const SearchSpace& space);
  std::optional<WideCount> combination_of(const Combinations& combinations,
                                          const SearchSpace& space, std::size_t number);
  void list_small_space(const Combinations& combinations, const SearchSpace& space);
  void examine_more(const Combinations& combinations, const SearchSpace& space, std::size_t number);

  GridSamplerOptions options_;
  SamplerRandom random_;
  std::vector<std::uint32_t> order_;  ///< Optuna's
  // For spaces with invalid combinations: the valid points in random order; for large spaces, those found so far.
  std::vector<WideCount> points_;
  bool has_all_points_ = false;
  WideCount examined_ = 0;
  std::unordered_set<std::string> seen_;  ///< keys of the points of a large space
};

// Returns the combination of point `number` in random order; none if there are fewer points.
std::optional<WideCount> GridSampler::combination_of(const Combinations& combinations,
                                                     const SearchSpace& space, std::size_t number) {
  if (space.independent())
    return number < combinations.count()
               ? std::optional(Permutation(combinations.count(), options_.seed).at(number))
               : std::nullopt;
  if (examined_ == 0 && points_.empty()) list_small_space(combinations, space);
  if (!has_all_points_) examine_more(combinations, space, number);
  return number < points_.size() ? std::optional(points_[number]) : std::nullopt;
}

void GridSampler::list_small_space(const Combinations& combinations, const SearchSpace& space) {
  constexpr std::uint64_t kSmall = 20'000;
  if (!count_points(space, kSmall)) return;
  // Represents each point by the combination in which inactive parameters have their first values.
  std::vector<WideCount> all;
  const auto keep = [&](const std::vector<TrialParameter>& point) {
    std::vector<TrialParameter> values = combinations.values_at(0);
    for (const TrialParameter& value : point)
      std::find_if(values.begin(), values.end(), [&](const TrialParameter& other) {
        return other.name == value.name;
      })->value = value.value;
    all.push_back(combinations.index_of(values));
    return true;
  };
  walk_points(space, keep, std::numeric_limits<std::uint64_t>::max());
  if (all.empty()) return;
  const Permutation order(all.size(), options_.seed);
  for (std::size_t i = 0; i < all.size(); ++i)
    points_.push_back(all[static_cast<std::size_t>(order.at(i))]);
  has_all_points_ = true;
}

// Scans combinations in random order for new points. Combinations that differ only in inactive parameters are the
// same point.
void GridSampler::examine_more(const Combinations& combinations, const SearchSpace& space,
                               std::size_t number) {
  constexpr std::int64_t kMaxFailures =
      100'000;  // consecutive failures after which the search stops
  const Permutation order(combinations.count(), options_.seed);
  for (std::int64_t failures = 0;
       points_.size() <= number && failures < kMaxFailures && examined_ < combinations.count();
       ++examined_) {
    const WideCount combination = order.at(examined_);
    const std::vector<TrialParameter> point = point_of(space, combinations.values_at(combination));
    const bool is_new = !objects(space, point) && seen_.insert(key_of(point)).second;
    if (is_new) points_.push_back(combination);
    failures = is_new ? 0 : failures + 1;
  }
}

// Trial t takes point t of the order, so that concurrent trials take different ones; if that point was taken, the
// first one left.
JointDraw GridSampler::draw_jointly(const StudyView& study, const Trial& trial,
                                    const SearchSpace& space) {
  if (options_.compatible) return draw_as_optuna(study, trial, space);
  const Combinations combinations(space, /*by_name=*/false);
  if (!combinations.countable()) return draw_of_uncountable(trial, space);
  const auto values_of = [&](std::size_t number) -> std::optional<std::vector<TrialParameter>> {
    const auto combination = combination_of(combinations, space, number);
    return combination ? std::optional(combinations.values_at(*combination)) : std::nullopt;
  };
  auto values = values_of(static_cast<std::size_t>(trial.number));
  const auto visited = [&](const std::vector<TrialParameter>& point) {
    return std::any_of(study.trials.begin(), study.trials.end(),
                       [&](const Trial* other) { return is_at(*other, point); });
  };
  if (!values || visited(point_of(space, *values))) {
    std::unordered_set<std::string> taken;
    for (const Trial* other : study.trials) {
      taken.insert(key_of(other->parameters));
      if (other->state != TrialState::running || !other->parameters.empty()) continue;
      if (const auto theirs = values_of(static_cast<std::size_t>(other->number)))
        taken.insert(key_of(point_of(space, *theirs)));
    }
    std::size_t number = 0;
    do values = values_of(number++);
    while (values && taken.contains(key_of(point_of(space, *values))));
    if (!values) values = values_of(0);  // all were visited: tries one again
    user_check(values.has_value(), "the grid is empty: the search space rejects all points");
  }
  JointDraw result;
  for (const TrialParameter& value : *values) result.values[value.name] = value.value;
  return result;
}

// Each trial draws a point: a collision is less likely than a memory error.
JointDraw GridSampler::draw_of_uncountable(const Trial& trial, const SearchSpace& space) const {
  RandomSequence random(options_.seed, static_cast<std::uint64_t>(trial.number));
  const std::optional<Assignment> point = draw_point(space, random);
  user_check(point.has_value(), "the grid is empty: the search space rejects all points");
  JointDraw result;
  for (const auto& [name, value] : *point)
    result.values[name] = space.find(name)->distribution.internal(value);
  return result;
}

JointDraw GridSampler::draw_as_optuna(const StudyView& study, const Trial& trial,
                                      const SearchSpace& space) {
  constexpr WideCount kMost = 1'000'000;
  const Combinations combinations(space, /*by_name=*/true);
  user_check(combinations.countable() && combinations.count() <= kMost,
             "a grid in Optuna's order has at most {} points: use hone's order",
             static_cast<std::uint64_t>(kMost));
  if (order_.size() != combinations.count()) {
    order_.resize(static_cast<std::size_t>(combinations.count()));
    std::iota(order_.begin(), order_.end(), 0u);
    random_.numpy()->shuffle(order_);
  }
  auto grid = static_cast<std::size_t>(trial.number);
  if (grid >= order_.size()) {
    std::unordered_set<std::string> taken;
    for (const Trial* other : study.trials) taken.insert(key_of(other->parameters));
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < order_.size(); ++i)
      if (!taken.contains(key_of(point_of(space, combinations.values_at(order_[i])))))
        left.push_back(i);
    const std::size_t choices = left.empty() ? order_.size() : left.size();
    grid = random_.numpy()->up_to(static_cast<std::uint32_t>(choices - 1));
    if (!left.empty()) grid = left[grid];
  }
  JointDraw result{
      .system_attributes = {{"search_space", search_space_of(space)}, {"grid_id", grid}}};
  for (const TrialParameter& value : combinations.values_at(order_[grid]))
    result.values[value.name] = value.value;
  return result;
}

bool GridSampler::exhausted(const StudyView& study, const SearchSpace& space) const {
  const auto points = count_points(space, study.trials.size());
  if (!points) return false;
  std::unordered_set<std::string> visited;
  for (const Trial* trial : study.trials) {
    const bool is_point = std::all_of(
        trial->parameters.begin(), trial->parameters.end(), [&](const TrialParameter& value) {
          const SpaceParameter* parameter = space.find(value.name);
          return parameter != nullptr && parameter->distribution.contains(value.value);
        });
    if (is_point && !trial->parameters.empty()) visited.insert(key_of(trial->parameters));
  }
  return visited.size() >= *points;
}

}  // namespace

std::unique_ptr<Sampler> grid_sampler(const GridSamplerOptions& options) {
  return std::make_unique<GridSampler>(options);
}

}  // namespace hone
