#pragma once

#include <toml++/toml.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/json.h"

/// TOML that people write, with errors that name file and line.
namespace hone {

/// Where messages point.
struct TomlPlace {
  std::string where;  ///< the name of the file
  /// "space.toml, line 12"; of what was read from elsewhere, that: "setting widths, line 1"
  std::string at(const toml::node& node) const {
    const toml::source_region& source = node.source();
    return fmt::format("{}, line {}", source.path ? *source.path : where, source.begin.line);
  }
};

/// The line of the file in which it begins.
inline int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

/// Throws `UserError` for what is no TOML.
toml::table parse_toml(std::string_view text, std::string_view where);

/// The entries of a table in the order of the file.
std::vector<std::pair<std::string, const toml::node*>> in_order(const toml::table& table);

/// Throws `UserError`, naming the nearest, for a key that is none of `known`. `what`: whose keys they are.
void check_keys(const toml::table& table, const std::vector<std::string>& known,
                std::string_view what, const TomlPlace& place);

/// What stands there as a table, a string, strings (one alone or a list), or any single value. Throws `UserError` for anything else;
/// `what` is its key.
const toml::table& table_at(const toml::node& node, std::string_view what, const TomlPlace& place);
std::string text_at(const toml::node& node, std::string_view what, const TomlPlace& place);
std::vector<std::string> texts_at(const toml::node& node, std::string_view what,
                                  const TomlPlace& place);
Json scalar_at(const toml::node& node, std::string_view what, const TomlPlace& place);

}  // namespace hone
