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

/// The sections of settings that a search recipe may have: what each holds, and where recipes and trials keep it.
namespace hone {

/// [structure]: whole parts of a trained model that go, first of all.
struct StructureSection {
  double heads = 0, neurons = 0, layers = 0;  ///< shares
  StructureOptions how = {.method = std::string(kUsualUnitMethod)};

  bool idle() const { return heads == 0 && neurons == 0 && layers == 0; }
};
Options options_of(const StructureSection*);

/// [training] and [train_on]: what differs from the options that all trials train by.
struct TrainingSection {
  FineTuneOptions how = {.training = {.epochs = -1, .max_steps = -1}};  ///< negative: not given

  /// It says how far to train, and that is nowhere.
  bool idle() const {
    return std::max(how.training.epochs, static_cast<double>(how.training.max_steps)) == 0;
  }
};
Options options_of(const TrainingSection*);

/// [lora]: adapters that [training] trains.
struct LoraSection {
  LoraOptions adapters = {};                    ///< without what `adapter_options` fills in
  std::optional<double> learning_rate = {};     ///< in place of that of [training]
  std::optional<std::int64_t> most_steps = {};  ///< longer trainings are of all weights
};
Options options_of(const LoraSection*);

/// [pruning]: weights, single ones or blocks, and small activations.
struct PruningSection {
  PruneOptions weights = {.rule = {.sparsity = 0}};
  double activations = 0;  ///< share of what the pruned layers read that goes

  /// A pattern such as 2:4 sets the sparsity itself.
  bool has_pattern() const { return weights.rule.structure.pattern.has_value(); }
  bool idle() const { return weights.rule.sparsity == 0 && !has_pattern() && activations == 0; }
};
Options options_of(const PruningSection*);

/// [native]: a packed model whose products are of codes. Formats as text, or "none".
struct NativeSection {
  std::string linears = "none";
  std::string tables = "none";  ///< of embeddings and positions
  /// The format that `narrow_share` of the bits between the two is saved by, in the linears in which it does the least damage together.
  std::string narrow = "none";
  double narrow_share = 0;
  std::vector<std::string> freeze = {};  ///< globs: these layers stay in fp32

  bool narrows() const { return linears != "none" && narrow_share != 0; }
  bool idle() const { return linears == "none" && tables == "none"; }
};
Options options_of(const NativeSection*);

/// [distillation]: trainings learn from the model that trials are made of.
Options options_of(const Distillation*);

/// A section of settings.
struct RecipeSection {
  std::string_view name;
  SearchRecipe::Section SearchRecipe::*settings;
  std::optional<Json> TrialConfiguration::*values;
  Options options;
  /// Throws `UserError` for a value that the option refuses.
  void (*check)(const OptionDef& option, const Json& value);
  bool (*idle)(const Json& values);  ///< whether a section of these values does nothing

  /// All names of its options.
  std::vector<std::string> keys() const;
};
/// All that there are, in the order of the parameters of a space.
const std::vector<RecipeSection>& recipe_sections();

/// The settings that do not vary, by their keys.
Json fixed_values(const SearchRecipe::Section& section);

/// Sets members by the keys of `values`, which are names of options. Throws `UserError` for a value that one refuses.
void set_options(const Options& options, const Json& values, void* object);

/// A section's values by their keys, as a struct; members without a value are those of `base`.
template <HasOptions T>
T settings_of(const Json& values, T base = {}) {
  static const Options rows = options<T>();
  set_options(rows, values, &base);
  return base;
}

}  // namespace hone
