#pragma once

#include <string>
#include <vector>

#include "hone/base/folder_record.h"

namespace hone {

/// A file that is not as the record of its folder has it.
struct ChangedFile {
  std::string path;    ///< in the folder
  std::string change;  ///< "is missing", "has 12 bytes instead of 34", "has other bytes"
};

/// Reads every file that `record` lists, and compares sizes and fingerprints. Throws `UserError` for one that cannot be read.
std::vector<ChangedFile> changed_files(const fs::path& folder, const FolderRecord& record);

}  // namespace hone
