#include "hone/frontends/huggingface/config.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "hone/base/error.h"

namespace hone {
namespace {

constexpr std::int64_t kMaxLabels = 10'000;

/// One key of the file. Numbers must lie in [least, most].
template <typename Value>
struct Field {
  const char* key;
  Value BertConfig::*member;
  double least = 0;
  double most = 0;
};

constexpr Field<std::int64_t> kSizes[] = {
    {"vocab_size", &BertConfig::vocab_size, 1, 1e8},
    {"hidden_size", &BertConfig::hidden_size, 1, 65536},
    {"num_hidden_layers", &BertConfig::num_hidden_layers, 1, 1024},
    {"num_attention_heads", &BertConfig::num_attention_heads, 1, 65536},
    {"intermediate_size", &BertConfig::intermediate_size, 1, 1 << 20},
    {"max_position_embeddings", &BertConfig::max_position_embeddings, 1, 1 << 24},
    {"type_vocab_size", &BertConfig::type_vocab_size, 1, 65536},
};
constexpr Field<double> kNumbers[] = {
    {"hidden_dropout_prob", &BertConfig::hidden_dropout_prob, 0, 1},
    {"attention_probs_dropout_prob", &BertConfig::attention_probs_dropout_prob, 0, 1},
    {"initializer_range", &BertConfig::initializer_range, 0, 1000},
    {"layer_norm_eps", &BertConfig::layer_norm_eps, 0, 1},
};
constexpr std::string_view kProblemTypes[] = {"regression", "single_label_classification",
                                              "multi_label_classification"};

/// Keys that are refused unless they say the one thing we do.
struct Fixed {
  const char* key;
  const char* expected;  // as JSON
};
constexpr Fixed kFixed[] = {
    {"position_embedding_type", "\"absolute\""},
    {"is_decoder", "false"},
    {"add_cross_attention", "false"},
    {"is_encoder_decoder", "false"},
    {"pruned_heads", "{}"},
};

/// An object with the name of the file it is from; absent keys and null are alike.
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

std::string string(const Source& source, const char* key, const Json& value) {
  if (!value.is_string()) source.refuse(key, "a string", value);
  return value.get<std::string>();
}

// id2label: {"0": "negative", "1": "positive"}; the ids are 0, 1, … in any order.
// Labels stand in tables, messages and file names of figures.
std::string label(const Source& source, const char* key, std::string name) {
  constexpr std::size_t kMostBytes = 1000;
  user_check(name.size() <= kMostBytes, "{}: {}: a label of {} bytes; expected {} at most",
             source.where, key, name.size(), kMostBytes);
  return name;
}

std::vector<std::string> labels_by_id(const Source& source, const Json& json) {
  constexpr const char* kKey = "id2label";
  if (!json.is_object() || json.empty())
    source.refuse(kKey, "an object of names by class number", json);
  std::vector<std::string> labels;
  for (std::size_t id = 0; id < json.size(); ++id) {
    const auto found = json.find(std::to_string(id));
    if (found == json.end()) {
      source.refuse(kKey, fmt::format("classes 0 to {}, one of them \"{}\"", json.size() - 1, id),
                    json);
    }
    labels.push_back(label(source, kKey, string(source, kKey, *found)));
  }
  return labels;
}

// label2id: {"negative": 0, "positive": 1}.
std::vector<std::string> labels_by_name(const Source& source, const Json& json) {
  constexpr const char* kKey = "label2id";
  if (!json.is_object() || json.empty())
    source.refuse(kKey, "an object of class numbers by name", json);
  std::vector<std::string> labels(json.size());
  std::vector<bool> seen(json.size());
  for (const auto& [name, value] : json.items()) {
    const auto most = static_cast<double>(json.size() - 1);
    const auto id = static_cast<std::size_t>(whole_number(source, kKey, value, 0, most));
    if (seen[id]) source.refuse(kKey, "each class number once", json);
    seen[id] = true;
    labels[id] = name;
  }
  return labels;
}

// The names win over the number, as in Hugging Face; a contradiction is an error there and here.
std::vector<std::string> read_labels(const Source& source) {
  const Json* by_id = source.find("id2label");
  const Json* by_name = source.find("label2id");
  const Json* count = source.find("num_labels");
  const std::int64_t expected =
      count == nullptr ? 2 : whole_number(source, "num_labels", *count, 1, kMaxLabels);
  for (const Json* names : {by_id, by_name}) {
    if (names != nullptr && names->size() > kMaxLabels) {
      fail("{}: expected at most {} classes, got {}", source.where, kMaxLabels, names->size());
    }
  }
  if (by_id == nullptr && by_name == nullptr) return default_labels(expected);
  std::vector<std::string> labels =
      by_id != nullptr ? labels_by_id(source, *by_id) : labels_by_name(source, *by_name);
  user_check(count == nullptr || labels.size() == static_cast<std::size_t>(expected),
             "{}: num_labels: expected {}, the number of labels named, got {}", source.where,
             labels.size(), expected);
  return labels;
}

void check_fixed(const Source& source) {
  for (const Fixed& fixed : kFixed) {
    const Json* value = source.find(fixed.key);
    if (value != nullptr && to_line(*value) != fixed.expected) {
      source.refuse(fixed.key, fmt::format("{} (nothing else is supported)", fixed.expected),
                    *value);
    }
  }
}

void check_together(const BertConfig& config, std::string_view where) {
  user_check(config.hidden_size % config.num_attention_heads == 0,
             "{}: hidden_size: expected a multiple of num_attention_heads, {}, got {}", where,
             config.num_attention_heads, config.hidden_size);
  user_check(config.problem_type != "single_label_classification" || config.num_labels() > 1,
             "{}: problem_type: expected 2 labels or more for single_label_classification, got 1",
             where);
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

BertConfig bert_config(const Json& json, std::string_view where) {
  const std::string type = model_type(json, where);
  user_check(type == "bert", "{}: model_type: expected \"bert\", got \"{}\"", where, type);
  const Source source{json, where};
  check_fixed(source);
  BertConfig config;
  config.file = json;
  for (const auto& field : kSizes) {
    const Json* value = source.find(field.key);
    if (value != nullptr)
      config.*field.member = whole_number(source, field.key, *value, field.least, field.most);
  }
  for (const auto& field : kNumbers) {
    const Json* value = source.find(field.key);
    if (value != nullptr)
      config.*field.member = number(source, field.key, *value, field.least, field.most);
  }
  if (const Json* value = source.find("classifier_dropout")) {
    config.classifier_dropout = number(source, "classifier_dropout", *value, 0, 1);
  }
  if (const Json* value = source.find("hidden_act"))
    config.hidden_act = string(source, "hidden_act", *value);
  if (json.contains("pad_token_id")) {
    const Json* value = source.find("pad_token_id");
    config.pad_token_id.reset();
    const auto most = static_cast<double>(config.vocab_size - 1);
    if (value != nullptr)
      config.pad_token_id = whole_number(source, "pad_token_id", *value, 0, most);
  }
  if (const Json* value = source.find("problem_type")) {
    config.problem_type = string(source, "problem_type", *value);
    const bool known =
        std::count(std::begin(kProblemTypes), std::end(kProblemTypes), *config.problem_type) > 0;
    if (!known)
      source.refuse("problem_type", fmt::format("{}", fmt::join(kProblemTypes, ", ")), *value);
  }
  config.labels = read_labels(source);
  check_together(config, where);
  return config;
}

Json to_json(const BertConfig& config) {
  Json json = config.file;
  json["architectures"] = {"BertForSequenceClassification"};
  json["model_type"] = "bert";
  for (const auto& field : kSizes) json[field.key] = config.*field.member;
  for (const auto& field : kNumbers) json[field.key] = config.*field.member;
  json["hidden_act"] = config.hidden_act;
  const auto put = [&](const char* key, const auto& value) {
    json[key] = value ? Json(*value) : Json(nullptr);
  };
  put("classifier_dropout", config.classifier_dropout);
  put("pad_token_id", config.pad_token_id);
  put("problem_type", config.problem_type);
  json["position_embedding_type"] = "absolute";
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

ModelFacts bert_facts(const Json& json, std::string_view where) {
  const BertConfig config = bert_config(json, where);
  return {.architecture = "bert",
          .config = json,
          .labels = config.labels,
          .limits = {.tokens = config.max_position_embeddings,
                     .vocabulary = config.vocab_size,
                     .token_types = config.type_vocab_size},
          .task = config.problem_type};
}

ModelFacts bert_facts(const BertConfig& config) { return bert_facts(to_json(config), "config"); }

BertConfig bert_config(const ModelFacts& facts) {
  BertConfig config = bert_config(facts.config, "config.json");
  config.labels = facts.labels;
  return config;
}

}  // namespace hone
