#pragma once

#include <functional>
#include <vector>

#include "hone/base/file.h"

/// Moves other programs' files out of a folder that is being replaced.
namespace hone {

/// Identifies the program's own files in a folder by relative path.
struct OwnFiles {
  /// Returns whether the program wrote a file of this name.
  std::function<bool(const fs::path&)> named;
  /// Returns whether that file is unchanged since.
  std::function<bool(const fs::path&)> unchanged;
};

/// A moved file or folder, by its relative paths in the two folders.
struct MovedFile {
  fs::path from, to;
  bool changed = false;  ///< the program wrote it, and it was changed later
};

/// Moves everything that is not the program's own, or was changed since, into another folder on the same disk. Paths
/// stay the same, with `.kept` (`.kept-2`, …) appended if they are taken. Folders without a file of the program move as
/// a whole; links and special files are not opened. Throws `UserError`; whatever has not been moved by then stays in
/// place.
std::vector<MovedFile> carry_over(const fs::path& from, const fs::path& to, const OwnFiles& own);

/// Removes the program's own files, `last` after all others, and then empty folders, including `folder` itself.
void remove_own(const fs::path& folder, const OwnFiles& own, const fs::path& last = {});

/// Returns the sorted relative paths of everything below `folder` that is not a folder; links are not followed. Throws
/// `UserError`.
std::vector<fs::path> files_below(const fs::path& folder);

/// Removes empty folders from `folder` upwards to `top`, which stays.
void remove_empty_folders(fs::path folder, const fs::path& top);

}  // namespace hone
