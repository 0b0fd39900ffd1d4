#include "hone/models/model_source.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/output_folder.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/data/synthetic_words.h"
#include "hone/frontends/huggingface/architecture.h"
#include "hone/frontends/huggingface/element_type.h"
#include "hone/frontends/huggingface/hub_cache.h"
#include "hone/frontends/huggingface/image_processor.h"
#include "hone/frontends/huggingface/missing_head.h"
#include "hone/frontends/huggingface/score_activation.h"
#include "hone/models/adapter.h"
#include "hone/passes/quantize.h"
#include "hone/text/tokenizer_files.h"
#include "hone/train/checkpoints.h"

namespace hone {
namespace {

/// A named config.json; missing keys have the values of Hugging Face.
struct Preset {
  std::string_view name;
  std::string_view config;
};
constexpr Preset kPresets[] = {
    {"tiny", R"({"model_type": "bert", "hidden_size": 128, "num_hidden_layers": 2,
                 "num_attention_heads": 2, "intermediate_size": 512})"},
    {"base", R"({"model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12,
                 "num_attention_heads": 12, "intermediate_size": 3072})"},
    {"resnet18", R"({"model_type": "resnet", "hidden_sizes": [64, 128, 256, 512],
                     "depths": [2, 2, 2, 2], "layer_type": "basic", "num_labels": 1000})"},
};

bool is_preset(std::string_view name) {
  return std::ranges::find(kPresets, name, &Preset::name) != std::end(kPresets);
}

bool is_config_file(const std::string& name) {
  std::error_code error;
  return name.ends_with(".json") && fs::is_regular_file(name, error);
}

fs::path folder_of(const std::string& config_file) {
  const fs::path parent = fs::path(config_file).parent_path();
  return parent.empty() ? "." : parent;
}

Json new_model_config(const std::string& name) {
  if (is_config_file(name)) return read_json(name);
  for (const Preset& preset : kPresets)
    if (preset.name == name) return parse_json(preset.config, preset.name);
  fail("'{}' is no built-in shape; there are {}", name, fmt::join(new_model_names(), ", "));
}

// Lists the config values that changed, and warns that words are split as in BERT.
std::vector<std::string> changes(const std::string& name, const EncoderConfig& before,
                                 const EncoderConfig& after, std::string_view tokenizer_class) {
  std::vector<std::string> keys;
  const auto shown = [](const std::optional<std::int64_t>& id) {
    return id ? std::to_string(*id) : "null";
  };
  if (before.vocab_size != after.vocab_size)
    keys.push_back(fmt::format("vocab_size {} instead of {}", after.vocab_size, before.vocab_size));
  if (before.pad_token_id != after.pad_token_id)
    keys.push_back(fmt::format("pad_token_id {} instead of {}", shown(after.pad_token_id),
                               shown(before.pad_token_id)));
  std::vector<std::string> lines;
  if (!keys.empty())
    lines.push_back(
        fmt::format("{}: its folder has no tokenizer, so the model gets another vocabulary and has "
                    "{}",
                    name, fmt::join(keys, " and ")));
  if (tokenizer_class != Architecture().tokenizer_class)
    lines.push_back(
        fmt::format("{}: its vocabulary is WordPiece (BertTokenizer), not byte pairs ({}), which "
                    "hone cannot train; put vocab.json and merges.txt, or tokenizer.json, into its "
                    "folder",
                    name, tokenizer_class));
  return lines;
}

// The folder of a repeated job contains one model per seed, and none itself.
void check_not_seed_folder(const fs::path& folder) {
  if (!is_folder(folder) || path_exists(folder / "config.json")) return;
  std::vector<std::string> seeds;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with("seed-") &&
        path_exists(entry.path() / "config.json"))
      seeds.push_back(entry.path().string());
  std::ranges::sort(seeds);
  user_check(seeds.empty(), "{}: is a folder with one model per seed; give one of them: {}",
             folder.string(), fmt::join(seeds, ", "));
}

// Rejects a folder that contains only an adapter.
void check_not_adapter(const fs::path& folder) {
  if (path_exists(folder / "config.json") || !path_exists(folder / kAdapterConfig)) return;
  const Json config = read_json(folder / kAdapterConfig);
  const Json base = config.is_object() ? config.value("base_model_name_or_path", Json()) : Json();
  fail(
      "{}: is an adapter, not a model: give the model that it was trained on{}, and the adapter by "
      "`adapter`",
      folder.string(),
      base.is_string() ? fmt::format(" ({})", shown_name(base.get<std::string>())) : "");
}

