#include "hone/jobs/pipeline/pipeline_files.h"

#include "hone/base/job_files.h"

namespace hone {
namespace {

// The path in the folder `name`; nothing where it does not lie there.
std::optional<fs::path> path_in(const fs::path& path, const std::string& name) {
  const std::string text = path.string(), begin = name + "/";
  if (!text.starts_with(begin)) return std::nullopt;
  return fs::path(text.substr(begin.size()));
}

FileRole role_in_report(const fs::path& path) {
  return *path.begin() == "figures" ? FileRole::result : job_file_role(path);
}

}  // namespace

FileRole PipelineFiles::role(const fs::path& path) const {
  for (const fs::path& part : path)
    if (is_temporary_name(part.string())) return FileRole::scaffolding;
  if (path_in(path, kPipelineStates)) return FileRole::scaffolding;
  for (const std::string& name : names_) {
    if (const auto inner = path_in(path, name)) return role_in_stage(name, *inner);
    if (const auto inner = path_in(path, name + std::string(kPartialStage)))
      return *inner == kRecordFile || job_file_role(*inner) != FileRole::foreign
                 ? FileRole::scaffolding
                 : FileRole::foreign;
  }
  return path.has_parent_path() && *path.begin() != "figures" ? FileRole::foreign
                                                              : role_in_report(path);
}

bool PipelineFiles::is_progress(const fs::path& path) {
  return path_in(path, kPipelineStates).has_value();
}

FileRole PipelineFiles::role_in_stage(const std::string& name, const fs::path& inner) const {
  const std::optional<FolderRecord>& record = record_of(name);
  const bool own = record && (inner == kRecordFile || record->files.contains(inner.string()));
  return own ? FileRole::result : FileRole::foreign;
}

// Read again when it has changed.
const std::optional<FolderRecord>& PipelineFiles::record_of(const std::string& name) const {
  std::error_code error;
  const fs::file_time_type changed = fs::last_write_time(root_ / name / kRecordFile, error);
  Known& known = records_[name];
  // What the folder holds is the stage's still where its record was removed first.
  if (!error && known.changed != changed) known = {changed, read_record(root_ / name)};
  return known.record;
}

}  // namespace hone
