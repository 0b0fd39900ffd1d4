#include "hone/jobs/pipeline/report_config.h"

#include <fmt/ranges.h>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/jobs/pipeline/pipeline_toml.h"

namespace hone {

void read_named(const ReportConfig& f, const char* kind,
                const std::function<void(const std::string&, const toml::node&)>& read) {
  const toml::node* all = f.file.get(kind);
  if (all == nullptr) return;
  for (const auto& [name, node] : in_order(table_at(*all, kind, f.place))) read(name, *node);
}

std::vector<const toml::table*> tables_of(const ReportConfig& f, const char* name,
                                          const std::vector<std::string>& keys) {
  const toml::node* node = f.file.get(name);
  if (node == nullptr) return {};
  user_check(node->is_array(), "{}: {}: expected [[{}]]", f.place.at(*node), name, name);
  std::vector<const toml::table*> tables;
  for (const toml::node& item : *node->as_array()) {
    tables.push_back(&table_at(item, name, f.place));
    check_keys(*tables.back(), keys, fmt::format("[[{}]]", name), f.place);
  }
  return tables;
}

const toml::node& required_key(const ReportConfig& f, const toml::table& table, const char* key,
                               std::string_view what) {
  const toml::node* node = table.get(key);
  user_check(node != nullptr, "{}: {}: {} is missing", f.place.at(table), what, key);
  return *node;
}

std::vector<std::size_t> stages_named(const ReportConfig& f, const toml::node& node,
                                      std::string_view key) {
  std::vector<std::size_t> found;
  const auto add = [&](const toml::node& value) {
    const std::string name = scalar_text(value, key, f.place);
    const std::size_t before = found.size();
    for (std::size_t i = 0; i < f.pipeline.stages.size(); ++i) {
      const PipelineStage& stage = f.pipeline.stages[i];
      if (stage.group == name || glob_match(name, stage.name)) found.push_back(i);
    }
    std::vector<std::string> known = group_names(f.pipeline);
    user_check(found.size() > before, "{}: {}: no stage is called '{}'; there are {}{}",
               f.place.at(value), key, name, fmt::join(known, ", "), did_you_mean(name, known));
  };
  if (const toml::array* list = node.as_array()) {
    for (const toml::node& value : *list) add(value);
  } else {
    add(node);
  }
  return found;
}

void check_searches(const ReportConfig& f, const std::vector<std::size_t>& stages,
                    const toml::node& node, std::string_view what) {
  for (const std::size_t index : stages) {
    const PipelineStage& stage = f.pipeline.stages[index];
    user_check(stage.kind.searches,
               "{}: {}: the stage {} runs {}, which has no trials; only searches have",
               f.place.at(node), what, stage.name, stage.command.front());
  }
}

void check_rows(const ReportConfig& f, const std::string& rows,
                const std::vector<std::size_t>& stages, const toml::node& node,
                const std::string& name) {
  if (rows == kTrials) check_searches(f, stages, node, name + ": rows");
}

}  // namespace hone
