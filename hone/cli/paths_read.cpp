#include "hone/cli/paths_read.h"

#include "hone/data/data_files.h"
#include "hone/data/synthetic.h"
#include "hone/jobs/runs.h"
#include "hone/models/model_source.h"

namespace hone {
namespace {

// Returns the links in a folder: in the hub's cache the files are stored elsewhere.
std::vector<fs::path> links_in(const fs::path& folder) {
  std::vector<fs::path> links;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (entry.is_symlink(error)) links.push_back(entry.path());
  return links;
}

std::vector<fs::path> paths_of_model(const std::string& name) {
  if (is_new_model(name))
    return path_exists(name) ? std::vector<fs::path>{name} : std::vector<fs::path>{};
  const fs::path folder = find_model(name);
  std::vector<fs::path> paths = links_in(folder);
  paths.push_back(folder);
  return paths;
}

std::vector<fs::path> paths_of_data(const std::string& source) {
  if (source.starts_with(kSyntheticPrefix)) return {};
  std::vector<fs::path> paths;
  if (path_exists(source)) paths.emplace_back(source);
  const DataFiles files = find_data_files(source);
  for (const std::vector<fs::path>* part : {&files.train, &files.validation, &files.test})
    paths.insert(paths.end(), part->begin(), part->end());
  for (const NamedSplit& split : files.named)
    paths.insert(paths.end(), split.files.begin(), split.files.end());
  return paths;
}

std::vector<fs::path> paths_of_runs(const std::string& name) {
  std::vector<fs::path> paths;
  for (const RunFolder& run : read_runs({name}).folders) paths.push_back(run.path);
  return paths;
}

}  // namespace

std::vector<fs::path> paths_read(Access access, const std::string& value) {
  if (access == Access::reads_model) return paths_of_model(value);
  if (access == Access::reads_data) return paths_of_data(value);
  if (access == Access::reads_runs) return paths_of_runs(value);
  return {value};
}

}  // namespace hone
