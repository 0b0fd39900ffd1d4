#include "hone/jobs/toml_file.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {

toml::table parse_toml(std::string_view text, std::string_view where) {
  try {
    return toml::parse(text, where);
  } catch (const toml::parse_error& error) {
    fail("{}, line {}: {}", where, error.source().begin.line, error.description());
  }
}

std::vector<std::pair<std::string, const toml::node*>> in_order(const toml::table& table) {
  std::vector<std::pair<std::string, const toml::node*>> entries;
  for (const auto& [key, node] : table) entries.emplace_back(std::string(key.str()), &node);
  std::ranges::stable_sort(entries, [](const auto& a, const auto& b) {
    const auto begin = [](const toml::node& node) {
      const toml::source_position& at = node.source().begin;
      return std::pair(at.line, at.column);
    };
    return begin(*a.second) < begin(*b.second);
  });
  return entries;
}

void check_keys(const toml::table& table, const std::vector<std::string>& known,
                std::string_view what, const TomlPlace& place) {
  for (const auto& [key, node] : table)
    user_check(std::ranges::find(known, key.str()) != known.end(),
               "{}: unknown key '{}' of {}; expected one of {}{}", place.at(node), key.str(), what,
               fmt::join(known, ", "), did_you_mean(key.str(), known));
}

const toml::table& table_at(const toml::node& node, std::string_view what, const TomlPlace& place) {
  user_check(node.is_table(), "{}: {}: expected a table", place.at(node), what);
  return *node.as_table();
}

std::string text_at(const toml::node& node, std::string_view what, const TomlPlace& place) {
  user_check(node.is_string(), "{}: {}: expected a string", place.at(node), what);
  return node.as_string()->get();
}

std::vector<std::string> texts_at(const toml::node& node, std::string_view what,
                                  const TomlPlace& place) {
  if (!node.is_array()) return {text_at(node, what, place)};
  std::vector<std::string> texts;
  for (const toml::node& item : *node.as_array()) texts.push_back(text_at(item, what, place));
  return texts;
}

Json scalar_at(const toml::node& node, std::string_view what, const TomlPlace& place) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* whole = node.as_integer()) return whole->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* truth = node.as_boolean()) return truth->get();
  fail("{}: {}: expected a string, a number or true or false", place.at(node), what);
}

}  // namespace hone
