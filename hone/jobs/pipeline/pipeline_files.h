#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/output_folder.h"

namespace hone {

/// The folder, in that of a pipeline, of what is kept of its stages while it works.
inline constexpr const char* kPipelineStates = "stages";
/// Behind a stage's name: its folder while it works.
inline constexpr std::string_view kPartialStage = ".partial";

/// What the files in the folder of a pipeline at work are.
class PipelineFiles {
 public:
  /// `stages`: their names, which are those of their folders in `root`.
  PipelineFiles(fs::path root, std::vector<std::string> stages)
      : root_(std::move(root)), names_(std::move(stages)) {}

  /// Of a path in the folder.
  FileRole role(const fs::path& path) const;
  /// Whether a path in the folder is one that `--resume` goes on from.
  static bool is_progress(const fs::path& path);

 private:
  FileRole role_in_stage(const std::string& name, const fs::path& inner) const;
  const std::optional<FolderRecord>& record_of(const std::string& name) const;

  fs::path root_;
  std::vector<std::string> names_;
  struct Known {
    fs::file_time_type changed = {};
    std::optional<FolderRecord> record = {};
  };
  mutable std::map<std::string, Known> records_;
};

}  // namespace hone
