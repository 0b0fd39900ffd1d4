#include "hone/jobs/search/recipe_sections.h"

namespace hone {
namespace {

template <HasOptions T>
RecipeSection section(std::string_view name, SearchRecipe::Section SearchRecipe::*settings,
                      std::optional<Json> TrialConfiguration::*values) {
  return {.name = name,
          .settings = settings,
          .values = values,
          .options = options<T>(),
          .check =
              [](const OptionDef& option, const Json& value) {
                T object;
                set_option(option, &object, value);
              },
          .idle =
              [](const Json& given) {
                if constexpr (requires(const T& object) { object.idle(); })
                  return settings_of<T>(given).idle();
                else
                  return false;
              }};
}

}  // namespace

Options options_of(const StructureSection*) {
  using S = StructureSection;
  return {option<&S::heads>("heads", "fraction of the attention heads to remove").from(0, 1),
          option<&S::neurons>("neurons", "fraction of the neurons to remove").from(0, 1),
          option<&S::layers>("layers", "fraction of the layers to remove").from(0, 1),
          option<&S::how, &StructureOptions::method>("method", "criterion for what to remove")
              .one_of({"l1", "l2", "first_order"}),
          option<&S::how, &StructureOptions::scope>(
              "scope", "remove the same fraction everywhere, or the least important of all"),
          option<&S::how, &StructureOptions::freeze>("freeze", "linear layers that stay whole")};
}

Options options_of(const TrainingSection*) { return group<&TrainingSection::how>(); }

Options options_of(const LoraSection*) {
  using S = LoraSection;
  return {option<&S::adapters, &LoraOptions::rank>("r", "rank of the adapters").from(1),
          option<&S::adapters, &LoraOptions::alpha>("alpha", "scale of the adapters: alpha / r"),
          option<&S::adapters, &LoraOptions::dropout>("dropout", "dropout of the adapters' inputs")
              .from(0, 1),
          option<&S::adapters, &LoraOptions::target>("target", "linear layers that get adapters"),
          option<&S::adapters, &LoraOptions::rank_stabilized>(
              "rslora", "scale the adapters by alpha / sqrt(r) instead"),
          option<&S::adapters, &LoraOptions::modules_to_save>("modules_to_save",
                                                              "modules to train in full"),
          option<&S::learning_rate>("learning_rate", "peak learning rate with adapters").from(0),
          option<&S::most_steps>("most_steps", "longest training with adapters").from(1)};
}

Options options_of(const PruningSection*) {
  using S = PruningSection;
  return {option<&S::weights, &PruneOptions::rule, &PruneRule::sparsity>(
              "sparsity", "fraction of the weights to remove")
              .from(0, 1),
          option<&S::weights, &PruneOptions::rule, &PruneRule::structure>(
              "structure", "what to remove: weights, blocks such as 1x4, or N:M"),
          option<&S::weights, &PruneOptions::rule, &PruneRule::method>(
              "method", "criterion for what to remove"),
          option<&S::weights, &PruneOptions::rule, &PruneRule::scope>(
              "scope", "apply the sparsity to each tensor, or to all together"),
          option<&S::activations>("activations", "fraction of the layers' inputs to set to zero")
              .from(0, 1),
          option<&S::weights, &PruneOptions::target>("target", "operations to prune")};
}

Options options_of(const NativeSection*) {
  using S = NativeSection;
  return {option<&S::linears>("linears", "format of the linear layers"),
          option<&S::narrow>("narrow", "narrower format of some linear layers"),
          option<&S::narrow_share>("narrow_share", "fraction of the bits that `narrow` saves")
              .from_to(0, 1),
          option<&S::tables>("tables", "format of the embedding tables"),
          option<&S::freeze>("freeze", "layers that stay in fp32")};
}

Options options_of(const Distillation*) {
  return {
      option<&Distillation::alpha>("alpha", "weight of the label loss").from_to(0, 1),
      option<&Distillation::temperature>("temperature", "distillation temperature").above_zero()};
}

std::vector<std::string> RecipeSection::keys() const {
  std::vector<std::string> keys;
  for (const OptionDef& row : options.rows)
    keys.insert(keys.end(), row.names.begin(), row.names.end());
  return keys;
}

const std::vector<RecipeSection>& recipe_sections() {
  using R = SearchRecipe;
  using T = TrialConfiguration;
  static const std::vector<RecipeSection> sections = {
      section<StructureSection>("structure", &R::structure, &T::structure),
      section<TrainingSection>("training", &R::training, &T::training),
      section<LoraSection>("lora", &R::lora, &T::lora),
      section<PruningSection>("pruning", &R::pruning, &T::pruning),
      section<NativeSection>("native", &R::native, &T::native),
      section<TrainingSection>("train_on", &R::train_on, &T::train_on),
      section<Distillation>("distillation", &R::distillation, &T::distillation)};
  return sections;
}

Json fixed_values(const SearchRecipe::Section& section) {
  Json values = Json::object();
  if (section)
    for (const SearchSetting& setting : *section)
      if (!setting.varies()) values[setting.key] = setting.value;
  return values;
}

void set_options(const Options& options, const Json& values, void* object) {
  for (const auto& [key, value] : values.items()) {
    const OptionDef* const row = find_option(options, key);
    HONE_ASSERT(row != nullptr, "no setting is called '{}'", key);
    with_context(key, [&, &given = value] { set_option(*row, object, given); });
  }
}

}  // namespace hone
