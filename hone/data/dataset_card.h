#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/file.h"

/// Dataset cards: the YAML block at the top of README.md that describes a dataset's files. docs/splits.md has the
/// forms.
namespace hone {

/// One of the "configs" of a card.
struct CardConfig {
  std::string name = {};
  bool is_default = false;
  std::string data_dir = {};  ///< relative to the card's folder; empty: that folder
  /// Name of each split, and the paths and globs of its files; empty: file names decide.
  std::vector<std::pair<std::string, std::vector<std::string>>> data_files = {};
  /// Keys of reading options such as "sep", which `datasets` would obey.
  std::vector<std::string> other_keys = {};
};

/// Returns the configs in the text of a README.md, or nothing if it has no YAML block or no "configs" in it. Throws
/// `UserError` with the line for invalid YAML and invalid configs.
std::vector<CardConfig> parse_dataset_card(std::string_view text);

/// Returns the config in `folder`/README.md that `datasets.load_dataset` reads: the one called `name`; without a name
/// the only one, or the one named or marked default. Returns nothing without a card with configs. Throws `UserError`
/// with the path as `parse_dataset_card` does, for an unknown name, and without a name if none or several of several
/// configs are the default.
std::optional<CardConfig> read_dataset_card(const fs::path& folder,
                                            const std::optional<std::string>& name = {});

/// Returns whether a path relative to the card's folder matches a path or glob of a card: `*`, `?` and `[a-c]` within a
/// name, `**` for any folders. Hidden names and those that begin with `__` must be named explicitly.
bool card_glob_match(const std::string& glob, const fs::path& path);

}  // namespace hone
