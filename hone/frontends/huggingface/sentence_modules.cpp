#include "hone/frontends/huggingface/sentence_modules.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>

#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/frontends/huggingface/architecture.h"
#include "hone/passes/keep_outputs.h"

namespace hone {
namespace {

struct PoolingRow {
  Pooling pooling;
  std::string_view name;  ///< for "pooling_mode", the key of newer files
  const char* key;        ///< boolean key of older files
  std::string_view mode;  ///< of `pool_tokens`; empty: takes the first token
};

// In the order in which older files concatenate several.
constexpr PoolingRow kPoolings[] = {
    {Pooling::cls, "cls", "pooling_mode_cls_token", ""},
    {Pooling::max, "max", "pooling_mode_max_tokens", "max"},
    {Pooling::mean, "mean", "pooling_mode_mean_tokens", "mean"},
    {Pooling::mean_sqrt_len, "mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens",
     "mean_sqrt_len"},
};

const PoolingRow& row_of(Pooling pooling) {
  return *std::ranges::find(kPoolings, pooling, &PoolingRow::pooling);
}

// Returns the value of a key, null if it is missing.
Json member(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) ? object[key] : Json();
}

/// A JSON file and its path, for messages.
struct JsonFile {
  fs::path path;
  Json content;

  [[noreturn]] void refuse(std::string_view key, std::string_view expected, const Json& got) const {
    fail("{}: {}: expected {}, got {}", path.string(), key, expected, shorten(to_line(got), 80));
  }
  Json value(const char* key) const { return member(content, key); }
  bool boolean(const char* key, bool otherwise) const {
    const Json found = value(key);
    if (found.is_null()) return otherwise;
    if (!found.is_boolean()) refuse(key, "true or false", found);
    return found.get<bool>();
  }
  std::optional<std::int64_t> size(const char* key, std::int64_t least) const {
    const Json found = value(key);
    if (found.is_null()) return std::nullopt;
    // The value for "no limit" exceeds all integers.
    constexpr double kMost = 1e9;
    if (!found.is_number() || found.get<double>() < static_cast<double>(least))
      refuse(key, fmt::format("a number from {}", least), found);
    return static_cast<std::int64_t>(std::min(found.get<double>(), kMost));
  }
};

// Returns an empty object if the file does not exist.
JsonFile read_object(const fs::path& path, const JsonReader& read) {
  JsonFile file{path, read(path).value_or(Json::object())};
  user_check(file.content.is_object(), "{}: expected an object, got {}", path.string(),
             file.content.type_name());
  return file;
}

void check_order(const std::vector<ListedModule>& modules, const fs::path& path) {
  constexpr std::array<std::string_view, 3> kKnown = {"Transformer", "Pooling", "Normalize"};
  std::vector<std::string> types;
  bool fits = modules.size() == 2 || modules.size() == 3;
  for (const ListedModule& module : modules) {
    fits = fits && module.name() == kKnown[types.size()];
    types.push_back(shown_name(module.type));
  }
  user_check(fits,
             "{}: the modules are {}; embeddings need a Transformer, a Pooling and, for "
             "vectors of length 1, a Normalize, in this order",
             path.string(), fmt::join(types, ", "));
}

Pooling find_pooling(const JsonFile& file, const Json& name) {
  std::vector<std::string_view> known;
  for (const PoolingRow& row : kPoolings) {
    if (name.is_string() && name.get_ref<const std::string&>() == row.name) return row.pooling;
    known.push_back(row.name);
  }
  file.refuse("pooling_mode", fmt::format("some of {}", fmt::join(known, ", ")), name);
}

std::vector<Pooling> read_poolings(const JsonFile& file) {
  std::vector<Pooling> poolings;
  if (const Json modes = file.value("pooling_mode"); modes.is_array()) {
    for (const Json& mode : modes) poolings.push_back(find_pooling(file, mode));
  } else if (!modes.is_null()) {
    poolings.push_back(find_pooling(file, modes));
  } else {
    for (const PoolingRow& row : kPoolings)
      if (file.boolean(row.key, false)) poolings.push_back(row.pooling);
    for (const char* other : {"pooling_mode_weightedmean_tokens", "pooling_mode_lasttoken"})
      if (file.boolean(other, false))
        file.refuse(other, "false, because this pooling is not supported", true);
  }
  if (poolings.empty()) poolings.push_back(Pooling::mean);
  return poolings;
}

void read_pooling(const fs::path& folder, const JsonReader& read, SentenceModules& modules) {
  const fs::path path = folder / "config.json";
  user_check(read(path).has_value(),
             "{}: no such file, but modules.json refers to it for the pooling; download the "
             "whole model",
             path.string());
  const JsonFile file = read_object(path, read);
  modules.pooling = read_poolings(file);
  modules.token_width = file.size("word_embedding_dimension", 1);
  if (!modules.token_width) modules.token_width = file.size("embedding_dimension", 1);
  if (!modules.prompt.empty() && !file.boolean("include_prompt", true))
    file.refuse("include_prompt", "true, because all tokens are pooled", false);
}

// Returns the first of kEncoderFiles with content.
JsonFile read_encoder_file(const fs::path& folder, const JsonReader& read) {
  JsonFile file;
  for (const char* name : kEncoderFiles) {
    file = read_object(folder / name, read);
    if (!file.content.empty()) break;
  }
  return file;
}

std::optional<TokenLimit> read_limit(const JsonFile& file, const char* key) {
  constexpr std::int64_t kMin = 3;  // the special tokens of BERT and one more
  const std::optional<std::int64_t> tokens = file.size(key, kMin);
  if (!tokens) return std::nullopt;
  return TokenLimit{*tokens, fmt::format("{} of {}", key, file.path.string())};
}

// Checks that the last hidden states are pooled.
void check_hidden_states(const JsonFile& file) {
  if (const Json task = file.value("transformer_task");
      !task.is_null() && task != "feature-extraction")
    file.refuse("transformer_task", "\"feature-extraction\"", task);
  const Json text = member(file.value("modality_config"), "text");
  if (const Json output = member(text, "method_output_name");
      !output.is_null() && output != "last_hidden_state")
    file.refuse("method_output_name", "\"last_hidden_state\"", output);
}

// Normalize can also be configured to normalize the hidden states of tokens.
void check_normalizes_vectors(const fs::path& folder, const JsonReader& read) {
  const JsonFile file = read_object(folder / "config.json", read);
  for (const char* key : {"module_input_name", "module_output_name"})
    if (const Json name = file.value(key); !name.is_null() && name != "sentence_embedding")
      file.refuse(key, "\"sentence_embedding\"", name);
}

// Returns the first `count` numbers of vectors (B, W), or all if there are fewer.
Value first_numbers(Graph& graph, const Value& vectors, std::int64_t count) {
  const Dim width = vectors.type().dim(1);
  if (width.symbol == 0 && width.size <= count) return vectors;
  return graph.add("slice", {vectors}, {{"axis", std::int64_t{1}}, {"size", Shape{count}}},
                   "pooling.first_numbers");
}

// Returns the last hidden states of an encoder with a head.
Value hidden_states_in(const Graph& graph, const Architecture& architecture) {
  const std::string name = fmt::format("{}.first_token", architecture.head.name);
  const Node* first = graph.find(name);
  user_check(
      first != nullptr && first->inputs().size() == 1 && first->inputs()[0].type().rank() == 3,
      "embeddings need the hidden states of the encoder, which '{}' reads in the "
      "graphs of {}; the graph of this model has no such node",
      name, architecture.title);
  return first->inputs()[0];
}

}  // namespace

