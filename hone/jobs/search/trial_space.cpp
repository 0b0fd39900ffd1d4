#include "hone/jobs/search/trial_space.h"

#include <algorithm>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {
namespace {

// Above this many architectures the linears of all of them are not looked at one by one.
constexpr std::uint64_t kMostArchitectures = 100'000;

std::string square_name(const std::string& linear) { return linear + "_type"; }

// The meant value of a setting, of a trial that has it.
Json meant(const SearchSetting& setting, const std::string& name, const Assignment& values) {
  return setting.varies() ? setting.meant(values.at(name)) : setting.value;
}

std::string section_name(const std::string& section, const SearchSetting& setting) {
  return fmt::format("{}.{}", section, setting.key);
}

std::optional<Json> section_of(const std::string& section, const SearchRecipe::Section& settings,
                               const Assignment& values) {
  if (!settings) return std::nullopt;
  Json object = Json::object();
  for (const SearchSetting& setting : *settings)
    object[setting.key] = meant(setting, section_name(section, setting), values);
  return object;
}

// What does nothing makes no difference, however it is spelled.
void leave_out_idle(TrialConfiguration& trial) {
  const auto is_idle = [](const std::optional<Json>& section,
                          std::initializer_list<const char*> shares) {
    return section && std::ranges::all_of(
                          shares, [&](const char* key) { return section->value(key, 0.0) == 0; });
  };
  if (is_idle(trial.structure, {"heads", "neurons", "layers"})) trial.structure.reset();
  if (is_idle(trial.pruning, {"sparsity", "activations"})) trial.pruning.reset();
  for (std::optional<Json>* training : {&trial.training, &trial.train_on})
    if (*training && ((*training)->contains("epochs") || (*training)->contains("max_steps")) &&
        is_idle(*training, {"epochs", "max_steps"}))
      training->reset();  // it says how far to train, and that is nowhere
  if (trial.native) {
    Json& native = *trial.native;
    const std::string linears = native.value("linears", "none");
    if (linears == "none" || native.value("narrow_share", 0.0) == 0) {
      native.erase("narrow");
      native.erase("narrow_share");
    }
    if (linears == "none" && native.value("tables", "none") == "none") trial.native.reset();
  }
  if (!trial.training && !trial.train_on) trial.distillation.reset();
  if (!trial.training) trial.lora.reset();
  if (!trial.lora) return;
  // Longer trainings are of all weights.
  const Json most = trial.lora->value("most_steps", Json());
  if (most.is_number() && trial.training->value("max_steps", 0.0) > most.get<double>()) {
    trial.lora.reset();
    return;
  }
  if (trial.lora->contains("learning_rate"))
    (*trial.training)["learning_rate"] = (*trial.lora)["learning_rate"];
  for (const char* key : {"most_steps", "learning_rate"}) trial.lora->erase(key);
}

}  // namespace

Json to_json(const TrialConfiguration& configuration) {
  Json json = Json::object();
  if (!configuration.architecture.empty()) json["architecture"] = configuration.architecture;
  if (!configuration.identities.empty()) json["identities"] = configuration.identities;
  const std::pair<const char*, const std::optional<Json>*> sections[] = {
      {"structure", &configuration.structure},
      {"training", &configuration.training},
      {"lora", &configuration.lora},
      {"pruning", &configuration.pruning},
      {"native", &configuration.native},
      {"train_on", &configuration.train_on},
      {"distillation", &configuration.distillation}};
  for (const auto& [name, section] : sections)
    if (*section) json[name] = **section;
  if (!configuration.formats.empty()) json["formats"] = configuration.formats;
  if (!configuration.sparsities.empty()) json["sparsities"] = configuration.sparsities;
  if (!configuration.allocation.is_null()) json["allocation"] = configuration.allocation;
  return json;
}

