#pragma once

#include <functional>
#include <vector>

#include "hone/base/file.h"

/// What becomes of the things in a folder that another one takes the place of.
namespace hone {

/// Which files of a folder are the program's own, by their paths in it.
struct OwnFiles {
  /// The program wrote a file of this name.
  std::function<bool(const fs::path&)> named;
  /// The file of such a name is still what the program wrote.
  std::function<bool(const fs::path&)> unchanged;
};

/// Something that moved, by its paths in the two folders.
struct Carried {
  fs::path from, to;
  bool changed = false;  ///< the program had written it
};

/// Moves all that is not the program's own, or not any more, from one folder into another on the same disk: to the same
/// path, or with `.kept` (`.kept-2`, …) behind it where something is already. Folders without a file of the program
/// move whole; links and whatever else is no file are not opened. Throws `UserError`; what has not moved then is where
/// it was.
std::vector<Carried> carry_over(const fs::path& from, const fs::path& to, const OwnFiles& own);

/// Removes the program's own files, `last` after all others, and the folders that are empty then, `folder` itself
/// among them.
void remove_own(const fs::path& folder, const OwnFiles& own, const fs::path& last = {});

/// The paths in `folder` of all that is no folder, links unfollowed, sorted. Throws `UserError`.
std::vector<fs::path> files_below(const fs::path& folder);

/// Removes folders from `folder` upwards to `top`, as long as they are empty; `top` stays.
void remove_empty_folders(fs::path folder, const fs::path& top);

}  // namespace hone
