#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/jobs/pipeline/pipeline_file.h"
#include "hone/jobs/toml_file.h"

/// Helpers shared by the readers of a pipeline's stages, figures and tables.
namespace hone {

/// One setting of a loop: names and values.
using Setting = std::vector<std::pair<std::string, std::string>>;
/// Returns the value with this name; null if there is none.
const std::string* value_in(const Setting& setting, std::string_view name);

/// Returns a string, a number or a boolean as text.
std::string scalar_text(const toml::node& node, std::string_view what, const TomlPlace& place);
std::string string_at(const toml::table& table, std::string_view key, const TomlPlace& place,
                      std::string fallback = {});
/// Throws `UserError` for a name that is not valid for a folder. `what` is the kind of thing it names.
void check_name(const std::string& name, std::string_view what, const toml::node& node,
                const TomlPlace& place);

/// Returns the names of the stages in the file, in order.
std::vector<std::string> group_names(const Pipeline& pipeline);

}  // namespace hone
