#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hone/jobs/search/search_recipe.h"

namespace hone {

/// The linears of a model, as far as a space asks for them.
struct LinearNames {
  std::vector<std::string> all;
  std::vector<std::string> square;  ///< those with as many outputs as inputs
};

/// The linears of the model with these keys of its config.json.
using LinearsOf = std::function<LinearNames(const Json& architecture)>;

/// One point of a space, spelled out: what a trial does. It tells nothing of how the space was written, so that equal ones are equal
/// in all studies.
struct TrialConfiguration {
  Json architecture = Json::object();        ///< keys of config.json
  std::vector<std::string> identities = {};  ///< linears that are not there
  /// Objects, by their keys.
  std::optional<Json> structure = {}, training = {}, lora = {}, pruning = {}, native = {},
                      train_on = {}, distillation = {};
  /// Formats by layer and operand, as they print: {"layer": {"weight": "int(bits=8)"}}.
  Json formats = Json::object();
  Json sparsities = Json::object();  ///< as `LayerSparsity`, by layer; 0 is left out
  Json allocation = {};              ///< what each trial allocates within what; null: nothing
};
Json to_json(const TrialConfiguration& configuration);

/// The space of a recipe: parameters are called by their keys, in sections behind that of the section ("training.learning_rate"), those of
/// layers behind the layer's name ("bert.pooler.dense.format", ".integer.width"), squares "bert.pooler.dense_type" as in MASE. Throws
/// `UserError` for globs that name no linear of any model of the space.
class TrialSpace {
 public:
  TrialSpace(SearchRecipe recipe, LinearsOf linears);
  TrialSpace(const TrialSpace&) = delete;
  TrialSpace& operator=(const TrialSpace&) = delete;

  /// Points of which `objection` says why they are none are not tried; "": it has none.
  void object_by(std::function<std::string(const TrialConfiguration&)> objection);

  const SearchSpace& space() const { return space_; }
  const SearchRecipe& recipe() const { return recipe_; }
  TrialConfiguration configuration_of(const Assignment& values) const;
  /// The lists that people gave to choose from, of parameters that are indices into them, by their names.
  Json index_values() const;
  /// The linears that the groups of precision name in the model of these values; all of them where there is no such group.
  std::vector<std::string> precision_layers(const TrialConfiguration& configuration) const;
  /// What studies hold for a meant value of the parameter of this name: an index where people gave a list of numbers.
  Json external_of(const std::string& name, const Json& meant) const;
  /// What studies hold for points to begin with, one for each of the recipe's. Throws `UserError` for parameters and values that the space does
  /// not have.
  std::vector<Json> first_points() const;

 private:
  void add_setting(const std::string& name, const SearchSetting& setting,
                   std::function<bool(const Assignment&)> active = {});
  void add_squares();
  void add_precision();
  void add_formats(const std::string& name, const PrecisionGroup& group,
                   const std::function<bool(const Assignment&)>& active);
  Json architecture_of(const Assignment& values) const;
  const LinearNames& linears_of(const Json& architecture) const;
  /// The last group that names a linear; null: none does.
  const PrecisionGroup* group_of(const std::string& linear) const;
  bool has_layer(const std::string& layer, const Assignment& values) const;
  std::vector<std::string> possible_linears(bool square) const;
  std::string format_of(const std::string& name, const PrecisionGroup& group,
                        const Assignment& values) const;

  SearchRecipe recipe_;
  LinearsOf make_linears_;
  SearchSpace space_;
  std::map<std::string, SearchSetting> settings_;       // by the names of parameters
  mutable std::map<std::string, LinearNames> linears_;  // by architecture, as JSON
};

}  // namespace hone
