#pragma once

#include <string>
#include <vector>

#include "hone/study/result.h"

/// Output folders of earlier jobs, read back to be laid beside each other.
namespace hone {

/// What an output folder says, one row for each model that was measured in it: an object with the keys of `run_row` in
/// docs/reference/json.md. What the folder does not tell is not there.
struct RunFolder {
  fs::path path;
  std::vector<Json> rows;
};

/// A path that is none.
struct SkippedPath {
  std::string path;
  std::string reason;
};

struct Runs {
  std::vector<RunFolder> folders;
  std::vector<SkippedPath> skipped;
};

/// Reads the output folders among `paths`: finished ones and those of interrupted jobs (FOLDER.partial, also for FOLDER),
/// of this version and of those before there was a schema. A path may be a glob, or a folder of output folders. Whatever
/// cannot be read is skipped, with its reason. Throws `UserError` for a path that is not there.
Runs read_runs(const std::vector<std::string>& paths);

}  // namespace hone
