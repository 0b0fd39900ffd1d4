#include "hone/jobs/search/trial_space.h"

#include <algorithm>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/jobs/search/recipe_sections.h"

namespace hone {
namespace {

// The maximum number of architectures whose linears are enumerated.
constexpr std::uint64_t kMostArchitectures = 100'000;

std::string square_name(const std::string& linear) { return linear + "_type"; }

// Returns the value of a setting in a trial.
Json decoded(const SearchSetting& setting, const std::string& name, const Assignment& values) {
  return setting.varies() ? setting.decoded(values.at(name)) : setting.value;
}

std::string parameter_name(const RecipeSection& section, const SearchSetting& setting) {
  return fmt::format("{}.{}", section.name, setting.key);
}

// Removes settings without an effect, so that equivalent configurations are equal.
void remove_idle_sections(TrialConfiguration& trial) {
  for (const RecipeSection& section : recipe_sections())
    if (std::optional<Json>& values = trial.*section.values; values && section.idle(*values))
      values.reset();
  if (trial.pruning) {
    const auto pruning = settings_of<PruningSection>(*trial.pruning);
    if (pruning.has_pattern()) {
      trial.pruning->erase("sparsity");
    } else if (pruning.weights.rule.sparsity == 0) {
      trial.pruning->erase("structure");
    }
  }
  if (trial.native && !settings_of<NativeSection>(*trial.native).narrows())
    for (const char* key : {"narrow", "narrow_share"}) trial.native->erase(key);
  if (!trial.training && !trial.train_on) trial.distillation.reset();
  if (!trial.training) trial.lora.reset();
  if (!trial.lora) return;
  const auto lora = settings_of<LoraSection>(*trial.lora);
  const FineTuneOptions training = settings_of<FineTuneOptions>(*trial.training);
  if (lora.most_steps && training.training.max_steps > *lora.most_steps) {
    trial.lora.reset();
    return;
  }
  if (lora.learning_rate) (*trial.training)["learning_rate"] = (*trial.lora)["learning_rate"];
  for (const char* key : {"most_steps", "learning_rate"}) trial.lora->erase(key);
}

}  // namespace

Json to_json(const TrialConfiguration& configuration) {
  Json json = Json::object();
  if (!configuration.architecture.empty()) json["architecture"] = configuration.architecture;
  if (!configuration.identities.empty()) json["identities"] = configuration.identities;
  for (const RecipeSection& section : recipe_sections())
    if (const std::optional<Json>& values = configuration.*section.values)
      json[std::string(section.name)] = *values;
  if (!configuration.formats.empty()) json["formats"] = configuration.formats;
  if (!configuration.sparsities.empty()) json["sparsities"] = configuration.sparsities;
  if (!configuration.allocation.is_null()) json["allocation"] = configuration.allocation;
  return json;
}

TrialSpace::TrialSpace(SearchRecipe recipe, LinearsOf linears)
    : recipe_(std::move(recipe)), make_linears_(std::move(linears)) {
  for (const SearchSetting& setting : recipe_.architecture) add_setting(setting.key, setting);
  if (recipe_.square_linears) add_squares();
  for (const RecipeSection& section : recipe_sections()) {
    if (section.settings == &SearchRecipe::native) add_precision();  // its position in the order
    if (const SearchRecipe::Section& settings = recipe_.*section.settings)
      for (const SearchSetting& setting : *settings)
        add_setting(parameter_name(section, setting), setting);
  }
}

void TrialSpace::add_setting(const std::string& name, const SearchSetting& setting,
                             std::function<bool(const Assignment&)> active) {
  if (!setting.varies()) return;
  space_.parameters.push_back({name, setting.distribution, std::move(active)});
  settings_[name] = setting;
}

Json TrialSpace::architecture_of(const Assignment& values) const {
  Json keys = Json::object();
  for (const SearchSetting& setting : recipe_.architecture)
    keys[setting.key] = decoded(setting, setting.key, values);
  return keys;
}

const LinearNames& TrialSpace::linears_of(const Json& architecture) const {
  const std::string text = to_line(architecture);
  const auto found = linears_.find(text);
  if (found != linears_.end()) return found->second;
  return linears_.emplace(text, make_linears_(architecture)).first->second;
}

// Returns the linears of all architectures of the space, in the order of their first occurrence.
std::vector<std::string> TrialSpace::possible_linears(bool square) const {
  SearchSpace shapes;
  for (const SearchSetting& setting : recipe_.architecture) {
    if (!setting.varies()) continue;
    const Distribution& d = setting.distribution;
    // Settings with real values do not change which linears exist.
    shapes.parameters.push_back(
        {setting.key, d.size() ? d : real_values(d.low, d.low), /*active=*/{}});
  }
  std::vector<std::string> names;
  const auto add = [&](const std::vector<TrialParameter>& shape) {
    const LinearNames& linears = linears_of(architecture_of(assignment_of(shape)));
    for (const std::string& name : square ? linears.square : linears.all)
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    return true;
  };
  user_check(walk_points(shapes, add, kMostArchitectures),
             "{}: more than {} architectures, too many to list the linear layers of each",
             recipe_.where, grouped(kMostArchitectures));
  return names;
}

bool TrialSpace::has_layer(const std::string& layer, const Assignment& values) const {
  const std::vector<std::string>& all = linears_of(architecture_of(values)).all;
  const auto square = values.find(square_name(layer));
  return std::ranges::find(all, layer) != all.end() &&
         (square == values.end() || square->second == "linear");
}

void TrialSpace::add_squares() {
  for (const std::string& linear : possible_linears(/*square=*/true))
    space_.parameters.push_back({square_name(linear), choice_of({"linear", "identity"}),
                                 [this, linear](const Assignment& earlier) {
                                   const std::vector<std::string>& square =
                                       linears_of(architecture_of(earlier)).square;
                                   return std::ranges::find(square, linear) != square.end();
                                 }});
}

void TrialSpace::set_objection(std::function<std::string(const TrialConfiguration&)> objection) {
  space_.objection = [this, objection = std::move(objection)](const Assignment& values) {
    return objection(configuration_of(values));
  };
}

Json TrialSpace::index_values() const {
  Json json = Json::object();
  for (const auto& [name, setting] : settings_)
    if (!setting.ordered.empty()) json[name] = setting.ordered;
  return json;
}

Json TrialSpace::external_of(const std::string& name, const Json& decoded) const {
  const auto setting = settings_.find(name);
  if (setting == settings_.end() || setting->second.ordered.empty()) return decoded;
  const std::vector<Json>& ordered = setting->second.ordered;
  return std::ranges::find(ordered, decoded) - ordered.begin();
}

std::vector<Json> TrialSpace::first_points() const {
  std::vector<Json> points;
  for (const SearchRecipe::Point& point : recipe_.first) {
    points.push_back(Json::object());
    for (const auto& [name, value] : point.values.items()) {
      const auto parameter = std::ranges::find(space_.parameters, name, &SpaceParameter::name);
      std::vector<std::string> known;
      for (const SpaceParameter& one : space_.parameters) known.push_back(one.name);
      user_check(parameter != space_.parameters.end(),
                 "{}: [[first]]: no parameter is called '{}'{}", recipe_.at(point.line), name,
                 did_you_mean(name, known));
      const Json external = external_of(name, value);
      const Distribution& distribution = parameter->distribution;
      with_context(fmt::format("{}: [[first]]: {}", recipe_.at(point.line), name), [&] {
        user_check(distribution.contains(distribution.internal(external)),
                   "{} is not one of its values", to_line(value));
      });
      points.back()[name] = external;
    }
  }
  return points;
}

const PrecisionGroup* TrialSpace::group_of(const std::string& linear) const {
  const PrecisionGroup* last = nullptr;
  for (const PrecisionGroup& group : recipe_.precision)
    if (matches_any(group.layers, linear)) last = &group;
  return last;
}

void TrialSpace::add_precision() {
  if (recipe_.precision.empty()) return;
  const std::vector<std::string> linears = possible_linears(/*square=*/false);
  for (const PrecisionGroup& group : recipe_.precision) {
    user_check(
        std::ranges::any_of(
            linears, [&](const std::string& name) { return matches_any(group.layers, name); }),
        "{}: [[precision]]: '{}' matches no linear layer; see the names in `hone inspect MODEL`",
        recipe_.at(group.line), group.name());
    std::vector<std::string> own;
    for (const std::string& linear : linears)
      if (group_of(linear) == &group) own.push_back(linear);
    user_check(!own.empty(), "{}: [[precision]]: later groups match all linear layers of '{}'",
               recipe_.at(group.line), group.name());
    if (group.choice == ChoiceScope::shared) {
      add_formats(group.name(), group, {});
      continue;
    }
    for (const std::string& linear : own)
      add_formats(linear, group,
                  [this, linear](const Assignment& earlier) { return has_layer(linear, earlier); });
  }
}

void TrialSpace::add_formats(const std::string& name, const PrecisionGroup& group,
                             const std::function<bool(const Assignment&)>& active) {
  const std::string format = name + ".format";
  if (group.formats.size() > 1) {
    std::vector<Json> names;
    for (const FormatTemplate& one : group.formats) names.emplace_back(one.name);
    space_.parameters.push_back({format, choice_of(std::move(names)), active});
  }
  add_setting(name + ".sparsity", group.sparsity, active);
  add_setting(name + ".structure", group.structure,
              [active, name, sparsity = group.sparsity](const Assignment& earlier) {
                return (!active || active(earlier)) &&
                       decoded(sparsity, name + ".sparsity", earlier) != 0;
              });
  for (const FormatTemplate& one : group.formats)
    for (const SearchSetting& parameter : one.parameters)
      add_setting(fmt::format("{}.{}.{}", name, one.name, parameter.key), parameter,
                  [active, format, several = group.formats.size() > 1,
                   chosen = one.name](const Assignment& earlier) {
                    return (!active || active(earlier)) &&
                           (!several || earlier.at(format) == chosen);
                  });
}

std::string TrialSpace::format_of(const std::string& name, const PrecisionGroup& group,
                                  const Assignment& values) const {
  const FormatTemplate* chosen = &group.formats.front();
  if (group.formats.size() > 1)
    for (const FormatTemplate& one : group.formats)
      if (values.at(name + ".format") == one.name) chosen = &one;
  std::map<std::string, Json> parameters;
  for (const SearchSetting& parameter : chosen->parameters)
    if (parameter.varies())
      parameters[parameter.key] =
          parameter.decoded(values.at(fmt::format("{}.{}.{}", name, chosen->name, parameter.key)));
  return chosen->filled(parameters);
}

std::vector<std::string> TrialSpace::precision_layers(
    const TrialConfiguration& configuration) const {
  std::vector<std::string> layers;
  for (const std::string& linear : linears_of(configuration.architecture).all) {
    const bool gone =
        std::ranges::find(configuration.identities, linear) != configuration.identities.end();
    const bool named = recipe_.precision.empty() || group_of(linear) != nullptr;
    if (!gone && named) layers.push_back(linear);
  }
  return layers;
}

TrialConfiguration TrialSpace::configuration_of(const Assignment& values) const {
  TrialConfiguration result{.architecture = architecture_of(values)};
  for (const std::string& linear : linears_of(architecture_of(values)).square) {
    const auto type = values.find(square_name(linear));
    if (type != values.end() && type->second == "identity") result.identities.push_back(linear);
  }
  for (const RecipeSection& section : recipe_sections())
    if (const SearchRecipe::Section& settings = recipe_.*section.settings) {
      Json& given = (result.*section.values).emplace(Json::object());
      for (const SearchSetting& setting : *settings)
        given[setting.key] = decoded(setting, parameter_name(section, setting), values);
    }
  remove_idle_sections(result);
  for (const std::string& linear : linears_of(architecture_of(values)).all) {
    const PrecisionGroup* group = group_of(linear);
    if (group == nullptr || !has_layer(linear, values)) continue;
    const bool each = group->choice == ChoiceScope::each;
    const std::string name = each ? linear : group->name();
    const std::string format = format_of(name, *group, values);
    for (const std::string& operand : group->operands) result.formats[linear][operand] = format;
    const Json share = decoded(group->sparsity, name + ".sparsity", values);
    if (share == 0) continue;
    const Json structure = decoded(group->structure, name + ".structure", values);
    result.sparsities[linear] = to_json(LayerSparsity{
        .share = share.get<double>(), .structure = parse_structure(structure.get<std::string>())});
  }
  if (recipe_.allocation) result.allocation = request_json(recipe_.allocation->request);
  return result;
}

}  // namespace hone
