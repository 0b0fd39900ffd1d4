#include "hone/frontends/huggingface/score_activation.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/base/printable.h"

namespace hone {
namespace {

constexpr const char* kSection = "sentence_transformers";
constexpr const char* kActivation = "activation_fn";
constexpr std::string_view kCrossEncoder = "CrossEncoder";
constexpr const char* kOldActivation = "sbert_ce_default_activation_function";  // before 4.0
constexpr std::string_view kSoftmax = "torch.nn.modules.activation.Softmax";  // for several labels

struct ActivationRow {
  ScoreActivation activation;
  std::string_view name;  ///< of the class in torch.nn
  const char* path;
};
constexpr ActivationRow kActivations[] = {
    {ScoreActivation::sigmoid, "Sigmoid", "torch.nn.modules.activation.Sigmoid"},
    {ScoreActivation::identity, "Identity", "torch.nn.modules.linear.Identity"},
    {ScoreActivation::tanh, "Tanh", "torch.nn.modules.activation.Tanh"},
};

const ActivationRow& row_of(ScoreActivation activation) {
  return *std::ranges::find(kActivations, activation, &ActivationRow::activation);
}

Json text_at(const Json& object, const char* key) {
  const Json found = object.is_object() ? object.value(key, Json()) : Json();
  return found.is_string() ? found : Json();
}

bool has_one_output(const ModelFacts& facts) {
  return facts.task() == Task::regression && facts.labels.size() == 1;
}

// Looks the activation up in the config, newer location first.
Json recent(const Json& config) { return text_at(config.value(kSection, Json()), kActivation); }

Json config_activation(const Json& config) {
  const Json newer = recent(config);
  return newer.is_null() ? text_at(config, kOldActivation) : newer;
}

void set_activation(Json& config, const Json& path) {
  if (!config.contains(kSection) || !config[kSection].is_object())
    config[kSection] = Json::object();
  config[kSection][kActivation] = path;
  config.erase(kOldActivation);
}

}  // namespace

void read_score_activation(ModelFacts& facts, const fs::path& folder, const JsonReader& read) {
  facts.activation_file =
      (encoder_folder(folder, read_module_list(folder, read)) / "config.json").string();
  const std::optional<Json> settings = read_sentence_settings(folder, kCrossEncoder, read);
  if (!settings) return;
  if (const Json path = text_at(*settings, kActivation); !path.is_null()) {
    set_activation(facts.config, path);
    facts.activation_file = (folder / kPromptsFile).string();
  } else if (has_one_output(facts) && config_activation(facts.config).is_null()) {
    set_activation(facts.config, row_of(ScoreActivation::sigmoid).path);
  }
}

std::string read_score_prompt(const fs::path& folder, const JsonReader& read) {
  const std::optional<Json> settings = read_sentence_settings(folder, kCrossEncoder, read);
  return settings ? default_prompt(*settings, folder / kPromptsFile) : "";
}

bool is_cross_encoder(const ModelFacts& facts) {
  return !config_activation(facts.config).is_null();
}

ScoreActivation score_activation(const ModelFacts& facts) {
  const Json path = config_activation(facts.config);
  if (path.is_null())
    return has_one_output(facts) && !facts.problem_type ? ScoreActivation::sigmoid
                                                        : ScoreActivation::none;
  const std::string text = path.get<std::string>();
  const std::string_view name = std::string_view(text).substr(text.rfind('.') + 1);
  for (const ActivationRow& row : kActivations)
    if (text.starts_with("torch.") && row.name == name) return row.activation;
  // For several labels, the task's own activation is used.
  const bool one = has_one_output(facts);
  if (name == "Softmax" && !one) return ScoreActivation::none;
  std::vector<std::string_view> supported;
  for (const ActivationRow& row : kActivations) supported.emplace_back(row.path);
  if (!one) supported.push_back(kSoftmax);
  fail("{}: {} is {}, which is not supported for a model with {}; set it to one of {}",
       facts.activation_file.empty() ? "config.json" : facts.activation_file,
       recent(facts.config).is_null() ? kOldActivation : kActivation, shown_name(text),
       one ? "one label" : "several labels", fmt::join(supported, ", "));
}

void use_raw_scores(ModelFacts& facts) {
  if (is_cross_encoder(facts))
    set_activation(facts.config, row_of(ScoreActivation::identity).path);
  else if (has_one_output(facts))
    facts.problem_type = Task::regression;  // as transformers does in training
}

double apply(ScoreActivation activation, double number) {
  switch (activation) {
    case ScoreActivation::sigmoid:
      return 1 / (1 + std::exp(-number));
    case ScoreActivation::tanh:
      return std::tanh(number);
    case ScoreActivation::identity:
    case ScoreActivation::none:
      break;
  }
  return number;
}

std::string_view title(ScoreActivation activation) {
  const bool changes = apply(activation, 1) != 1;
  return changes ? row_of(activation).name : std::string_view();
}

}  // namespace hone
