#include "hone/jobs/pipeline/pipeline_toml.h"

namespace hone {

const std::string* value_in(const Setting& setting, std::string_view name) {
  for (const auto& [key, value] : setting)
    if (key == name) return &value;
  return nullptr;
}

std::string scalar_text(const toml::node& node, std::string_view what, const TomlPlace& place) {
  const Json value = scalar_at(node, what, place);
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_float() ? fmt::format("{}", value.get<double>()) : to_line(value);
}

std::string string_at(const toml::table& table, std::string_view key, const TomlPlace& place,
                      std::string fallback) {
  const toml::node* node = table.get(key);
  return node == nullptr ? fallback : text_at(*node, key, place);
}

void check_name(const std::string& name, std::string_view what, const toml::node& node,
                const TomlPlace& place) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  user_check(!name.empty() && name.find_first_not_of(kLetters) == std::string::npos,
             "{}: '{}' is not a valid name of {}: use only letters, digits, - and _",
             place.at(node), name, what);
}

std::vector<std::string> group_names(const Pipeline& pipeline) {
  std::vector<std::string> names;
  for (const PipelineStage& stage : pipeline.stages)
    if (names.empty() || names.back() != stage.group) names.push_back(stage.group);
  return names;
}

}  // namespace hone
