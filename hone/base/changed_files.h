#pragma once

#include <string>
#include <vector>

#include "hone/base/folder_record.h"

namespace hone {

/// A file that differs from the record of its folder.
struct ChangedFile {
  std::string path;    ///< relative to the folder
  std::string change;  ///< "is missing", "has 12 bytes instead of 34", "has other bytes"
};

/// Reads every file in `record`, and compares sizes and fingerprints. Throws `UserError` for files that cannot be read.
std::vector<ChangedFile> changed_files(const fs::path& folder, const FolderRecord& record);

}  // namespace hone
