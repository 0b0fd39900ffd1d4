#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/carry_over.h"
#include "hone/base/folder_record.h"
#include "hone/base/written_files.h"

/// Output folders: they appear whole, and take the place of nothing but what the program wrote itself.
namespace hone {

struct OutputFolderOptions {
  bool overwrite = false;  ///< replace the destination, and what an interrupted run left
  /// The temporary folder is `destination`.partial. It outlives a job that does not finish if it contains progress.
  /// Others may put files into it: those that this program creates are listed there (written_files.h).
  bool resumable = false;
  bool resume = false;  ///< go on in the folder that an interrupted run left, if there is one
  /// Globs of paths in the folder, in which `*` stands for `/` too: files that a job can go on from, and files that are
  /// removed when it is done.
  std::vector<std::string> progress = {}, scaffolding = {};
};

/// A folder that appears under its name only when it is complete, with a record of every file (folder_record.h):
///
///     OutputFolder out("model", {});
///     write_file(out.path() / "config.json", text);
///     out.commit();            // renames; without it the destructor removes what was written
///
/// With `overwrite` the destination may be a folder that carries a record. It steps aside as `destination`.replaced, and
/// once the new one stands, the files that are as the record says are removed. All others move into the new folder, as
/// NAME.kept where it has a NAME of its own; what moved is said on the standard error stream.
///
/// Killed between the two renames, the old folder is whole at `destination`.replaced and the new one in the temporary
/// folder, whose record names the one it replaces; the next `OutputFolder` of the destination puts the old one back. Killed after them, the next one finishes
/// moving and removing.
class OutputFolder {
 public:
  /// Throws `UserError`, before anything is changed:
  /// - the destination is a file; holds something and is not to be overwritten or resumed, or carries no record;
  /// - it or the temporary folder is or holds what `check_unprotected` names;
  /// - by `begin`, after what is wrong with the job itself: an interrupted run has left its folder and is neither resumed nor
  ///   overwritten, or was given up and is not overwritten;
  /// - somebody else's folder is called as the temporary one, or as the one to step aside;
  /// - another process works there.
  OutputFolder(const fs::path& destination, OutputFolderOptions options);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// Where to write: a temporary folder beside the destination.
  const fs::path& path() const { return temporary_; }
  const fs::path& destination() const { return destination_; }
  const OutputFolderOptions& options() const { return options_; }

  /// The record of the destination, if the program wrote it.
  const std::optional<FolderRecord>& former() const { return former_; }
  /// The record of the interrupted run to go on with.
  const std::optional<FolderRecord>& interrupted() const { return interrupted_; }

  /// A resumable job begins: what an interrupted one left is removed, and `job` is recorded.
  void begin(const Json& job);
  /// The interrupted job goes on, as `job`.
  void go_on(const Json& job);
  /// The job ends for good, and would again if it went on: throws `UserError` with `why`. What there is to go on from
  /// stays, and the record says so.
  [[noreturn]] void give_up(const std::string& why);
  /// The folder takes its place, without the scaffolding. Throws `UserError`; what was written then stays in `path()`.
  void commit();

 private:
  std::vector<fs::path> own_files() const;
  bool is_scaffolding(const fs::path& relative) const;
  void check_destination();
  void take_over_temporary();
  void mend();
  bool has_progress() const;
  void clear_temporary();
  FolderRecord finished_record() const;
  void remove_scaffolding();
  void move_into_place();
  void finish_replacing();

  OutputFolderOptions options_;
  fs::path destination_, temporary_, aside_;
  std::optional<ScratchFolder> scratch_;  // of a job that cannot be resumed
  std::optional<WrittenFiles> written_;   // of one that can
  std::vector<fs::path> made_parents_;    // deepest first
  std::optional<FolderRecord> former_, interrupted_;
  Json job_ = nullptr;
  int lock_ = -1;       // descriptor of the locked folder
  bool found_ = false;  // the temporary folder; until the job begins, it may be by mistake
  bool committed_ = false;
};

/// The folder in which a resumable job works until `destination` is complete.
fs::path partial_folder(const fs::path& destination);

/// Removes what a job that did not finish left in its temporary folder, and the folder if others put nothing there.
void remove_unfinished(const fs::path& folder);

}  // namespace hone
