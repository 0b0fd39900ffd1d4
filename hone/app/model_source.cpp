#include "hone/app/model_source.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/text.h"
#include "hone/data/synthetic_words.h"
#include "hone/frontends/huggingface/hub_cache.h"
#include "hone/passes/quantize.h"
#include "hone/text/tokenizer_files.h"

namespace hone {
namespace {

struct FreshShape {
  std::string_view name;
  std::int64_t hidden_size, layers, heads, intermediate_size;
};
constexpr FreshShape kFreshShapes[] = {{"tiny", 128, 2, 2, 512}, {"base", 768, 12, 12, 3072}};

// The config.json of a shape; keys that it leaves out have the values of Hugging Face.
Json fresh_config(std::string_view name) {
  for (const FreshShape& shape : kFreshShapes)
    if (shape.name == name)
      return {{"model_type", "bert"},
              {"hidden_size", shape.hidden_size},
              {"num_hidden_layers", shape.layers},
              {"num_attention_heads", shape.heads},
              {"intermediate_size", shape.intermediate_size}};
  fail("'{}' is no built-in shape; there are {}", name, fmt::join(fresh_model_names(), ", "));
}

// The folder of a repeated job holds a model for each seed, and none itself.
void check_not_seeds(const fs::path& folder) {
  if (!is_folder(folder) || path_exists(folder / "config.json")) return;
  std::vector<std::string> seeds;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with("seed-") &&
        path_exists(entry.path() / "config.json"))
      seeds.push_back(entry.path().string());
  std::ranges::sort(seeds);
  user_check(seeds.empty(), "{}: is a folder of seeds, not a model; give one of them: {}",
             folder.string(), fmt::join(seeds, ", "));
}

void check_vocabulary(TextModel& source) {
  const std::int64_t rows = source.model.facts.limits.vocabulary;
  user_check(source.tokenizer.vocabulary_size() <= rows,
             "{}: the vocabulary has {} tokens, the embedding only {} rows; vocabulary and weights "
             "do not belong together",
             source.folder.string(), source.tokenizer.vocabulary_size(), rows);
  const std::int64_t surplus = rows - source.tokenizer.vocabulary_size();
  if (surplus == 0) return;
  source.model.warnings.push_back(fmt::format(
      "{} of {} rows of the embedding have no token in the vocabulary; fine if they are padding",
      surplus, rows));
}

}  // namespace

std::vector<std::string> fresh_model_names() {
  std::vector<std::string> names;
  for (const FreshShape& shape : kFreshShapes) names.emplace_back(shape.name);
  return names;
}

ModelFacts fresh_facts(std::string_view name) { return model_facts(fresh_config(name), name); }

fs::path find_model(const std::string& name) {
  if (path_exists(name)) {
    check_not_seeds(name);
    return name;
  }
  const std::optional<HubName> on_hub = parse_hub_name(name);
  user_check(on_hub.has_value(),
             "{}: no such model folder; give a folder with config.json and weights, or the name of "
             "a model as on the Hugging Face hub, e.g. prajjwal1/bert-tiny",
             name);
  return find_in_hub_cache(*on_hub, hub_cache_folder());
}

bool is_fresh(const std::string& name) {
  const std::vector<std::string> names = fresh_model_names();
  return std::find(names.begin(), names.end(), name) != names.end() && !path_exists(name);
}

TextModel open_model(const std::string& source, const Context& context, std::uint64_t seed,
                     const std::vector<std::string>& labels, HeadFit head) {
  if (!is_fresh(source)) {
    const fs::path folder = find_model(source);
    TextModel opened{
        load_model(folder, context.library.ops, context.library.formats, seed, labels, head),
        load_tokenizer(folder), folder, read_trained_on(folder)};
    check_vocabulary(opened);
    if (std::string reason = disbelief(folder); !reason.empty())
      opened.model.warnings.push_back(std::move(reason));
    if (opened.model.fresh_head) {
      if (!opened.trained_on) opened.trained_on = TrainedOn{.complete = false};
      opened.trained_on->untrained_head = true;
    }
    return opened;
  }
  return make_model(source, synthetic_tokenizer(), context, seed, labels);
}

TextModel make_model(const std::string& name, Tokenizer tokenizer, const Context& context,
                     std::uint64_t seed, const std::vector<std::string>& labels, const Json& keys) {
  Json config = fresh_config(name);
  config["vocab_size"] = tokenizer.vocabulary_size();
  config.update(keys);
  ModelFacts facts = model_facts(config, name);
  if (!labels.empty()) facts.labels = labels;
  return {new_model(facts, context.library.ops, seed), std::move(tokenizer), {}, TrainedOn{}};
}

void write_tokenizer(const TextModel& source, const fs::path& folder) {
  if (source.folder.empty()) return save_tokenizer(source.tokenizer, folder);
  for (const fs::path& file : tokenizer_files(source.folder))
    write_file(folder / file.filename(), read_file(file));
}

std::string untrained_warning(const TextModel& source, const std::string& name) {
  if (!source.trained_on || !source.trained_on->untrained()) return "";
  return fmt::format(
      "{} is not trained: its {} as drawn at random, and its figures are those of chance", name,
      source.trained_on->nothing() ? "weights are" : "head is");
}

void write_model(const TextModel& source, const fs::path& folder) {
  save_model(source.model, folder);
  write_tokenizer(source, folder);
  write_trained_on(source.trained_on, folder);
}

}  // namespace hone
