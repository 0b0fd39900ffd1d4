#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hone/jobs/search/search_recipe.h"

namespace hone {

/// Names of the linears of a model.
struct LinearNames {
  std::vector<std::string> all;
  std::vector<std::string> square;  ///< those with as many outputs as inputs
};

/// Returns the linears of the model with these keys in its config.json.
using LinearsOf = std::function<LinearNames(const Json& architecture)>;

/// The configuration of a trial, independent of how the space is written, so that equal ones are equal in all studies.
struct TrialConfiguration {
  Json architecture = Json::object();        ///< keys of config.json
  std::vector<std::string> identities = {};  ///< linears replaced by the identity
  /// Sections as objects, by their keys.
  std::optional<Json> structure = {}, training = {}, lora = {}, pruning = {}, native = {},
                      train_on = {}, distillation = {};
  /// Formats by layer and operand, as they print: {"layer": {"weight": "int(bits=8)"}}.
  Json formats = Json::object();
  Json sparsities = Json::object();  ///< `LayerSparsity` by layer; 0 is left out
  Json allocation = {};              ///< request of the trial's own allocation; null: none
};
Json to_json(const TrialConfiguration& configuration);

/// The space of a recipe. Parameters are named by section and key ("training.learning_rate"), or by layer
/// ("bert.pooler.dense.format", ".integer.width"); square linears are "bert.pooler.dense_type", as in MASE. Throws
/// `UserError` for globs that match no linear of any model in the space.
class TrialSpace {
 public:
  TrialSpace(SearchRecipe recipe, LinearsOf linears);
  TrialSpace(const TrialSpace&) = delete;
  TrialSpace& operator=(const TrialSpace&) = delete;

  /// Excludes the points for which `objection` returns a reason; "" accepts a point.
  void set_objection(std::function<std::string(const TrialConfiguration&)> objection);

  const SearchSpace& space() const { return space_; }
  const SearchRecipe& recipe() const { return recipe_; }
  TrialConfiguration configuration_of(const Assignment& values) const;
  /// Returns the lists that index parameters refer to, by the names of the parameters.
  Json index_values() const;
  /// Returns the linears that the precision groups match in this model; all linears without such groups.
  std::vector<std::string> precision_layers(const TrialConfiguration& configuration) const;
  /// Returns what studies store for a value of this parameter: an index if the recipe has a list of numbers.
  Json external_of(const std::string& name, const Json& decoded) const;
  /// Returns the recipe's first points as studies store them. Throws `UserError` for points outside the space.
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
  /// Returns the last group that matches a linear; null if there is none.
  const PrecisionGroup* group_of(const std::string& linear) const;
  bool has_layer(const std::string& layer, const Assignment& values) const;
  std::vector<std::string> possible_linears(bool square) const;
  std::string format_of(const std::string& name, const PrecisionGroup& group,
                        const Assignment& values) const;

  SearchRecipe recipe_;
  LinearsOf make_linears_;
  SearchSpace space_;
  std::map<std::string, SearchSetting> settings_;       // by parameter name
  mutable std::map<std::string, LinearNames> linears_;  // by architecture, as JSON
};

}  // namespace hone