TrialSpace::TrialSpace(SearchRecipe recipe, LinearsOf linears)
    : recipe_(std::move(recipe)), make_linears_(std::move(linears)) {
  for (const SearchSetting& setting : recipe_.architecture) add_setting(setting.key, setting);
  if (recipe_.square_linears) add_squares();
  add_section("structure", recipe_.structure);
  add_section("training", recipe_.training);
  add_section("lora", recipe_.lora);
  add_section("pruning", recipe_.pruning);
  add_precision();
  add_section("native", recipe_.native);
  add_section("train_on", recipe_.train_on);
  add_section("distillation", recipe_.distillation);
}

void TrialSpace::add_setting(const std::string& name, const SearchSetting& setting,
                             std::function<bool(const Assignment&)> active) {
  if (!setting.varies()) return;
  space_.parameters.push_back({name, setting.distribution, std::move(active)});
  settings_[name] = setting;
}

void TrialSpace::add_section(const std::string& section, const SearchRecipe::Section& settings) {
  if (!settings) return;
  for (const SearchSetting& setting : *settings)
    add_setting(section_name(section, setting), setting);
}

Json TrialSpace::architecture_of(const Assignment& values) const {
  Json keys = Json::object();
  for (const SearchSetting& setting : recipe_.architecture)
    keys[setting.key] = meant(setting, setting.key, values);
  return keys;
}

const LinearNames& TrialSpace::linears_of(const Json& architecture) const {
  const std::string text = to_line(architecture);
  const auto found = linears_.find(text);
  if (found != linears_.end()) return found->second;
  return linears_.emplace(text, make_linears_(architecture)).first->second;
}

// Those of any architecture of the space, in the order in which they are met.
std::vector<std::string> TrialSpace::possible_linears(bool square) const {
  SearchSpace shapes;
  for (const SearchSetting& setting : recipe_.architecture) {
    if (!setting.varies()) continue;
    const Distribution& d = setting.distribution;
    // A real number moves no linear.
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
             "{}: more than {} architectures, which is too many to look at the linears of each",
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

void TrialSpace::object_by(std::function<std::string(const TrialConfiguration&)> objection) {
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

Json TrialSpace::external_of(const std::string& name, const Json& meant) const {
  const auto setting = settings_.find(name);
  if (setting == settings_.end() || setting->second.ordered.empty()) return meant;
  const std::vector<Json>& ordered = setting->second.ordered;
  return std::ranges::find(ordered, meant) - ordered.begin();
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
                   "{} is none of its values", to_line(value));
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
        "{}: [[precision]]: '{}' names no linear; see the names in `hone inspect MODEL`",
        recipe_.at(group.line), group.name());
    std::vector<std::string> own;
    for (const std::string& linear : linears)
      if (group_of(linear) == &group) own.push_back(linear);
    user_check(!own.empty(), "{}: [[precision]]: later ones name all the linears of '{}'",
               recipe_.at(group.line), group.name());
    if (group.choice == LayersChoose::together) {
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
          parameter.meant(values.at(fmt::format("{}.{}.{}", name, chosen->name, parameter.key)));
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
  result.structure = section_of("structure", recipe_.structure, values);
  result.training = section_of("training", recipe_.training, values);
  result.lora = section_of("lora", recipe_.lora, values);
  result.pruning = section_of("pruning", recipe_.pruning, values);
  result.native = section_of("native", recipe_.native, values);
  result.train_on = section_of("train_on", recipe_.train_on, values);
  result.distillation = section_of("distillation", recipe_.distillation, values);
  leave_out_idle(result);
  for (const std::string& linear : linears_of(architecture_of(values)).all) {
    const PrecisionGroup* group = group_of(linear);
    if (group == nullptr || !has_layer(linear, values)) continue;
    const bool each = group->choice == LayersChoose::each;
    const std::string format = format_of(each ? linear : group->name(), *group, values);
    for (const std::string& operand : group->operands) result.formats[linear][operand] = format;
    const Json sparsity =
        meant(group->sparsity, (each ? linear : group->name()) + ".sparsity", values);
    if (sparsity != 0) result.sparsities[linear] = sparsity;
  }
  if (recipe_.allocation) result.allocation = spelled(recipe_.allocation->request);
  return result;
}

}  // namespace hone
