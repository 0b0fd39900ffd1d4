#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/file.h"

/// The card of a dataset: what the YAML block at the top of its README.md says of its files. docs/splits.md has the forms.
namespace hone {

/// One of the "configs" of a card.
struct CardConfig {
  std::string name = {};
  bool is_default = false;
  std::string data_dir = {};  ///< below the card's folder; empty: that one
  /// Of each split its name and the paths and globs of its files; none where the names of files decide.
  std::vector<std::pair<std::string, std::vector<std::string>>> data_files = {};
  /// Keys that say how files are read, "sep" for one, which `datasets` would obey.
  std::vector<std::string> other_keys = {};
};

/// The configs in the text of a README.md; none where it has no YAML block, or no "configs" in it. Throws `UserError`
/// with the line for invalid YAML and invalid configs.
std::vector<CardConfig> parse_dataset_card(std::string_view text);

/// The config of the README.md in `folder` that `datasets.load_dataset` reads: the one called `name`, without a name the only
/// one, or the one that is called or marked default; none where there is no card with configs. Throws `UserError` with the path
/// as `parse_dataset_card` does, for a name that no config has, and without a name where several configs are there and none, or
/// several, are the default.
std::optional<CardConfig> read_dataset_card(const fs::path& folder,
                                            const std::optional<std::string>& name = {});

/// Whether a path below the card's folder is among those that a path or glob of a card names: `*`, `?` and `[a-c]` within
/// a name, `**` for any folders. Hidden names and those that begin with `__` have to be named.
bool card_glob_match(const std::string& glob, const fs::path& path);

}  // namespace hone