Tokenizer in_lower_case(const Tokenizer& tokenizer, const fs::path& folder) {
  TokenizerDefinition definition = tokenizer.definition();
  auto* const model = std::get_if<WordPieceModel>(&definition.model);
  user_check(model != nullptr,
             "{}: sentence_bert_config.json requires lower case (do_lower_case), which is "
             "supported only with WordPiece; this tokenizer is of another kind",
             folder.string());
  model->normalization.lowercase = true;
  return Tokenizer(std::move(definition));
}

// The graph counts the tokens that differ from the config's padding id, whatever the mask is.
void check_padding(const Tokenizer& tokenizer, const ModelFacts& facts, const fs::path& folder) {
  const std::optional<std::int64_t>& padding = facts.limits.padding;
  user_check(!padding || tokenizer.pad_id() == *padding,
             "{}: the tokenizer pads with '{}', token {}, but pad_token_id of config.json "
             "is {}, and positions are counted from there: other tokens would be treated as "
             "padding; use the tokenizer that the model was trained with, or correct the "
             "wrong one of the two",
             folder.string(), shown_name(tokenizer.definition().special.pad), tokenizer.pad_id(),
             padding.value_or(0));
}

// Returns the folder's preprocessing, or the usual one.
ImagePreparation read_folder_preparation(const fs::path& folder, const ImageSize& size) {
  const fs::path file = folder / kImageProcessorFile;
  if (folder.empty() || !path_exists(file)) return usual_preparation(size);
  return read_preparation(read_json(file), size, file.string());
}

// Returns an image model, with the preprocessing in the folder of its config.json, if any.
TextModel image_model(Model model, const fs::path& folder) {
  const ImageSize size = *model.facts.limits.image;
  TextModel made{std::move(model), synthetic_tokenizer(), {}};
  made.images = read_folder_preparation(folder, size);
  return made;
}

// Returns the folder of the tokenizer's files; empty if it has none.
const fs::path& tokenizer_folder(const TextModel& source) {
  return source.tokenizer_folder.empty() ? source.folder : source.tokenizer_folder;
}

void check_vocabulary(TextModel& source) {
  const std::int64_t rows = source.model.facts.limits.vocabulary;
  user_check(source.tokenizer.vocabulary_size() <= rows,
             "{}: the vocabulary has {} tokens, the embedding only {} rows; vocabulary and "
             "weights do not match",
             tokenizer_folder(source).string(), source.tokenizer.vocabulary_size(), rows);
  const std::int64_t surplus = rows - source.tokenizer.vocabulary_size();
  if (surplus == 0) return;
  source.model.warnings.push_back(fmt::format(
      "{} of {} rows of the embedding have no token in the vocabulary; fine if they are padding",
      surplus, rows));
}

// A report's folder contains models in subfolders.
void check_has_config(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error) || path_exists(folder / "config.json") ||
      path_exists(folder / "modules.json"))
    return;
  std::vector<std::string> inside;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (path_exists(entry.path() / "config.json")) inside.push_back(entry.path().string());
  std::ranges::sort(inside);
  user_check(inside.empty(), "{}: not a model folder: it has no config.json; it contains the {} {}",
             folder.string(), inside.size() == 1 ? "model" : "models", fmt::join(inside, ", "));
}

// Lists the models in the folder of the missing `name`: `shrink` uses another name for one that it could not show to be
// within the limit.
void check_no_similar_models(const fs::path& name) {
  std::vector<std::string> beside;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(name.parent_path(), error))
    if (path_exists(entry.path() / "config.json"))
      beside.push_back(entry.path().string() + (entry.path().filename() == "unproven"
                                                    ? " (not shown to be within the limit)"
                                                    : ""));
  std::ranges::sort(beside);
  user_check(beside.empty(), "{}: no such model folder; {} contains {}", name.string(),
             name.parent_path().string(), fmt::join(beside, ", "));
}

// Returns the names of the folders in `folder` with a config.json, sorted.
std::vector<std::string> models_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder.empty() ? "." : folder, error))
    if (path_exists(entry.path() / "config.json")) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

