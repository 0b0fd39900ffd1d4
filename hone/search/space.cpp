#include "hone/search/space.h"

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"

namespace hone {
namespace {

// Counts the points below the first `depth` parameters; stops above `limit`.
std::uint64_t count_below(const SearchSpace& space, std::size_t depth, Assignment& values,
                          std::uint64_t limit) {
  if (depth == space.parameters.size())
    return space.objection && !space.objection(values).empty() ? 0 : 1;
  const SpaceParameter& parameter = space.parameters[depth];
  if (parameter.active && !parameter.active(values))
    return count_below(space, depth + 1, values, limit);
  const Distribution& d = parameter.distribution;
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < *d.size() && count <= limit; ++i) {
    values[parameter.name] = d.external(d.kind == DistributionKind::categorical
                                            ? static_cast<double>(i)
                                            : d.low + static_cast<double>(i) * d.step.value_or(0));
    count += count_below(space, depth + 1, values, limit - count);
  }
  values.erase(parameter.name);
  return count;
}

double drawn_value(const Distribution& d, RandomSequence& random) {
  if (const std::optional<std::uint64_t> size = d.size(); size && !d.logarithmic) {
    const auto index = static_cast<double>(random.below(*size));
    return d.kind == DistributionKind::categorical ? index : d.low + index * d.step.value_or(0);
  }
  const double share = random.uniform();
  if (!d.logarithmic) return d.low + share * (d.high - d.low);
  // Whole numbers take the range that rounds to them.
  const double half = d.kind == DistributionKind::integer ? 0.5 : 0;
  const double low = std::log(d.low - half), high = std::log(d.high + half);
  const double value = std::exp(low + share * (high - low));
  return std::clamp(half > 0 ? std::round(value) : value, d.low, d.high);
}

}  // namespace

const SpaceParameter* SearchSpace::find(std::string_view name) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const SpaceParameter& p) { return p.name == name; });
  return found == parameters.end() ? nullptr : &*found;
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
    user_check(parameter.distribution.contains(internal), "{}: {} is none of its values",
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
    // A stepped value may be off by what decimal fractions are as doubles.
    sorted[name] =
        distribution.step
            ? distribution.low +
                  std::round((value - distribution.low) / *distribution.step) * *distribution.step
            : value;
  std::string key;
  for (const auto& [name, value] : sorted) key += fmt::format("{}={};", name, value);
  return key;
}

std::optional<Assignment> draw_point(const SearchSpace& space, RandomSequence& random,
                                     const Assignment& kept) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    Assignment values;
    for (const SpaceParameter& parameter : space.parameters) {
      if (parameter.active && !parameter.active(values)) continue;
      const auto found = kept.find(parameter.name);
      values[parameter.name] =
          found != kept.end()
              ? found->second
              : parameter.distribution.external(drawn_value(parameter.distribution, random));
    }
    if (!space.objection || space.objection(values).empty()) return values;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> count_points(const SearchSpace& space, std::uint64_t limit) {
  bool independent = !space.objection;
  for (const SpaceParameter& parameter : space.parameters) {
    if (!parameter.distribution.size()) return std::nullopt;
    independent = independent && !parameter.active;
  }
  std::uint64_t count = 1;
  if (independent) {
    for (const SpaceParameter& parameter : space.parameters) {
      count *= *parameter.distribution.size();
      if (count > limit) return std::nullopt;
    }
    return count;
  }
  Assignment values;
  count = count_below(space, 0, values, limit);
  return count > limit ? std::nullopt : std::optional(count);
}

}  // namespace hone