SentenceEncoder read_sentence_encoder(const fs::path& folder) {
  return read_sentence_encoder(folder, json_reader());
}

SentenceEncoder read_sentence_encoder(const fs::path& folder, const JsonReader& read) {
  const std::vector<ListedModule> listed = read_module_list(folder, read);
  SentenceEncoder encoder{.folder = encoder_folder(folder, listed), .is_listed = !listed.empty()};
  encoder.limit =
      read_limit(read_object(encoder.folder / "tokenizer_config.json", read), "model_max_length");
  if (!encoder.is_listed) return encoder;
  const JsonFile file = read_encoder_file(encoder.folder, read);
  if (auto limit = read_limit(file, "max_seq_length")) encoder.limit = std::move(limit);
  encoder.lowercase = file.boolean("do_lower_case", false);
  return encoder;
}

SentenceModules read_sentence_modules(const fs::path& folder) {
  return read_sentence_modules(folder, json_reader());
}

SentenceModules read_sentence_modules(const fs::path& folder, const JsonReader& read) {
  SentenceModules modules{.encoder = read_sentence_encoder(folder, read)};
  if (auto settings = read_sentence_settings(folder, "SentenceTransformer", read)) {
    const JsonFile file{folder / kPromptsFile, std::move(*settings)};
    modules.prompt = default_prompt(file.content, file.path);
    modules.kept_width = file.size("truncate_dim", 1);
  }
  if (!modules.encoder.is_listed) return modules;
  const std::vector<ListedModule> listed = read_module_list(folder, read);
  check_order(listed, folder / kModulesFile);
  check_hidden_states(read_encoder_file(modules.encoder.folder, read));
  modules.normalize = listed.size() == 3;
  if (modules.normalize) check_normalizes_vectors(folder / listed[2].folder, read);
  read_pooling(folder / listed[1].folder, read, modules);
  return modules;
}

