#include "hone/data/data_files.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/data/folder_splits.h"
#include "hone/data/labelled_file.h"

namespace hone {
namespace {

using Paths = std::vector<fs::path>;

constexpr SplitRole kRoles[] = {SplitRole::train, SplitRole::validation, SplitRole::test};

Paths& files_of(DataFiles& files, SplitRole role) {
  if (role == SplitRole::train) return files.train;
  return role == SplitRole::validation ? files.validation : files.test;
}

// Parses "00003-of-00005" in the name of a shard: 3 and 5.
std::optional<std::pair<std::int64_t, std::int64_t>> shard_of(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::size_t of = name.find("-of-");
  if (of == std::string::npos) return std::nullopt;
  const std::size_t dash = name.rfind('-', of - (of > 0 ? 1 : 0));
  if (dash == std::string::npos || dash >= of) return std::nullopt;
  std::int64_t index = 0, count = 0;
  const char* text = name.data();
  const auto first = std::from_chars(text + dash + 1, text + of, index);
  const auto second = std::from_chars(text + of + 4, text + name.size(), count);
  if (first.ptr != text + of || second.ec != std::errc()) return std::nullopt;
  return std::pair(index, count);
}

// Checks that files of one name include all shards.
void check_shards(const Paths& files) {
  std::vector<std::int64_t> shards;
  std::int64_t count = 0;
  for (const fs::path& file : files) {
    if (const auto shard = shard_of(file)) {
      shards.push_back(shard->first);
      count = std::max(count, shard->second);
    }
  }
  for (std::int64_t i = 0; i < count && !shards.empty(); ++i)
    user_check(std::find(shards.begin(), shards.end(), i) != shards.end(),
               "{}: shard {} of {} is missing beside {}", files[0].parent_path().string(), i, count,
               files[0].filename().string());
  user_check(shards.empty() || shards.size() == files.size(),
             "{}: some files of a split are numbered shards and some are not: {}",
             files[0].parent_path().string(), listed_names(files));
}

void check_split(const Paths& files) {
  std::map<fs::path, Paths> of_name;
  for (const fs::path& file : files) {
    const auto shown = [&](const fs::path& one) {
      return file.parent_path() == files[0].parent_path() ? one.filename().string() : one.string();
    };
    user_check(labelled_file_ending(file) == labelled_file_ending(files[0]),
               "{}: two kinds of files for one split: {} and {}; leave one of them",
               file.parent_path().string(), shown(files[0]), shown(file));
    of_name[file.parent_path() / own_split_name(file)].push_back(file);
  }
  for (const auto& [name, own] : of_name) check_shards(own);
}

std::string split_names_of(const std::vector<const NamedSplit*>& splits) {
  std::vector<std::string> names;
  for (const NamedSplit* split : splits) names.push_back(split->name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// Takes the split named like the role, else the first by name; all of them if they are merged.
void assign_role(const FolderSplits& folder, SplitRole role, DataFiles& files) {
  std::vector<const NamedSplit*> own;
  for (const NamedSplit& split : folder.splits)
    if (split.role == role) own.push_back(&split);
  if (own.empty()) return;
  std::ranges::sort(own, {}, [&](const NamedSplit* split) {
    return std::pair(split->name != to_string(role), split->name);
  });
  const std::vector<const NamedSplit*> taken(own.begin(),
                                             folder.merged ? own.end() : own.begin() + 1);
  Paths& paths = files_of(files, role);
  for (const NamedSplit* split : taken)
    paths.insert(paths.end(), split->files.begin(), split->files.end());
  if (own.size() > 1 && folder.merged)
    files.notes.push_back(fmt::format("{}: the splits {} together; --split takes one by its name",
                                      to_string(role), split_names_of(own)));
  else if (own.size() > 1)
    files.notes.push_back(fmt::format("{}: the split {} of {}; --split takes another by its name",
                                      to_string(role), taken[0]->name, split_names_of(own)));
  else if (own[0]->name != to_string(role) && !folder.merged)
    files.notes.push_back(fmt::format("{}: the split {}", to_string(role), own[0]->name));
}

const NamedSplit& find_named(const FolderSplits& folder, const std::string& name,
                             const std::string& source) {
  std::vector<std::string> names;
  for (const NamedSplit& split : folder.splits) {
    if (split.name == name) return split;
    names.push_back(split.name);
  }
  fail("data '{}': `split`: expected train, validation, test, all or one of {}, got '{}'{}", source,
       fmt::join(names, ", "), name, did_you_mean(name, names));
}

DataFiles files_of_splits(const FolderSplits& folder, const std::string& source,
                          const std::string& requested) {
  DataFiles files{.notes = folder.notes, .named = folder.splits};
  if (!is_role_or_all(requested)) {
    const NamedSplit& split = find_named(folder, requested, source);
    files.requested = {requested, split.role.value_or(SplitRole::test)};
    files_of(files, files.requested->second) = split.files;
  }
  for (const SplitRole role : kRoles) {
    if (!files.requested || files.requested->second != role) assign_role(folder, role, files);
    check_split(files_of(files, role));
  }
  std::vector<const NamedSplit*> others;
  for (const NamedSplit& split : folder.splits)
    if (!split.role && split.name != requested) others.push_back(&split);
  if (!others.empty())
    files.notes.push_back(fmt::format(
        "left out: the splits {}; --split takes one of them by its name", split_names_of(others)));
  return files;
}

DataFiles files_of_glob(const fs::path& pattern, const std::string& requested) {
  const fs::path folder = pattern.has_parent_path() ? pattern.parent_path() : fs::path(".");
  user_check(is_folder(folder), "data '{}': no such folder: {}", pattern.string(), folder.string());
  const Paths entries = visible_entries(folder);
  Paths files = entries;
  std::erase_if(files, [&](const fs::path& file) {
    return labelled_file_ending(file).empty() || is_folder(file) ||
           !glob_match(pattern.filename().string(), file.filename().string());
  });
  user_check(!files.empty(), "data '{}': no file of that name in {}; there are: {}",
             pattern.string(), folder.string(), listed_names(entries));
  FolderSplits splits = splits_by_name(files);
  const bool one = std::ranges::all_of(
      splits.splits, [&](const NamedSplit& split) { return split.role == splits.splits[0].role; });
  if (one) splits.splits = {{"train", SplitRole::train, files}};
  return files_of_splits(splits, pattern.string(), requested);
}

/// "FOLDER?config=NAME", like datasets.load_dataset(FOLDER, NAME).
struct FolderConfig {
  std::string folder, config;
};

// Returns nothing for other sources: a '?' may belong to a glob or a file name.
std::optional<FolderConfig> folder_config(const std::string& source) {
  constexpr std::string_view kConfig = "config=";
  const std::size_t question = source.rfind('?');
  if (question == std::string::npos || source.find('=', question) == std::string::npos ||
      path_exists(source) || !is_folder(source.substr(0, question)))
    return std::nullopt;
  const std::string assignment = source.substr(question + 1);
  user_check(assignment.starts_with(kConfig),
             "data '{}': expected config=NAME after the '?', got '{}'", source, assignment);
  return FolderConfig{source.substr(0, question), assignment.substr(kConfig.size())};
}

// Throws if a name similar to the missing path exists in the same folder.
void check_not_misspelled(fs::path source) {
  if (!source.has_filename()) source = source.parent_path();  // "data/"
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(
           source.has_parent_path() ? source.parent_path() : fs::path("."), error))
    if (const std::string name = entry.path().filename();
        entry.is_directory(error) || !text_file_ending(name).empty())
      names.push_back(name);
  std::ranges::sort(names);
  const std::string near = nearest(source.filename().string(), names);
  user_check(near.empty(), "data '{}': no such file or folder; did you mean '{}'?", source.string(),
             (source.parent_path() / near).string());
}

}  // namespace

bool is_role_or_all(const std::string& split) {
  return split.empty() || split == "train" || split == "validation" || split == "test" ||
         split == "all";
}

DataFiles find_data_files(const std::string& source, const std::string& split) {
  if (const auto requested = folder_config(source))
    return files_of_splits(find_folder_splits(requested->folder, requested->config), source, split);
  if (is_folder(source))
    return files_of_splits(
        is_saved_dataset(source) ? read_saved_dataset(source) : find_folder_splits(source), source,
        split);
  if (path_exists(source)) {
    user_check(!text_file_ending(source).empty(), "data '{}': expected one of {}, .txt{}", source,
               fmt::join(labelled_file_endings(), ", "), unpack_hint(source));
    return {.train = {source}};
  }
  if (source.find_first_of("*?") != std::string::npos) return files_of_glob(source, split);
  check_not_misspelled(source);
  fail(
      "data '{}': no such file or folder; expected a folder, one of {}, or synth:NAME; nothing is "
      "downloaded",
      source, fmt::join(labelled_file_endings(), ", "));
}

}  // namespace hone
