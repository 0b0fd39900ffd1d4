#include "hone/jobs/search/recipe_checks.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/random.h"
#include "hone/base/text.h"
#include "hone/frontends/huggingface/architecture.h"
#include "hone/ir/print.h"
#include "hone/jobs/search/trial_metrics.h"
#include "hone/search/samplers/uniform_draw.h"

namespace hone {
namespace {

std::vector<std::string> config_keys(const Architecture& architecture) {
  std::vector<std::string> names = {architecture.keys.activation,
                                    architecture.keys.classifier_dropout};
  const auto add = [&](const auto& keys) {
    for (const auto& key : keys) names.emplace_back(key.key);
  };
  add(architecture.keys.sizes);
  add(architecture.keys.numbers);
  add(architecture.keys.switches);
  return names;
}

void check_metrics(const MetricFormula& formula, const std::vector<std::string>& known) {
  for (const std::string& name : formula.names())
    user_check(std::ranges::find(known, name) != known.end(),
               "formula '{}': no metric is called '{}'; there are {}{}", formula.text(), name,
               fmt::join(known, ", "), did_you_mean(name, known));
}

}  // namespace

void check_recipe(const SearchRecipe& recipe, const TrialSubject& subject) {
  const Architecture& kind =
      find_architecture(subject.baseline.model.facts.architecture, "a model");
  const std::vector<std::string> keys = config_keys(kind);
  for (const SearchSetting& setting : recipe.architecture)
    user_check(std::ranges::find(keys, setting.key) != keys.end(),
               "{}: [architecture]: the config.json of {} has no key '{}', so it would change "
               "nothing; known are {}{}",
               recipe.at(setting.line), kind.title, setting.key, fmt::join(keys, ", "),
               did_you_mean(setting.key, keys));
  const std::vector<std::string> known = metric_names(subject);
  for (const ObjectiveFormula& objective : recipe.objectives)
    check_metrics(objective.formula, known);
  for (const FormulaConstraint& constraint : recipe.constraints) {
    check_metrics(constraint.left, known);
    check_metrics(constraint.right, known);
  }
  if (recipe.allocation && !subject.fresh)
    with_context(fmt::format("{}: [allocation]", recipe.at(recipe.allocation->line)), [&] {
      const AllocationRequest& request = recipe.allocation->request;
      const Model& model = subject.baseline.model;
      check_request(model, request, layer_costs(unquantized_graph(model), request.options));
    });
  user_check(
      !subject.fresh || recipe.training.has_value(),
      "{}: every trial has new random weights, and nothing trains them; add a section [training]",
      recipe.where);
  user_check(!subject.fresh || !recipe.structure,
             "{}: [structure] removes parts of trained weights, but every trial has new random "
             "weights; choose their shape by [architecture]",
             recipe.where);
  user_check(
      !recipe.distillation || !subject.fresh,
      "{}: [distillation]: there is no trained teacher, because every trial has new random weights",
      recipe.where);
  user_check(!recipe.distillation || subject.baseline.model.facts.task() == Task::single_label,
             "{}: [distillation] supports only single_label_classification; the task is {}",
             recipe.where, to_string(subject.baseline.model.facts.task()));
  user_check(!recipe.distillation || recipe.training || recipe.train_on,
             "{}: [distillation] needs [training] or [train_on]", recipe.where);
  user_check(!recipe.lora || recipe.training.has_value(),
             "{}: [lora] needs [training], which trains the adapters", recipe.where);
  user_check(!recipe.lora || !subject.fresh,
             "{}: [lora] needs a trained model, but every trial has new random weights",
             recipe.where);
}

std::vector<std::string> dead_parameters(const TrialSpace& space, const TrialSubject& subject,
                                         Context& context) {
  constexpr std::int64_t kPoints = 8, kOthers = 4, kDraws = 200;
  // Returns the effect of a point as text: its graph and its configuration.
  const auto effect = [&](const Assignment& values) {
    const TrialConfiguration configuration = space.configuration_of(values);
    Json json = to_json(configuration);
    json.erase("architecture");
    if (configuration.architecture.empty()) return to_line(json);
    const ModelFacts facts = trial_facts(subject, configuration.architecture);
    return to_line(json) + to_string(trial_graph(subject, configuration.architecture, context)) +
           fmt::format("{}", config_of(facts).initializer_range);
  };
  std::vector<std::string> dead;
  for (const SpaceParameter& parameter : space.space().parameters) {
    bool changes = false;
    std::int64_t points = 0;  // points that have the parameter
    RandomSequence random(subject.seed, stream_of(parameter.name));
    for (std::int64_t draw = 0; draw < kDraws && points < kPoints && !changes; ++draw) {
      const std::optional<Assignment> values = draw_point(space.space(), random);
      if (!values || !values->contains(parameter.name)) continue;
      ++points;
      const std::string before = effect(*values);
      Assignment others = *values;
      others.erase(parameter.name);
      for (std::int64_t other = 0; other < kOthers && !changes; ++other)
        if (const std::optional<Assignment> point = draw_point(space.space(), random, others))
          changes = effect(*point) != before;
    }
    // A parameter that no point has is rare; its effect is not known.
    if (points > 0 && !changes) dead.push_back(parameter.name);
  }
  return dead;
}

}  // namespace hone
