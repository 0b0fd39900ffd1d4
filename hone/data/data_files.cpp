#include "hone/data/data_files.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/data/labelled_file.h"

namespace hone {
namespace {

using Paths = std::vector<fs::path>;
using Names = std::vector<std::string>;

constexpr std::pair<std::string_view, Paths DataFiles::*> kParts[] = {
    {"train", &DataFiles::train},    {"validation", &DataFiles::validation},
    {"dev", &DataFiles::validation}, {"valid", &DataFiles::validation},
    {"val", &DataFiles::validation}, {"test", &DataFiles::test}};

std::string part_name(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.substr(0, name.find_first_of("-."));
}

Paths DataFiles::*part_of(const fs::path& path) {
  for (const auto& [name, part] : kParts)
    if (part_name(path) == name) return part;
  return nullptr;
}

Names names_of(const Paths& paths) {
  Names names;
  for (const fs::path& path : paths) names.push_back(path.filename().string());
  return names;
}

std::string listed(Names names) {
  constexpr std::size_t kMost = 12;
  const std::size_t more = names.size() > kMost ? names.size() - kMost : 0;
  names.resize(names.size() - more);
  if (more > 0) names.push_back(fmt::format("{} more", more));
  return fmt::format("{}", fmt::join(names, ", "));
}

// The entries of a folder that are not hidden, by name.
Paths entries(const fs::path& folder) {
  Paths paths;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (!entry.path().filename().string().starts_with('.')) paths.push_back(entry.path());
  user_check(!error, "{}: cannot read the folder: {}", folder.string(), error.message());
  std::sort(paths.begin(), paths.end());
  return paths;
}

Paths data_files_in(const fs::path& folder) {
  Paths paths = entries(folder);
  std::erase_if(paths, [](const fs::path& path) {
    return labelled_file_ending(path).empty() || is_folder(path);
  });
  return paths;
}

// "00003-of-00005" in the name of a shard: 3 and 5.
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

void check_part(const Paths& files) {
  if (files.empty()) return;
  const std::string ending = labelled_file_ending(files[0]);
  std::vector<std::int64_t> shards;
  std::int64_t count = 0;
  for (const fs::path& file : files) {
    user_check(labelled_file_ending(file) == ending,
               "{}: two kinds of files for one part: {} and {}; leave one of them",
               file.parent_path().string(), files[0].filename().string(), file.filename().string());
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
             "{}: some files of a part are numbered shards and some are not: {}",
             files[0].parent_path().string(), listed(names_of(files)));
}

bool has_parts(const Paths& files) {
  return std::any_of(files.begin(), files.end(),
                     [](const fs::path& file) { return part_of(file) != nullptr; });
}

DataFiles sort_into_parts(const Paths& files) {
  DataFiles parts;
  Paths left_out;
  for (const fs::path& file : files) {
    if (const auto part = part_of(file)) {
      (parts.*part).push_back(file);
    } else {
      left_out.push_back(file);
    }
  }
  if (!left_out.empty())
    parts.notes.push_back(
        fmt::format("left out, for they are named neither train, validation nor test: {}",
                    listed(names_of(left_out))));
  for (const Paths& part : {parts.train, parts.validation, parts.test}) check_part(part);
  return parts;
}

DataFiles files_of_folder(const fs::path& folder) {
  if (const Paths files = data_files_in(folder); has_parts(files)) return sort_into_parts(files);
  Paths found;
  for (const fs::path& entry : entries(folder)) {
    if (!is_folder(entry) || !has_parts(data_files_in(entry))) continue;
    if (entry.filename() == "data") return sort_into_parts(data_files_in(entry));
    found.push_back(entry);
  }
  user_check(found.size() <= 1,
             "data '{}': several folders in it have data: {}; name one of them, e.g. {}",
             folder.string(), listed(names_of(found)), found.empty() ? "" : found[0].string());
  if (found.size() == 1) return sort_into_parts(data_files_in(found[0]));
  const Names names = names_of(entries(folder));
  fail(
      "data '{}': expected the layout of aclImdb, {{train,test}}/{{neg,pos}}/*.txt, or files "
      "called "
      "train.*, validation.*, test.* that end in one of {}; found: {}",
      folder.string(), fmt::join(labelled_file_endings(), ", "),
      names.empty() ? "nothing" : listed(names));
}

DataFiles files_of_glob(const fs::path& pattern) {
  const fs::path folder = pattern.has_parent_path() ? pattern.parent_path() : fs::path(".");
  user_check(is_folder(folder), "data '{}': no such folder: {}", pattern.string(), folder.string());
  Paths files = data_files_in(folder);
  std::erase_if(files, [&](const fs::path& file) {
    return !glob_match(pattern.filename().string(), file.filename().string());
  });
  user_check(!files.empty(), "data '{}': no file of that name in {}; there are: {}",
             pattern.string(), folder.string(), listed(names_of(entries(folder))));
  const auto first = part_of(files[0]);
  if (std::all_of(files.begin(), files.end(),
                  [&](const fs::path& file) { return part_of(file) == first; })) {
    check_part(files);
    return {.train = files};
  }
  return sort_into_parts(files);
}

}  // namespace

DataFiles find_data_files(const std::string& source) {
  if (is_folder(source)) return files_of_folder(source);
  if (path_exists(source)) {
    user_check(!text_file_ending(source).empty(), "data '{}': expected one of {}, .txt", source,
               fmt::join(labelled_file_endings(), ", "));
    return {.train = {source}};
  }
  if (source.find_first_of("*?") != std::string::npos) return files_of_glob(source);
  fail(
      "data '{}': no such file or folder; expected a folder, one of {}, or synth:NAME; nothing is "
      "downloaded",
      source, fmt::join(labelled_file_endings(), ", "));
}

}  // namespace hone
