#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/jobs/pipeline/pipeline_file.h"
#include "hone/jobs/toml_file.h"

/// What the readers of a pipeline's stages and of its figures and tables have in common.
namespace hone {

/// One setting of a loop: names and values.
using Setting = std::vector<std::pair<std::string, std::string>>;
/// Null: it has none of that name.
const std::string* value_in(const Setting& setting, std::string_view name);

/// A string, a number or a boolean as text.
std::string scalar_text(const toml::node& node, std::string_view what, const TomlPlace& place);
std::string string_at(const toml::table& table, std::string_view key, const TomlPlace& place,
                      std::string otherwise = {});
/// Throws `UserError` for what can be the name of no folder. `what`: whose name it is.
void check_name(const std::string& name, std::string_view what, const toml::node& node,
                const TomlPlace& place);

/// The stages as the file calls them, in order.
std::vector<std::string> group_names(const Pipeline& pipeline);

}  // namespace hone
