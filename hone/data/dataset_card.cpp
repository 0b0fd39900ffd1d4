#include "hone/data/dataset_card.h"

#include <fmt/ranges.h>
#include <fnmatch.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <span>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"

namespace hone {
namespace {

constexpr const char* kCard = "README.md";

// Returns the YAML between two "---" lines at the top, or "".
std::string_view front_matter(std::string_view text) {
  constexpr std::string_view kMark = "---", kBlanks = " \t\r\n";
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  if (!text.starts_with(kMark)) return {};
  const std::size_t begin = text.find('\n');
  if (text.substr(0, begin).find_last_not_of(kBlanks) != 2 || begin == std::string_view::npos)
    return {};
  for (std::size_t at = begin; at != std::string_view::npos; at = text.find('\n', at + 1)) {
    const std::string_view line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    if (line.starts_with(kMark) && line.find_last_not_of(kBlanks) == 2)
      return text.substr(begin + 1, at - begin);
  }
  return {};
}

[[noreturn]] void refuse(const YAML::Node& node, std::string_view expected) {
  YAML::Emitter emitter;
  emitter.SetMapFormat(YAML::Flow);
  emitter.SetSeqFormat(YAML::Flow);
  emitter << node;
  fail("line {}: configs: expected {}, got {}", node.Mark().line + 2, expected,
       shorten(one_line(emitter.c_str(), 80), 80));
}

std::string text_of(const YAML::Node& node, std::string_view expected) {
  if (!node.IsScalar()) refuse(node, expected);
  return node.Scalar();
}

// A path or a list of them.
std::vector<std::string> paths_of(const YAML::Node& node) {
  constexpr std::string_view kExpected = "a path or a list of paths";
  std::vector<std::string> paths;
  if (!node.IsSequence()) return {text_of(node, kExpected)};
  for (const YAML::Node& path : node) paths.push_back(text_of(path, kExpected));
  return paths;
}

decltype(CardConfig::data_files) data_files_of(const YAML::Node& node) {
  if (!node.IsSequence() || node.size() == 0 || !node[0].IsMap())
    return {{"train", paths_of(node)}};
  decltype(CardConfig::data_files) splits;
  for (const YAML::Node& entry : node) {
    constexpr std::string_view kExpected = "an entry with `split` and `path`";
    if (!entry.IsMap() || !entry["split"] || !entry["path"]) refuse(entry, kExpected);
    const std::string name = text_of(entry["split"], kExpected);
    user_check(
        std::ranges::find(splits, name, &decltype(splits)::value_type::first) == splits.end(),
        "line {}: configs: the split '{}' is there twice", entry.Mark().line + 2, shown_name(name));
    splits.emplace_back(name, paths_of(entry["path"]));
  }
  return splits;
}

// These keys do not change what is read.
bool is_description(std::string_view key) {
  return key == "version" || key == "description" || key == "features";
}

CardConfig config_of(const YAML::Node& node) {
  if (!node.IsMap() || !node["config_name"]) refuse(node, "an entry with a `config_name`");
  CardConfig config;
  for (const auto& member : node) {
    const std::string key = text_of(member.first, "a name");
    const YAML::Node& value = member.second;
    if (key == "config_name") {
      config.name = text_of(value, "a name");
    } else if (key == "default") {
      config.is_default = value.IsScalar() && value.as<bool>(false);
    } else if (key == "data_dir") {
      config.data_dir = value.IsNull() ? "" : text_of(value, "a folder");
    } else if (key == "data_files") {
      if (!value.IsNull()) config.data_files = data_files_of(value);
    } else if (!is_description(key)) {
      config.other_keys.push_back(key);
    }
  }
  config.is_default = config.is_default || config.name == "default";
  return config;
}

bool is_special(std::string_view name) { return name.starts_with('.') || name.starts_with("__"); }

using PathParts = std::span<const std::string>;

bool parts_match(PathParts glob, PathParts path) {
  if (glob.empty() || path.empty()) return glob.empty() && path.empty();
  if (glob.front() != "**") {
    const bool named =
        !is_special(path.front()) || glob.front().substr(0, 1) == path.front().substr(0, 1);
    return named && fnmatch(glob.front().c_str(), path.front().c_str(), FNM_PERIOD) == 0 &&
           parts_match(glob.subspan(1), path.subspan(1));
  }
  // `**` matches any number of folders; at the end, everything in them.
  if (glob.size() == 1) return std::ranges::none_of(path, is_special);
  return parts_match(glob.subspan(1), path) ||
         (!is_special(path.front()) && parts_match(glob, path.subspan(1)));
}

std::vector<std::string> parts_of(const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  return {normal.begin(), normal.end()};
}

}  // namespace

std::vector<CardConfig> parse_dataset_card(std::string_view text) {
  const std::string_view yaml = front_matter(text);
  // Cards without configs need not be valid YAML.
  if (yaml.find("configs") == std::string_view::npos) return {};
  try {
    const YAML::Node card = YAML::Load(std::string(yaml));
    if (!card.IsMap() || !card["configs"] || card["configs"].IsNull()) return {};
    if (!card["configs"].IsSequence()) refuse(card["configs"], "a list");
    std::vector<CardConfig> configs;
    for (const YAML::Node& config : card["configs"]) configs.push_back(config_of(config));
    return configs;
  } catch (const YAML::Exception& error) {
    fail("line {}: the block at the top is not YAML: {}", error.mark.line + 2, error.msg);
  }
}

std::optional<CardConfig> read_dataset_card(const fs::path& folder,
                                            const std::optional<std::string>& name) {
  const fs::path file = folder / kCard;
  std::vector<CardConfig> configs;
  if (path_exists(file))
    configs = with_context(file.string(), [&] { return parse_dataset_card(read_file(file)); });
  user_check(!name || !configs.empty(), "{}: there is no card with configs; leave ?config= out",
             file.string());
  if (configs.empty()) return std::nullopt;
  std::vector<std::string> names;
  std::vector<CardConfig> defaults;
  for (const CardConfig& config : configs) {
    if (config.name == name) return config;
    names.push_back(shown_name(config.name));
    if (config.is_default) defaults.push_back(config);
  }
  if (name)
    fail("{}: expected one of the configs {}, got '{}'{}", file.string(), fmt::join(names, ", "),
         shown_name(*name), did_you_mean(*name, names));
  if (configs.size() == 1) return configs[0];
  user_check(defaults.size() == 1,
             "{}: {} of the configs {} are marked as the default, expected one; choose one, as in "
             "'{}?config={}'",
             file.string(), defaults.size(), fmt::join(names, ", "), folder.string(), names[0]);
  return defaults[0];
}

bool card_glob_match(const std::string& glob, const fs::path& path) {
  const std::vector<std::string> parts = parts_of(glob), names = parts_of(path);
  return parts_match(parts, names);
}

}  // namespace hone
