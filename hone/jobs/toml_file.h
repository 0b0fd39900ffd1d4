#pragma once

#include <toml++/toml.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/json.h"

/// Reading of hand-written TOML, with errors that name file and line.
namespace hone {

/// The file that messages refer to.
struct TomlPlace {
  std::string where;  ///< name of the file
  /// Returns "space.toml, line 12", or the other source of the node: "setting widths, line 1".
  std::string at(const toml::node& node) const {
    const toml::source_region& source = node.source();
    return fmt::format("{}, line {}", source.path ? *source.path : where, source.begin.line);
  }
};

/// Returns the line on which the node begins.
inline int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

/// Throws `UserError` for invalid TOML.
toml::table parse_toml(std::string_view text, std::string_view where);

/// Returns the entries of a table in the order of the file.
std::vector<std::pair<std::string, const toml::node*>> in_order(const toml::table& table);

/// Throws `UserError` for a key that is not in `known`, and suggests the nearest. `what` names the table.
void check_keys(const toml::table& table, const std::vector<std::string>& known,
                std::string_view what, const TomlPlace& place);

/// Return the node as a table, a string, a list of strings (from one string or a list), or any single value. Throw
/// `UserError` for anything else; `what` is its key.
const toml::table& table_at(const toml::node& node, std::string_view what, const TomlPlace& place);
std::string text_at(const toml::node& node, std::string_view what, const TomlPlace& place);
std::vector<std::string> texts_at(const toml::node& node, std::string_view what,
                                  const TomlPlace& place);
Json scalar_at(const toml::node& node, std::string_view what, const TomlPlace& place);

}  // namespace hone