// A job renames its folder when it is done.
void check_not_interrupted(const fs::path& name) {
  const fs::path partial = partial_folder(name);
  if (!is_folder(partial)) return;
  const std::vector<std::int64_t> steps = checkpoint_steps(partial);
  fail(
      "{}: no such model folder yet; the run that writes it was interrupted, or is "
      "still running: {} exists. Run its command again with `--resume` to continue{}",
      name.string(), partial.string(),
      steps.empty() ? ""
                    : fmt::format(", or use its newest checkpoint: {}",
                                  (partial / fmt::format("checkpoint-{}", steps.back())).string()));
}

void check_not_misspelled(const fs::path& name) {
  std::vector<std::string> names = models_in(name.parent_path());
  if (!name.has_parent_path())
    for (const Preset& preset : kPresets) names.emplace_back(preset.name);
  const std::string near = nearest(name.filename().string(), names);
  user_check(near.empty(), "{}: no such model folder; did you mean '{}'?", name.string(),
             (name.parent_path() / near).string());
}

TextModel read_text_model(Model model, const SentenceEncoder& encoder) {
  Tokenizer tokenizer = read_tokenizer(encoder, model.facts);
  TextModel read{std::move(model), std::move(tokenizer), encoder.folder, {}, encoder.limit};
  check_vocabulary(read);
  return read;
}

}  // namespace

std::vector<std::string> new_model_names() {
  std::vector<std::string> names;
  for (const Preset& preset : kPresets) names.emplace_back(preset.name);
  return names;
}

ModelFacts new_model_facts(const std::string& name) {
  return model_facts(new_model_config(name), name);
}

fs::path find_model(const std::string& name) {
  if (path_exists(name)) {
    check_not_seed_folder(name);
    check_not_adapter(name);
    check_has_config(name);
    return name;
  }
  const std::optional<HubName> on_hub = parse_hub_name(name);
  if (!on_hub || !is_in_hub_cache(*on_hub, hub_cache_folder())) {
    check_not_interrupted(name);
    check_not_misspelled(name);
    check_no_similar_models(name);
  }
  user_check(on_hub.has_value(),
             "{}: no such model folder; give a folder with config.json and weights, or the name of "
             "a model as on the Hugging Face hub, e.g. prajjwal1/bert-tiny",
             name);
  return find_in_hub_cache(*on_hub, hub_cache_folder());
}

bool is_new_model(const std::string& name) {
  return is_config_file(name) || (is_preset(name) && !path_exists(name));
}

fs::path folder_with_tokenizer(const std::string& name) {
  if (!is_config_file(name)) return {};
  const fs::path folder = folder_of(name);
  return has_tokenizer(folder) ? folder : fs::path();
}

fs::path find_encoder(const std::string& name) {
  return read_sentence_encoder(find_model(name)).folder;
}

ModelFacts facts_of_model(const std::string& name) {
  if (is_new_model(name)) return new_model_facts(name);
  const fs::path file = find_encoder(name) / "config.json";
  return model_facts(read_json(file), file.string());
}

TextModel open_model(const std::string& source, Context& context, std::uint64_t seed,
                     const LabelScheme& labels, HeadFit head) {
  if (!is_new_model(source)) {
    const fs::path whole = find_model(source);
    const SentenceEncoder encoder = read_sentence_encoder(whole);
    const fs::path& folder = encoder.folder;
    Model model =
        load_model(folder, context.library.ops, context.library.formats, seed, labels, head);
    TextModel opened = model.facts.limits.image ? image_model(std::move(model), folder)
                                                : read_text_model(std::move(model), encoder);
    opened.folder = folder;
    read_score_activation(opened.model.facts, whole, json_reader());
    opened.prompt = read_score_prompt(whole, json_reader());
    opened.trained_on = read_trained_on(folder);
    if (encoder.is_listed) opened.sentence_folder = whole;
    if (std::string reason = distrust_reason(folder); !reason.empty())
      opened.model.warnings.push_back(std::move(reason));
    if (opened.model.has_untrained_head()) {
      if (!opened.trained_on) opened.trained_on = TrainedOn{.complete = false};
      opened.trained_on->untrained_head = true;
    }
    return opened;
  }
  const fs::path beside = folder_with_tokenizer(source);
  if (beside.empty()) return make_model(source, synthetic_tokenizer(), context, seed, labels);
  ModelFacts facts = new_model_facts(source);
  if (!labels.names.empty()) apply_labels(facts, labels);
  const SentenceEncoder encoder = read_sentence_encoder(beside);
  TextModel made{new_model(facts, context.library.ops, seed, &context.pool),
                 read_tokenizer({.folder = beside, .limit = encoder.limit}, facts),
                 {},
                 TrainedOn{},
                 encoder.limit};
  made.tokenizer_folder = beside;
  check_vocabulary(made);
  return made;
}

