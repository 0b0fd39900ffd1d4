#include "hone/frontends/huggingface/config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/frontends/huggingface/activation.h"
#include "hone/frontends/huggingface/model_facts.h"

namespace hone {
namespace {

constexpr std::int64_t kMaxLabels = 10'000;

/// A JSON object and the name of its file. A null value counts as an absent key.
struct Source {
  const Json& json;
  std::string_view where;

  const Json* find(const char* key) const {
    const auto found = json.find(key);
    return found == json.end() || found->is_null() ? nullptr : &*found;
  }
  template <typename Expected>
  [[noreturn]] void refuse(const char* key, const Expected& expected, const Json& got) const {
    fail("{}: {}: expected {}, got {}", where, key, expected, to_line(got));
  }
};

std::int64_t whole_number(const Source& source, const char* key, const Json& value, double least,
                          double most) {
  const bool fits = value.is_number_integer() && value >= least && value <= most;
  if (!fits) source.refuse(key, fmt::format("a whole number from {} to {}", least, most), value);
  return value.get<std::int64_t>();
}

double number(const Source& source, const char* key, const Json& value, double least, double most) {
  const bool fits = value.is_number() && value >= least && value <= most;
  if (!fits) source.refuse(key, fmt::format("a number from {} to {}", least, most), value);
  return value.get<double>();
}

bool truth(const Source& source, const char* key, const Json& value) {
  if (!value.is_boolean()) source.refuse(key, "true or false", value);
  return value.get<bool>();
}

std::string string(const Source& source, const char* key, const Json& value) {
  if (!value.is_string()) source.refuse(key, "a string", value);
  return value.get<std::string>();
}

// Also accepts "01" and " 1", as Python does.
std::optional<std::int64_t> id_of_key(std::string_view key) {
  key = trim(key);
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
  const bool whole = error == std::errc() && end == key.data() + key.size();
  return whole && id >= 0 ? std::optional(id) : std::nullopt;
}

// Returns a label's name for tables, messages and file names; booleans as Python prints them.
std::string label(const Source& source, const char* key, const Json& value) {
  constexpr std::size_t kMaxBytes = 1000;
  if (!value.is_string() && !value.is_number() && !value.is_boolean())
    source.refuse(key, "a string, a number or a boolean", value);
  std::string name = value.is_string() ? value.get<std::string>() : value.dump();
  if (value.is_boolean()) name = value.get<bool>() ? "True" : "False";
  user_check(name.size() <= kMaxBytes, "{}: {}: a label of {} bytes; expected {} at most",
             source.where, key, name.size(), kMaxBytes);
  return name;
}

// id2label: {"0": "negative", "1": "positive"}, with the ids in any order. The number of names is the number of
// classes, as in transformers; a class without a name keeps its default.
std::vector<std::string> labels_by_id(const Source& source, const Json& json) {
  constexpr const char* kKey = "id2label";
  if (!json.is_object() || json.empty())
    source.refuse(kKey, "an object of names by class number", json);
  std::vector<std::string> labels = default_labels(static_cast<std::int64_t>(json.size()));
  std::set<std::int64_t> ids;
  for (const auto& [key, value] : json.items()) {
    const std::optional<std::int64_t> id = id_of_key(key);
    if (!id || !ids.insert(*id).second)
      source.refuse(kKey, "each class number once, as \"0\"", json);
    std::string name = label(source, kKey, value);
    if (*id < std::ssize(labels)) labels[static_cast<std::size_t>(*id)] = std::move(name);
  }
  return labels;
}

// The names override the number, as in Hugging Face, and a contradiction is an error in both. label2id never names a
// class in Hugging Face, with or without id2label.
std::vector<std::string> read_labels(const Source& source) {
  const Json* names = source.find("id2label");
  const Json* count = source.find("num_labels");
  const std::int64_t expected =
      count == nullptr ? 2 : whole_number(source, "num_labels", *count, 1, kMaxLabels);
  if (names == nullptr || *names == Json::object()) return default_labels(expected);
  user_check(names->size() <= kMaxLabels, "{}: expected at most {} classes, got {}", source.where,
             kMaxLabels, names->size());
  std::vector<std::string> labels = labels_by_id(source, *names);
  user_check(count == nullptr || labels.size() == static_cast<std::size_t>(expected),
             "{}: num_labels: expected {}, the number of label names, got {}", source.where,
             labels.size(), expected);
  return labels;
}

void check_fixed(const Source& source, const std::vector<FixedKey>& keys) {
  for (const FixedKey& fixed : keys) {
    const Json* value = source.find(fixed.key);
    if (value != nullptr && to_line(*value) != fixed.expected) {
      source.refuse(fixed.key, fmt::format("{} (nothing else is supported)", fixed.expected),
                    *value);
    }
  }
}

const char* key_of(const ConfigKeys& keys, std::int64_t EncoderConfig::*member) {
  return std::ranges::find(keys.sizes, member, &ConfigKey<std::int64_t>::member)->key;
}

void check_combinations(const ConfigKeys& keys, const EncoderConfig& config,
                        std::string_view where) {
  if (keys.reads_tokens())
    user_check(config.hidden_size % config.num_attention_heads == 0,
               "{}: {}: expected a multiple of {}, {}, got {}", where,
               key_of(keys, &EncoderConfig::hidden_size),
               key_of(keys, &EncoderConfig::num_attention_heads), config.num_attention_heads,
               config.hidden_size);
  user_check(config.problem_type != Task::single_label || config.num_labels() > 1,
             "{}: problem_type: expected 2 labels or more for single_label_classification, got 1",
             where);
  if (keys.check != nullptr) keys.check(config, where);
}

std::optional<std::int64_t> read_padding(const Source& source, const EncoderConfig& config) {
  if (!source.json.contains("pad_token_id")) return config.pad_token_id;
  const Json* value = source.find("pad_token_id");
  if (value == nullptr) return std::nullopt;
  const auto most = static_cast<double>(config.vocab_size - 1);
  return whole_number(source, "pad_token_id", *value, 0, most);
}

std::optional<Task> read_problem_type(const Source& source) {
  const Json* value = source.find("problem_type");
  if (value == nullptr) return std::nullopt;
  const std::string name = string(source, "problem_type", *value);
  for (const Task task : kTasks)
    if (to_string(task) == name) return task;
  source.refuse("problem_type", fmt::format("{}", fmt::join(task_names(), ", ")), *value);
}

std::vector<std::int64_t> whole_numbers(const Source& source, const char* key, const Json& value) {
  constexpr std::size_t kMost = 64;
  constexpr double kLargest = 65536;
  if (!value.is_array() || value.empty() || value.size() > kMost)
    source.refuse(key, fmt::format("a list of 1 to {} whole numbers", kMost), value);
  std::vector<std::int64_t> numbers;
  for (const Json& item : value) numbers.push_back(whole_number(source, key, item, 1, kLargest));
  return numbers;
}

ImageConfig read_image_config(const Source& source, const ConfigKeys& keys, ImageConfig config) {
  constexpr double kLargest = 16384;
  for (const auto& row : keys.image_sizes)
    if (const Json* value = source.find(row.key))
      config.*row.member = whole_number(source, row.key, *value, 1, kLargest);
  for (const auto& row : keys.image_lists)
    if (const Json* value = source.find(row.key))
      config.*row.member = whole_numbers(source, row.key, *value);
  for (const auto& row : keys.image_switches)
    if (const Json* value = source.find(row.key))
      config.*row.member = truth(source, row.key, *value);
  if (keys.layer_type == nullptr) return config;
  if (const Json* value = source.find(keys.layer_type)) {
    config.layer_type = string(source, keys.layer_type, *value);
    if (config.layer_type != "basic" && config.layer_type != "bottleneck")
      source.refuse(keys.layer_type, "basic or bottleneck", *value);
  }
  return config;
}

std::string read_activation(const Source& source, const char* key, const std::string& otherwise) {
  const Json* value = source.find(key);
  if (value == nullptr) return otherwise;
  std::string name = string(source, key, *value);
  if (find_activation(name) == nullptr)
    source.refuse(key, fmt::format("{}", fmt::join(activation_names(), ", ")), *value);
  return name;
}

}  // namespace

std::string model_type(const Json& config, std::string_view where) {
  user_check(config.is_object(), "{}: expected a JSON object, got {}", where, config.type_name());
  const Source source{config, where};
  if (const Json* type = source.find("model_type")) return string(source, "model_type", *type);
  constexpr std::array kShape = {"vocab_size",        "hidden_size",         "num_hidden_layers",
                                 "intermediate_size", "num_attention_heads", "type_vocab_size"};
  const auto missing = std::find_if(kShape.begin(), kShape.end(),
                                    [&](const char* key) { return source.find(key) == nullptr; });
  if (missing == kShape.end()) return "bert";
  fail(
      "{}: model_type is missing, and so is {} of a BERT model; expected the config.json of a "
      "model",
      where, *missing);
}

ConfigKeys bert_keys(std::string_view model_type, std::string_view class_name) {
  return {
      .model_type = model_type,
      .class_name = class_name,
      .sizes = {{"vocab_size", &EncoderConfig::vocab_size, 1, 1e8},
                {"hidden_size", &EncoderConfig::hidden_size, 1, 65536},
                {"num_hidden_layers", &EncoderConfig::num_hidden_layers, 1, 1024},
                {"num_attention_heads", &EncoderConfig::num_attention_heads, 1, 65536},
                {"intermediate_size", &EncoderConfig::intermediate_size, 1, 1 << 20},
                {"max_position_embeddings", &EncoderConfig::max_position_embeddings, 1, 1 << 24},
                {"type_vocab_size", &EncoderConfig::type_vocab_size, 1, 65536}},
      .numbers = {{"hidden_dropout_prob", &EncoderConfig::hidden_dropout_prob, 0, 1},
                  {"attention_probs_dropout_prob", &EncoderConfig::attention_probs_dropout_prob, 0,
                   1},
                  {"initializer_range", &EncoderConfig::initializer_range, 0, 1000},
                  {"layer_norm_eps", &EncoderConfig::layer_norm_eps, 0, 1}},
      .fixed = {{"position_embedding_type", "\"absolute\"", /*is_written=*/true},
                {"is_decoder", "false"},
                {"add_cross_attention", "false"},
                {"is_encoder_decoder", "false"},
                {"pruned_heads", "{}"}}};
}

EncoderConfig read_config(const ConfigKeys& keys, const Json& json, std::string_view where) {
  const std::string type = model_type(json, where);
  user_check(type == keys.model_type, "{}: model_type: expected \"{}\", got \"{}\"", where,
             keys.model_type, type);
  const Source source{json, where};
  check_fixed(source, keys.fixed);
  EncoderConfig config = keys.defaults;
  config.file = json;
  for (const auto& [key, member, least, most] : keys.sizes)
    if (const Json* value = source.find(key))
      config.*member = whole_number(source, key, *value, least, most);
  for (const auto& [key, member, least, most] : keys.numbers)
    if (const Json* value = source.find(key))
      config.*member = number(source, key, *value, least, most);
  for (const auto& row : keys.switches)
    if (const Json* value = source.find(row.key))
      config.*row.member = truth(source, row.key, *value);
  config.image = read_image_config(source, keys, config.image);
  config.hidden_act = read_activation(source, keys.activation, config.hidden_act);
  if (keys.reads_tokens()) {
    if (const Json* value = source.find(keys.classifier_dropout))
      config.classifier_dropout = number(source, keys.classifier_dropout, *value, 0, 1);
    config.pad_token_id = read_padding(source, config);
  }
  config.problem_type = read_problem_type(source);
  config.labels = read_labels(source);
  check_combinations(keys, config, where);
  return config;
}

std::vector<std::string> label_map_warnings(const Json& json, const EncoderConfig& config,
                                            std::string_view where) {
  const Source source{json, where};
  const Json *by_id = source.find("id2label"), *by_name = source.find("label2id");
  std::vector<std::string> warnings;
  if (by_id == nullptr && by_name != nullptr)
    return {
        fmt::format("{}: label2id without id2label names no class, as in transformers; write "
                    "\"id2label\": {{\"0\": NAME, ...}} to name the classes",
                    where)};
  if (by_id == nullptr) return warnings;
  std::vector<std::string> gaps;
  std::set<std::int64_t> named;
  for (const auto& [key, value] : by_id->items()) named.insert(id_of_key(key).value_or(0));
  for (std::int64_t id = 0; id < config.num_labels(); ++id)
    if (!named.contains(id)) gaps.push_back(std::to_string(id));
  if (!gaps.empty())
    warnings.push_back(
        fmt::format("{}: id2label has {} names and none for class {}, which keeps its default "
                    "name; names with numbers from {} on belong to no class",
                    where, config.num_labels(), fmt::join(gaps, ", "), config.num_labels()));
  if (by_name == nullptr || !by_name->is_object()) return warnings;
  for (const auto& [name, id] : by_name->items()) {
    const auto place = std::ranges::find(config.labels, name);
    if (place == config.labels.end() || !id.is_number_integer()) continue;
    if (id.get<std::int64_t>() == place - config.labels.begin()) continue;
    warnings.push_back(
        fmt::format("{}: label2id contradicts id2label for '{}'; hone uses id2label, as "
                    "transformers does",
                    where, shown_name(name)));
    break;
  }
  return warnings;
}

Json to_json(const ConfigKeys& keys, const EncoderConfig& config) {
  Json json = config.file;
  json["architectures"] = {keys.class_name};
  json["model_type"] = keys.model_type;
  for (const auto& row : keys.sizes) json[row.key] = config.*row.member;
  for (const auto& row : keys.numbers) json[row.key] = config.*row.member;
  for (const auto& row : keys.switches) json[row.key] = config.*row.member;
  json[keys.activation] = config.hidden_act;
  const auto put = [&](const char* key, const auto& value) {
    json[key] = value ? Json(*value) : Json(nullptr);
  };
  if (keys.reads_tokens()) {
    put(keys.classifier_dropout, config.classifier_dropout);
    put("pad_token_id", config.pad_token_id);
  }
  for (const auto& row : keys.image_sizes) json[row.key] = config.image.*row.member;
  for (const auto& row : keys.image_lists) json[row.key] = config.image.*row.member;
  for (const auto& row : keys.image_switches) json[row.key] = config.image.*row.member;
  if (keys.layer_type != nullptr) json[keys.layer_type] = config.image.layer_type;
  json["problem_type"] = config.problem_type ? Json(to_string(*config.problem_type)) : Json();
  for (const FixedKey& fixed : keys.fixed)
    if (fixed.is_written) json[fixed.key] = Json::parse(fixed.expected);
  json.erase("num_labels");
  Json names = Json::object();
  Json ids = Json::object();
  for (std::size_t id = 0; id < config.labels.size(); ++id) {
    names[std::to_string(id)] = config.labels[id];
    ids[config.labels[id]] = id;
  }
  json["id2label"] = names;
  json["label2id"] = ids;
  return json;
}

}  // namespace hone
