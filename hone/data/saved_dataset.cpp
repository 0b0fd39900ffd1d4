#include <algorithm>

#include "hone/base/error.h"
#include "hone/base/json.h"
#include "hone/data/folder_splits.h"

namespace hone {
namespace {

constexpr const char* kStateFile = "state.json";
constexpr const char* kSplitsFile = "dataset_dict.json";

Json read_object(const fs::path& path) {
  Json object = Json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  user_check(object.is_object(), "{}: expected a JSON object, as datasets.save_to_disk writes it",
             path.string());
  return object;
}

// Returns a name from a list, of a file or folder in the same folder.
std::string name_in(const Json& name, const fs::path& where) {
  user_check(name.is_string(), "{}: expected names, got {}", where.string(), to_line(name));
  auto text = name.get<std::string>();
  user_check(!text.empty() && text.find('/') == std::string::npos && text != "..",
             "{}: expected the name of a file or folder beside it, got '{}'", where.string(), text);
  return text;
}

const Json& list_in(const Json& object, const char* key, const fs::path& where) {
  user_check(object.contains(key) && object.at(key).is_array() && !object.at(key).empty(),
             "{}: expected a list '{}', as datasets.save_to_disk writes it", where.string(), key);
  return object.at(key);
}

std::vector<fs::path> files_of_state(const fs::path& folder) {
  const fs::path path = folder / kStateFile;
  const Json state = read_object(path);
  const auto indices = state.find("_indices_data_files");
  user_check(indices == state.end() || indices->is_null() || indices->empty(),
             "{}: the dataset is saved with an indices mapping, which is not supported; call "
             "flatten_indices() before save_to_disk",
             path.string());
  std::vector<fs::path> files;
  for (const Json& entry : list_in(state, "_data_files", path)) {
    user_check(entry.is_object() && entry.contains("filename"),
               "{}: expected a filename in each of '_data_files'", path.string());
    files.push_back(folder / name_in(entry.at("filename"), path));
  }
  return files;
}

NamedSplit split_in(const fs::path& folder, const std::string& name) {
  const std::vector<SplitRole> roles = roles_in(name);
  return {name, roles.size() == 1 ? std::optional(roles[0]) : std::nullopt, files_of_state(folder)};
}

}  // namespace

bool is_saved_dataset(const fs::path& folder) {
  return path_exists(folder / kSplitsFile) || path_exists(folder / kStateFile);
}

FolderSplits read_saved_dataset(const fs::path& folder) {
  const fs::path path = folder / kSplitsFile;
  if (!path_exists(path)) return {.splits = {{"train", SplitRole::train, files_of_state(folder)}}};
  FolderSplits splits;
  const Json description = read_object(path);
  for (const Json& entry : list_in(description, "splits", path)) {
    const std::string name = name_in(entry, path);
    splits.splits.push_back(split_in(folder / name, name));
  }
  return splits;
}

}  // namespace hone