std::string usual_tokenizer_class(const ModelFacts& facts) {
  const Json named = facts.config.value("tokenizer_class", Json());
  return named.is_string()
             ? named.get<std::string>()
             : std::string(find_architecture(facts.architecture, "a model").tokenizer_class);
}

Tokenizer read_tokenizer(const SentenceEncoder& encoder, const ModelFacts& facts) {
  Tokenizer tokenizer = load_tokenizer(encoder.folder, usual_tokenizer_class(facts));
  if (encoder.lowercase) tokenizer = in_lower_case(tokenizer, encoder.folder);
  check_padding(tokenizer, facts, encoder.folder);
  return tokenizer;
}

TextModel make_model(const std::string& name, Tokenizer tokenizer, Context& context,
                     std::uint64_t seed, const LabelScheme& labels, const Json& keys) {
  const Json said = new_model_config(name);
  const bool of_images = model_facts(said, name).limits.image.has_value();
  Json config = said;
  if (!of_images) {
    config["vocab_size"] = tokenizer.vocabulary_size();
    config["pad_token_id"] = tokenizer.pad_id();
  }
  config.update(keys);
  ModelFacts facts = model_facts(config, name);
  if (!labels.names.empty()) apply_labels(facts, labels);
  if (of_images) {
    TextModel made = image_model(new_model(facts, context.library.ops, seed, &context.pool),
                                 is_config_file(name) ? folder_of(name) : fs::path());
    made.trained_on = TrainedOn{};
    return made;
  }
  TextModel made{new_model(facts, context.library.ops, seed, &context.pool),
                 std::move(tokenizer),
                 {},
                 TrainedOn{}};
  if (is_config_file(name))
    made.model.warnings = changes(name, config_of(model_facts(said, name)), config_of(facts),
                                  find_architecture(facts.architecture, name).tokenizer_class);
  return made;
}

void check_reads_texts(const ModelFacts& facts, const std::string& name, std::string_view what) {
  user_check(!facts.limits.image, "{}: it reads images; {} needs a model that reads texts", name,
             what);
}

std::int64_t max_tokens(const TextModel& source) {
  const std::int64_t positions = source.model.facts.limits.tokens;
  return source.limit ? std::min(source.limit->tokens, positions) : positions;
}

void write_tokenizer(const TextModel& source, const fs::path& folder) {
  if (source.images) {
    const fs::path file = source.folder / kImageProcessorFile;
    const bool given = !source.folder.empty() && path_exists(file);
    return write_file(folder / kImageProcessorFile,
                      given ? read_file(file) : to_document(to_json(*source.images)));
  }
  const fs::path& from = tokenizer_folder(source);
  if (from.empty()) save_tokenizer(source.tokenizer, folder, max_tokens(source));
  for (const fs::path& file : tokenizer_files(from))
    write_file(folder / file.filename(), read_file(file));
  if (source.truncation) write_truncation(*source.truncation, folder);
}

void check_has_head(const TextModel& source, const std::string& name) {
  if (!source.model.has_untrained_head()) return;
  const MissingHead missing = missing_head(source.model, source.folder);
  user_check(!missing.is_half,
             "{}: the classification head is incomplete: {}; download the whole checkpoint, "
             "or train the head with `hone train`",
             name, missing.text);
  fail(
      "{}: the model has no classification head: {}; `hone train` trains one, `hone predict "
      "--embed` prints the embeddings of texts",
      name, missing.text);
}

std::string untrained_warning(const TextModel& source, const std::string& name) {
  if (!source.trained_on || !source.trained_on->untrained()) return "";
  return fmt::format("{} is not trained: its {} random, so its metrics are at chance level", name,
                     source.trained_on->nothing() ? "weights are" : "head is");
}

void write_other_files(const TextModel& source, const fs::path& folder) {
  write_tokenizer(source, folder);
  if (!source.sentence_folder.empty()) copy_modules(source.sentence_folder, folder);
  write_trained_on(source.trained_on, folder);
}

void write_model(const TextModel& source, const fs::path& folder) {
  save_model(source.model, folder);
  write_other_files(source, folder);
  remove_element_type(folder);
}

}  // namespace hone