std::string to_string(const std::vector<Pooling>& pooling) {
  std::vector<std::string_view> names;
  for (const Pooling one : pooling) names.push_back(row_of(one).name);
  return fmt::format("{}", fmt::join(names, "+"));
}

Graph embedding_graph(const Model& model, const SentenceModules& modules, bool hidden_states) {
  Graph graph = model.graph;
  const Value hidden =
      hidden_states_in(graph, find_architecture(model.facts.architecture, "a model"));  // (B, S, H)
  const Dim batch = hidden.type().dim(0), width = hidden.type().dim(2);
  user_check(!modules.token_width || width == Dim(*modules.token_width),
             "{}: the pooling expects {} numbers per token, the encoder returns {}; the "
             "files do not match",
             modules.encoder.folder.string(), modules.token_width.value_or(0), to_string(width));
  Node* mask = graph.find("attention_mask");
  user_check(mask != nullptr, "embeddings need the attention_mask, which the graph does not have");
  const auto pooled = [&](std::string_view mode) {  // (B, H)
    if (!mode.empty())
      return graph.add("pool_tokens", {hidden, {mask, 0}}, {{"mode", std::string(mode)}},
                       fmt::format("pooling.{}", mode));
    const Value first = graph.add(
        "slice", {hidden}, {{"axis", std::int64_t{1}}, {"size", Shape{1}}}, "pooling.first_token");
    return graph.add("reshape", {first}, {{"shape", Shape{batch, width}}}, "pooling.cls");
  };
  std::vector<Value> vectors;
  for (const Pooling pooling : modules.pooling) vectors.push_back(pooled(row_of(pooling).mode));
  Value embedding = vectors.size() == 1 ? vectors[0]
                                        : graph.add("concat", vectors, {{"axis", std::int64_t{1}}},
                                                    "pooling.joined");
  if (modules.normalize) embedding = graph.add("normalize", {embedding}, {}, "pooling.normalize");
  if (modules.kept_width) embedding = first_numbers(graph, embedding, *modules.kept_width);
  graph.set_output("embedding", embedding);
  std::vector<std::string> outputs = {"embedding"};
  if (hidden_states) {
    graph.set_output("last_hidden_state", hidden);
    outputs.emplace_back("last_hidden_state");
  }
  keep_outputs(graph, outputs);
  return graph;
}

}  // namespace hone
