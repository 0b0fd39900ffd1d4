#include "hone/data/folder_splits.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/data/dataset_card.h"
#include "hone/data/labelled_file.h"

namespace hone {
namespace {

using Paths = std::vector<fs::path>;

// Metadata files of Hugging Face, without examples.
constexpr std::string_view kDescriptions[] = {
    "config.json", "dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json"};
constexpr int kDeepestFolder = 8;  // folders may contain themselves by a link

/// A data file of the folder.
struct Found {
  fs::path path;
  std::string place = {};  ///< relative path of the folder that contains its split
  std::string name = {};   ///< name of its split
  std::optional<SplitRole> role = {};
};

bool is_data_file(const fs::path& path) {
  return !labelled_file_ending(path).empty() &&
         std::ranges::find(kDescriptions, path.filename().string()) == std::end(kDescriptions);
}

void add_files(const fs::path& folder, int depth, Paths& files) {
  for (const fs::path& entry : visible_entries(folder)) {
    if (!is_folder(entry)) {
      if (is_data_file(entry)) files.push_back(entry);
    } else if (depth < kDeepestFolder && !entry.filename().string().starts_with("__")) {
      add_files(entry, depth + 1, files);
    }
  }
}

// Sorts by whole paths like `datasets`, where '-' comes before '/'.
Paths find_files(const fs::path& folder) {
  Paths files;
  add_files(folder, 0, files);
  std::ranges::sort(files, {}, [](const fs::path& file) { return file.string(); });
  return files;
}

// Removes trailing numbers: "train" for train_1.
std::string without_number(std::string name) {
  name.resize(name.find_last_not_of("-._ 0123456789") + 1);
  return name;
}

std::optional<SplitRole> role_in(const std::string& name) {
  const std::vector<SplitRole> roles = roles_in(name);
  return roles.size() == 1 ? std::optional(roles[0]) : std::nullopt;
}

// Uses the innermost folder below `root` whose name implies a split.
std::optional<Found> found_by_folder(const fs::path& file, const fs::path& root) {
  const fs::path below = file.parent_path().lexically_relative(root);
  for (fs::path folder = below; !folder.empty() && folder != "."; folder = folder.parent_path()) {
    const std::string name = folder.filename().string();
    if (const auto role = role_in(name))
      return Found{file, folder.parent_path().string(), without_number(name), role};
  }
  return std::nullopt;
}

Found found_by_name(const fs::path& file, const fs::path& root) {
  const std::string place = file.parent_path().lexically_relative(root).string();
  return {file, place == "." ? "" : place, own_split_name(file), role_in(file.filename().string())};
}

std::vector<Found> sort_files(const Paths& files, const fs::path& root) {
  std::vector<Found> found;
  for (const fs::path& file : files)
    if (auto own = found_by_folder(file, root)) found.push_back(std::move(*own));
  if (!found.empty()) return found;
  for (const fs::path& file : files)
    if (Found own = found_by_name(file, root); own.role) found.push_back(std::move(own));
  return found;
}

// Returns the folders whose splits are merged because they contain files of the same role.
std::set<std::string> joined_places(const std::vector<Found>& found) {
  std::map<std::optional<SplitRole>, std::set<std::string>> places;
  for (const Found& file : found) places[file.role].insert(file.place.empty() ? "." : file.place);
  std::set<std::string> joined;
  for (const auto& [role, own] : places)
    if (own.size() > 1) joined.insert(own.begin(), own.end());
  return joined;
}

std::vector<NamedSplit> by_name(const std::vector<Found>& found) {
  std::vector<NamedSplit> splits;
  for (const Found& file : found) {
    auto split = std::ranges::find(splits, file.name, &NamedSplit::name);
    if (split == splits.end()) split = splits.insert(split, {file.name, file.role, {}});
    split->files.push_back(file.path);
  }
  return splits;
}

// Returns the position of "-00000-of-00002" in a name, or npos.
std::size_t shard_in(std::string_view name) {
  const auto digits = [&](std::size_t at) {
    return at + 5 <= name.size() &&
           std::ranges::all_of(name.substr(at, 5), [](char c) { return c >= '0' && c <= '9'; });
  };
  for (std::size_t of = name.find("-of-"); of != std::string_view::npos;
       of = name.find("-of-", of + 1))
    if (of >= 6 && name[of - 6] == '-' && digits(of - 5) && digits(of + 4)) return of - 6;
  return std::string_view::npos;
}

// Finds files such as "data/NAME-00000-of-00002.parquet".
std::vector<Found> find_shards(const Paths& files, const fs::path& root) {
  std::vector<Found> shards;
  for (const fs::path& file : files) {
    const std::string name = file.filename().string();
    const std::size_t shard = shard_in(name);
    if (file.parent_path() != root / "data" || shard == std::string::npos) continue;
    const std::string own = name.substr(0, shard);
    shards.push_back({file, "data", own, role_in(own)});
  }
  return shards;
}

// Joins names; a long list is cut.
std::string shown_first(std::vector<std::string> names) {
  constexpr std::size_t kMost = 12;
  if (names.size() > kMost) {
    const std::size_t more = names.size() - kMost;
    names.resize(kMost);
    names.push_back(fmt::format("{} more", more));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// Joins paths relative to the folder.
std::string listed_paths(const Paths& files, const fs::path& root) {
  std::vector<std::string> names;
  for (const fs::path& file : files) names.push_back(file.lexically_relative(root).string());
  return shown_first(std::move(names));
}

// Returns the splits of the files, with notes on merged splits and on the files left out.
FolderSplits make_splits(const std::vector<Found>& found, const Paths& files) {
  FolderSplits splits{.splits = by_name(found)};
  Paths left_out;
  for (const fs::path& file : files)
    if (std::ranges::find(found, file, &Found::path) == found.end()) left_out.push_back(file);
  if (const std::set<std::string> joined = joined_places(found); !joined.empty())
    splits.notes.push_back(fmt::format(
        "files of one split in several folders are joined: {}; name one of them to read it alone",
        shown_first({joined.begin(), joined.end()})));
  if (!left_out.empty())
    splits.notes.push_back(
        fmt::format("left out, since they are in no split: {}", listed_names(left_out)));
  return splits;
}

[[noreturn]] void refuse_folder(const fs::path& folder) {
  const Paths entries = visible_entries(folder);
  const auto packed = std::ranges::find_if(
      entries, [](const fs::path& entry) { return !unpack_hint(entry).empty(); });
  fail(
      "data '{}': expected the layout of aclImdb, {{train,test}}/{{neg,pos}}/*.txt, files or "
      "folders "
      "named after splits (train.csv, test.csv), or files of one kind that end in one of {}; "
      "found: "
      "{}{}",
      folder.string(), fmt::join(labelled_file_endings(), ", "),
      entries.empty() ? "nothing" : listed_names(entries),
      packed == entries.end() ? "" : unpack_hint(*packed));
}

FolderSplits without_names(const Paths& files, const fs::path& root) {
  const auto has_first_ending = [&](const fs::path& file) {
    return labelled_file_ending(file) == labelled_file_ending(files[0]);
  };
  if (!std::ranges::all_of(files, has_first_ending)) refuse_folder(root);
  std::vector<Found> found;
  for (const fs::path& file : files) {
    found.push_back(found_by_name(file, root));
    found.back().name = "train";
    found.back().role = SplitRole::train;
  }
  FolderSplits splits = make_splits(found, files);
  splits.notes.push_back(fmt::format("no file is named after a split; train: {}",
                                     listed_names(splits.splits[0].files)));
  return splits;
}

}  // namespace

std::vector<fs::path> visible_entries(const fs::path& folder) {
  Paths paths;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (!entry.path().filename().string().starts_with('.')) paths.push_back(entry.path());
  user_check(!error, "{}: cannot read the folder: {}", folder.string(), error.message());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string listed_names(const std::vector<fs::path>& paths) {
  std::vector<std::string> names;
  for (const fs::path& path : paths) names.push_back(path.filename().string());
  return shown_first(std::move(names));
}

std::string own_split_name(const fs::path& file) {
  std::string name = file.filename().string();
  name.resize(name.size() - labelled_file_ending(file).size());
  name.resize(std::min(shard_in(name), name.size()));
  return without_number(std::move(name));
}

FolderSplits splits_by_name(const std::vector<fs::path>& files) {
  std::vector<Found> found;
  for (const fs::path& file : files) found.push_back(found_by_name(file, file.parent_path()));
  return {.splits = by_name(found), .merged = true};
}

namespace {

// Returns the files that a card lists for one split, in its order.
Paths files_of_card(const CardConfig& config, const std::vector<std::string>& globs,
                    const Paths& files, const fs::path& root, const std::string& where) {
  Paths chosen;
  for (const std::string& glob : globs) {
    const std::size_t before = chosen.size();
    if (const fs::path named = root / glob;
        is_data_file(named) && path_exists(named) && !is_folder(named)) {
      chosen.push_back(named.lexically_normal());
    } else {
      for (const fs::path& file : files)
        if (card_glob_match(glob, file.lexically_relative(root))) chosen.push_back(file);
    }
    user_check(chosen.size() > before,
               "{}: config '{}': no data file is called '{}'; there are: {}; download the files, "
               "or fix data_files",
               where, shown_name(config.name), shown_name(glob),
               files.empty() ? "none" : listed_paths(files, root));
  }
  return chosen;
}

FolderSplits splits_of_card(const CardConfig& config, const fs::path& folder) {
  const fs::path root = config.data_dir.empty() ? folder : folder / config.data_dir;
  const std::string where = (folder / "README.md").string();
  user_check(is_folder(root), "{}: config '{}': data_dir: no such folder: {}", where,
             shown_name(config.name), root.string());
  FolderSplits splits;
  if (config.data_files.empty()) {
    splits = splits_by_rules(root);
  } else {
    const Paths files = find_files(root);
    for (const auto& [name, globs] : config.data_files)
      splits.splits.push_back(
          {name, role_in(name), files_of_card(config, globs, files, root, where)});
    splits.notes.push_back(fmt::format("the splits are those of the config '{}' in README.md",
                                       shown_name(config.name)));
  }
  if (!config.other_keys.empty())
    splits.notes.push_back(
        fmt::format("the config '{}' in README.md has {}, which hone does not read; hone detects "
                    "the file format, and options override it",
                    shown_name(config.name),
                    shown_name(fmt::format("{}", fmt::join(config.other_keys, ", ")))));
  return splits;
}

}  // namespace

FolderSplits find_folder_splits(const fs::path& folder, const std::optional<std::string>& config) {
  const std::optional<CardConfig> card = read_dataset_card(folder, config);
  return card ? splits_of_card(*card, folder) : splits_by_rules(folder);
}

FolderSplits splits_by_rules(const fs::path& folder) {
  const Paths files = find_files(folder);
  if (files.empty()) refuse_folder(folder);
  std::vector<Found> found = find_shards(files, folder);
  const bool merged = found.empty();
  if (merged) found = sort_files(files, folder);
  FolderSplits splits = found.empty() ? without_names(files, folder) : make_splits(found, files);
  splits.merged = merged;
  return splits;
}

}  // namespace hone
