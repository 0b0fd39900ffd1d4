#include "hone/jobs/pipeline/report_tables.h"

#include <algorithm>
#include <cctype>

#include "hone/base/error.h"
#include "hone/jobs/pipeline/pipeline_toml.h"
#include "hone/jobs/pipeline/report_values.h"

namespace hone {
namespace {

// Turns "PTQ, margin SNR (dB)" into "ptq_margin_snr_db". Keeps non-ASCII characters.
std::string key_of_label(const std::string& label) {
  std::string key;
  for (const char c : label) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || byte >= 0x80) {
      key += static_cast<char>(std::tolower(byte));
    } else if (!key.empty() && key.back() != '_') {
      key += '_';
    }
  }
  if (key.ends_with('_')) key.pop_back();
  return key;
}

// Returns whether a key is one of the first columns of a table with `rows`.
bool is_row_key(const std::string& key) { return key == "stage" || key == "name"; }

// Checks that a stage has the variable `by` of a table.
void check_row(const ReportConfig& f, const PipelineStage& stage, const std::string& by,
               const std::string& name, const toml::node& item) {
  user_check(by == "stage" || value_in(stage.setting, by) != nullptr,
             "{}: {}: by: '{}' is not a variable of the stage {}", f.place.at(item), name, by,
             stage.name);
}

PipelineColumn column_of(const ReportConfig& f, const toml::node& item,
                         const PipelineTable& table) {
  const toml::table& entry = table_at(item, "column", f.place);
  check_keys(entry, {"label", "stages", "y", "within"}, "a column", f.place);
  PipelineColumn column;
  if (table.rows.empty()) {
    column.stages = stages_named(f, required_key(f, entry, "stages", "column"), "stages");
    for (const std::size_t index : column.stages)
      check_row(f, f.pipeline.stages[index], table.by, table.name, item);
  } else {
    user_check(entry.get("stages") == nullptr,
               "{}: {}: with `rows`, the stages are those of the table", f.place.at(item),
               table.name);
  }
  const toml::node *y = entry.get("y"), *within = entry.get("within");
  user_check((y == nullptr) != (within == nullptr),
             "{}: {}: expected y = \"PATH\" or within = NUMBER", f.place.at(item), table.name);
  if (y != nullptr) {
    column.y = formula_at(f, *y, "y");
  } else {
    user_check(within->is_number() && *within->value<double>() >= 0,
               "{}: {}: within: expected a number of at least 0, in units of the objective",
               f.place.at(*within), table.name);
    check_searches(f, column.stages, *within, table.name + ": within");
    user_check(table.rows.empty(), "{}: {}: within needs a table with `by`", f.place.at(*within),
               table.name);
    column.within = *within->value<double>();
  }
  column.label =
      string_at(entry, "label", f.place, y == nullptr ? "trials" : scalar_text(*y, "y", f.place));
  column.key = key_of_label(column.label);
  user_check(!column.key.empty(), "{}: {}: label: expected letters or digits, got '{}'",
             f.place.at(item), table.name, column.label);
  const bool is_first = column.key == table.by || (table.by.empty() && is_row_key(column.key));
  user_check(!is_first && std::ranges::find(table.columns, column.key, &PipelineColumn::key) ==
                              table.columns.end(),
             "{}: {}: label: two columns would be called '{}' in {}.csv; choose another label",
             f.place.at(item), table.name, column.key, table.name);
  return column;
}

void read_table(const ReportConfig& f, const std::string& name, const toml::node& node) {
  check_name(name, "a table", node, f.place);
  user_check(name != "results" && name != "stages",
             "{}: a table cannot be called '{}': the pipeline has one of that name",
             f.place.at(node), name);
  const toml::table& entry = table_at(node, name, f.place);
  check_keys(entry, {"title", "by", "rows", "stages", "folded", "column"}, "a table", f.place);
  PipelineTable table{.name = name, .line = line_of(node)};
  table.title = string_at(entry, "title", f.place, name);
  table.by = string_at(entry, "by", f.place);
  table.rows = string_at(entry, "rows", f.place);
  if (const toml::node* folded = entry.get("folded")) {
    user_check(folded->is_boolean(), "{}: {}: folded: expected true or false", f.place.at(*folded),
               name);
    table.folded = folded->as_boolean()->get();
  }
  user_check(table.by.empty() != table.rows.empty(),
             "{}: {}: expected by = \"VARIABLE\" or \"stage\", or rows = \"PATH\"",
             f.place.at(node), name);
  const toml::node& list = required_key(f, entry, "column", name);
  user_check(list.is_array() && !list.as_array()->empty(), "{}: {}: expected [[table.{}.column]]",
             f.place.at(list), name, name);
  for (const toml::node& item : *list.as_array())
    table.columns.push_back(column_of(f, item, table));
  user_check(!table.rows.empty() || entry.get("stages") == nullptr,
             "{}: {}: with `by`, each column names its stages; leave out `stages`",
             f.place.at(node), name);
  if (!table.rows.empty()) {
    const std::vector<std::size_t> stages =
        stages_named(f, required_key(f, entry, "stages", name), "stages");
    check_rows(f, table.rows, stages, node, name);
    for (PipelineColumn& column : table.columns) column.stages = stages;
  }
  f.pipeline.tables.push_back(std::move(table));
}

}  // namespace

void read_tables(const ReportConfig& f) {
  read_named(f, "table",
             [&](const std::string& name, const toml::node& node) { read_table(f, name, node); });
}

}  // namespace hone
