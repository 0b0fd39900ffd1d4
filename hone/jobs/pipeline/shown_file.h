#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/jobs/pipeline/pipeline_file.h"
#include "hone/jobs/toml_file.h"

/// What the readers of all that a pipeline shows share: its file, and the stages that this names.
namespace hone {

struct ShownFile {
  const toml::table& file;
  const TomlPlace& place;
  Pipeline& pipeline;  ///< its stages and settings are known; readers add to it
};

/// Calls read(name, table) for each [KIND.NAME], in the order of the file.
void read_named(const ShownFile& f, const char* kind,
                const std::function<void(const std::string&, const toml::node&)>& read);

/// The tables of a list [[NAME]], with these keys.
std::vector<const toml::table*> tables_of(const ShownFile& f, const char* name,
                                          const std::vector<std::string>& keys);

/// Throws `UserError` where the table of `what` lacks the key.
const toml::node& needed(const ShownFile& f, const toml::table& table, const char* key,
                         std::string_view what);

/// The stages that a text names, or each text of a list: names, patterns, and groups. Throws `UserError` where it names none.
std::vector<std::size_t> stages_named(const ShownFile& f, const toml::node& node,
                                      std::string_view key);

/// Throws `UserError`, about `what` at `node`, unless all stages are searches, which have trials.
void check_searches(const ShownFile& f, const std::vector<std::size_t>& stages,
                    const toml::node& node, std::string_view what);
/// The same of a table or a pick whose `rows` are trials.
void check_rows(const ShownFile& f, const std::string& rows, const std::vector<std::size_t>& stages,
                const toml::node& node, const std::string& name);

}  // namespace hone
