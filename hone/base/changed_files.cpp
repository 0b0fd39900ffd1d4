#include "hone/base/changed_files.h"

#include <fmt/format.h>

namespace hone {

std::vector<ChangedFile> changed_files(const fs::path& folder, const FolderRecord& record) {
  std::vector<ChangedFile> changed;
  for (const auto& [path, expected] : record.files) {
    std::error_code error;
    const fs::path file = folder / path;
    if (!fs::is_regular_file(file, error)) {
      changed.push_back({path, "is missing"});
      continue;
    }
    const RecordedFile now = recorded(file);
    if (now.size != expected.size)
      changed.push_back({path, fmt::format("has {} bytes instead of {}", now.size, expected.size)});
    else if (now != expected)
      changed.push_back({path, "has other bytes"});
  }
  return changed;
}

}  // namespace hone
