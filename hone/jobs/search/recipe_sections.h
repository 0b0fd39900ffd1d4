#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/options.h"
#include "hone/jobs/fine_tune.h"
#include "hone/jobs/prune/shapes.h"
#include "hone/jobs/search/trial_space.h"
#include "hone/passes/distill.h"
#include "hone/passes/lora.h"
#include "hone/passes/prune.h"

/// The sections of settings of search recipes: their options, and where recipes and trials store them.
namespace hone {

/// [structure]: heads, neurons and layers to remove from a trained model, before anything else.
struct StructureSection {
  double heads = 0, neurons = 0, layers = 0;  ///< shares
  StructureOptions how = {.method = std::string(kDefaultUnitMethod)};

  bool idle() const { return heads == 0 && neurons == 0 && layers == 0; }
};
Options options_of(const StructureSection*);

/// [training] and [train_on]: differences from the training options of all trials.
struct TrainingSection {
  FineTuneOptions how = {.training = {.epochs = -1, .max_steps = -1}};  ///< negative: not given

  /// Returns whether it gives a length of training, and that is 0.
  bool idle() const {
    return std::max(how.training.epochs, static_cast<double>(how.training.max_steps)) == 0;
  }
};
Options options_of(const TrainingSection*);

/// [lora]: adapters that [training] trains.
struct LoraSection {
  LoraOptions adapters = {};                    ///< without the defaults of `adapter_options`
  std::optional<double> learning_rate = {};     ///< replaces that of [training]
  std::optional<std::int64_t> most_steps = {};  ///< longer trainings train all weights instead
};
Options options_of(const LoraSection*);

/// [pruning]: single weights or blocks, and small activations.
struct PruningSection {
  PruneOptions weights = {.rule = {.sparsity = 0}};
  double activations = 0;  ///< share of the pruned layers' inputs to set to zero

  /// A pattern such as 2:4 sets the sparsity itself.
  bool has_pattern() const { return weights.rule.structure.pattern.has_value(); }
  bool idle() const { return weights.rule.sparsity == 0 && !has_pattern() && activations == 0; }
};
Options options_of(const PruningSection*);

/// [native]: a packed model with native products. Formats as text, or "none".
struct NativeSection {
  std::string linears = "none";
  std::string tables = "none";  ///< embedding and position tables
  /// The format of the linears in which it does the least damage in sum. `narrow_share` is the saving in bits, as a
  /// share of the saving of all linears in this format.
  std::string narrow = "none";
  double narrow_share = 0;
  std::vector<std::string> freeze = {};  ///< globs: these layers stay in fp32

  bool narrows() const { return linears != "none" && narrow_share != 0; }
  bool idle() const { return linears == "none" && tables == "none"; }
};
Options options_of(const NativeSection*);

/// [distillation]: trainings use the baseline as teacher.
Options options_of(const Distillation*);

/// A section of settings.
struct RecipeSection {
  std::string_view name;
  SearchRecipe::Section SearchRecipe::*settings;
  std::optional<Json> TrialConfiguration::*values;
  Options options;
  /// Throws `UserError` for an invalid value of the option.
  void (*check)(const OptionDef& option, const Json& value);
  bool (*idle)(const Json& values);  ///< whether a section with these values has no effect

  /// Returns the names of its options.
  std::vector<std::string> keys() const;
};
/// Returns all sections, in the order of the parameters of a space.
const std::vector<RecipeSection>& recipe_sections();

/// Returns the settings that do not vary, by their keys.
Json fixed_values(const SearchRecipe::Section& section);

/// Sets members by the keys of `values`, which are names of options. Throws `UserError` for an invalid value.
void set_options(const Options& options, const Json& values, void* object);

/// Converts a section's values to a struct; members without a value are those of `base`.
template <HasOptions T>
T settings_of(const Json& values, T base = {}) {
  static const Options rows = options<T>();
  set_options(rows, values, &base);
  return base;
}

}  // namespace hone
