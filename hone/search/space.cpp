#include "hone/search/space.h"

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"

namespace hone {
namespace {

using Point = std::vector<TrialParameter>;

/// A walk through the points of a finite space.
class PointWalk {
 public:
  PointWalk(const SearchSpace& space, const std::function<bool(const Point&)>& visit,
            std::uint64_t most, const Json& fixed)
      : space_(space), visit_(visit), left_(most), fixed_(fixed) {}

  // Returns false if there are more points than the limit.
  bool run() {
    below(0);
    return !spent_;
  }

 private:
  // Returns false to stop.
  bool below(std::size_t depth) {
    if (depth == space_.parameters.size()) {
      if (left_-- == 0) {
        spent_ = true;
        return false;
      }
      return (space_.objection && !space_.objection(values_).empty()) || visit_(point_);
    }
    const auto& [name, distribution, active] = space_.parameters[depth];
    if (active && !active(values_)) return below(depth + 1);
    for (std::uint64_t i = 0; i < *distribution.size(); ++i) {
      const double value = distribution.value_at(i);
      if (!is_wanted(name, distribution, value)) continue;
      values_[name] = distribution.external(value);
      point_.push_back({name, distribution, value});
      const bool more = below(depth + 1);
      point_.pop_back();
      values_.erase(name);
      if (!more) return false;
    }
    return true;
  }

  // A fixed value may be off by the rounding error of decimal fractions.
  bool is_wanted(const std::string& name, const Distribution& distribution, double value) const {
    return !fixed_.contains(name) || std::abs(distribution.internal(fixed_[name]) - value) <
                                         distribution.step.value_or(1) / 2;
  }

  const SearchSpace& space_;
  const std::function<bool(const Point&)>& visit_;
  std::uint64_t left_;
  const Json& fixed_;
  Assignment values_;
  Point point_;
  bool spent_ = false;
};

}  // namespace

const SpaceParameter* SearchSpace::find(std::string_view name) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const SpaceParameter& p) { return p.name == name; });
  return found == parameters.end() ? nullptr : &*found;
}

bool SearchSpace::independent() const {
  return !objection &&
         std::none_of(parameters.begin(), parameters.end(),
                      [](const SpaceParameter& p) { return static_cast<bool>(p.active); });
}

std::vector<TrialParameter> SearchSpace::parameters_of(const Assignment& values) const {
  std::vector<TrialParameter> result;
  Assignment earlier;
  for (const SpaceParameter& parameter : parameters) {
    if (parameter.active && !parameter.active(earlier)) continue;
    const auto value = values.find(parameter.name);
    user_check(value != values.end(), "{} has no value", parameter.name);
    const double internal = with_context(
        parameter.name, [&] { return parameter.distribution.internal(value->second); });
    user_check(parameter.distribution.contains(internal), "{}: {} is not one of its values",
               parameter.name, to_line(value->second));
    result.push_back({parameter.name, parameter.distribution, internal});
    earlier.insert(*value);
  }
  for (const auto& [name, value] : values)
    user_check(earlier.contains(name), "the space has no {}{}", name,
               find(name) != nullptr ? " for these values of the others" : "");
  return result;
}

Assignment assignment_of(const std::vector<TrialParameter>& parameters) {
  Assignment result;
  for (const TrialParameter& parameter : parameters)
    result[parameter.name] = parameter.distribution.external(parameter.value);
  return result;
}

std::string key_of(const std::vector<TrialParameter>& parameters) {
  std::map<std::string_view, double> sorted;
  for (const auto& [name, distribution, value] : parameters)
    // A stepped value may be off by the rounding error of decimal fractions.
    sorted[name] =
        distribution.step
            ? distribution.low +
                  std::round((value - distribution.low) / *distribution.step) * *distribution.step
            : value;
  std::string key;
  for (const auto& [name, value] : sorted) key += fmt::format("{}={};", name, value);
  return key;
}

bool is_finite(const SearchSpace& space) {
  return std::all_of(space.parameters.begin(), space.parameters.end(),
                     [](const SpaceParameter& p) { return p.distribution.size().has_value(); });
}

bool walk_points(const SearchSpace& space, const std::function<bool(const Point&)>& visit,
                 std::uint64_t most, const Json& fixed) {
  HONE_ASSERT(is_finite(space), "a walk through infinitely many points");
  return PointWalk(space, visit, most, fixed).run();
}

std::optional<std::uint64_t> count_points(const SearchSpace& space, std::uint64_t limit) {
  if (!is_finite(space)) return std::nullopt;
  std::uint64_t count = 1;
  if (space.independent()) {
    for (const SpaceParameter& parameter : space.parameters) {
      count *= *parameter.distribution.size();
      if (count > limit) return std::nullopt;
    }
    return count;
  }
  constexpr std::uint64_t kExaminedPerPoint = 16;  // points examined per counted point
  count = 0;
  const auto count_one = [&](const Point&) { return ++count <= limit; };
  const bool all = walk_points(space, count_one, kExaminedPerPoint * (limit + 1));
  return all && count <= limit ? std::optional(count) : std::nullopt;
}

}  // namespace hone
