#include "hone/search/sampler.h"

#include "hone/base/error.h"

namespace hone {
namespace {

double fixed_value(const SpaceParameter& parameter, const Json& external) {
  return with_context(fmt::format("the fixed value for {}", parameter.name),
                      [&] { return parameter.distribution.internal(external); });
}

}  // namespace

JointDraw Sampler::draw_jointly(const StudyView&, const Trial&, const SearchSpace&) { return {}; }

bool Sampler::exhausted(const StudyView&, const SearchSpace&) const { return false; }

void suggest(Sampler& sampler, const StudyView& study, const SearchSpace& space, Trial& trial) {
  Json fixed = Json::object();
  if (const auto found = trial.system_attributes.find("fixed_params");
      found != trial.system_attributes.end())
    fixed = found->second;
  user_check(fixed.is_object(), "trial {}: its fixed values are {}, expected an object",
             trial.number, to_line(fixed));
  trial.parameters.clear();
  Assignment earlier;
  // Drawn when the first value is needed, as in Optuna: a trial with only fixed values draws nothing.
  std::optional<JointDraw> joint;
  for (const SpaceParameter& parameter : space.parameters) {
    const auto& [name, distribution, active] = parameter;
    if (active && !active(earlier)) continue;
    double value = distribution.low;  // of a single value
    if (fixed.contains(name)) {
      value = fixed_value(parameter, fixed[name]);
    } else if (!distribution.single()) {
      if (!joint) joint = sampler.draw_jointly(study, trial, space);
      const auto drawn = joint->values.find(name);
      value = drawn != joint->values.end() && distribution.contains(drawn->second)
                  ? drawn->second
                  : sampler.draw(study, trial, name, distribution);
    }
    trial.parameters.push_back({name, distribution, value});
    earlier[name] = distribution.external(value);
  }
  if (joint)
    for (const auto& [key, value] : joint->system_attributes) trial.system_attributes[key] = value;
}

}  // namespace hone
