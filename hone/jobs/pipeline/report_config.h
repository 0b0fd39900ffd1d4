#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/jobs/pipeline/pipeline_file.h"
#include "hone/jobs/toml_file.h"

/// Helpers shared by the readers of a pipeline's report contents.
namespace hone {

struct ReportConfig {
  const toml::table& file;
  const TomlPlace& place;
  Pipeline& pipeline;  ///< its stages and settings are known; readers add to it
};

/// Calls read(name, table) for each [KIND.NAME], in the order of the file.
void read_named(const ReportConfig& f, const char* kind,
                const std::function<void(const std::string&, const toml::node&)>& read);

/// Returns the tables of a list [[NAME]], and checks their keys.
std::vector<const toml::table*> tables_of(const ReportConfig& f, const char* name,
                                          const std::vector<std::string>& keys);

/// Returns the value of a required key. Throws `UserError` if the table of `what` lacks it.
const toml::node& required_key(const ReportConfig& f, const toml::table& table, const char* key,
                               std::string_view what);

/// Returns the stages that texts name, by name, pattern or group. Throws `UserError` if a text matches none.
std::vector<std::size_t> stages_named(const ReportConfig& f, const toml::node& node,
                                      std::string_view key);

/// Throws `UserError` about `what` at `node` unless all stages are searches.
void check_searches(const ReportConfig& f, const std::vector<std::size_t>& stages,
                    const toml::node& node, std::string_view what);
/// Does the same for a table or a pick whose `rows` are trials.
void check_rows(const ReportConfig& f, const std::string& rows,
                const std::vector<std::size_t>& stages, const toml::node& node,
                const std::string& name);

}  // namespace hone
