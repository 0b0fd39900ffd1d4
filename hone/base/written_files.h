#pragma once

#include <set>
#include <string>
#include <vector>

#include "hone/base/file.h"

/// Distinguishes the files that a job writes into a folder from those of others. The folder contains a list of the
/// former. A path is added before its file is created, so the list is complete even after `kill -9`.
namespace hone {

/// The list of a folder: one relative path per line. "NAME/" is a folder written by another command, with its own list
/// or record.
inline constexpr const char* kWrittenFiles = "written_files.txt";

/// During its lifetime, this process lists the files that it creates in `folder`, in addition to those listed before.
///
/// Code that creates a file calls `claim_file` first. `write_file` and `write_folder` (file.h) do so.
class WrittenFiles {
 public:
  explicit WrittenFiles(const fs::path& folder);
  ~WrittenFiles();
  WrittenFiles(const WrittenFiles&) = delete;
  WrittenFiles& operator=(const WrittenFiles&) = delete;

  /// Removes the list. To be called after its files were removed.
  void clear();

 private:
  friend void claim_file(const fs::path& file);
  friend bool is_foreign(const fs::path& file);
  void add(const std::string& path);

  fs::path folder_;
  std::set<std::string> paths_;
};

/// Adds a file that is about to be created to the list of each folder above it that has a `WrittenFiles`. Temporary
/// files and the folder's record are identified by name and not listed. Throws `UserError`: disk full, …
void claim_file(const fs::path& file);

/// The same for a folder that another command is about to write.
void claim_folder(const fs::path& folder);

/// Returns whether the file is in a folder that has a `WrittenFiles` and is not listed there.
bool is_foreign(const fs::path& file);

/// Returns the list in `folder`; empty without a list. Throws `UserError`.
std::vector<fs::path> listed_files(const fs::path& folder);

}  // namespace hone
