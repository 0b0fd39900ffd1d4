#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/carry_over.h"
#include "hone/base/folder_record.h"
#include "hone/base/written_files.h"

/// Output folders: they appear complete, and replace only what the program wrote itself.
namespace hone {

struct OutputFolderOptions {
  bool overwrite = false;  ///< replace the destination, and the leftovers of an interrupted run
  /// The temporary folder is `destination`.partial. It outlives an unfinished job if it contains progress. Others may
  /// put files into it: the files of this program are listed there (written_files.h).
  bool resumable = false;
  bool resume = false;  ///< continue in the folder of an interrupted run, if any
  /// Globs of relative paths, in which `*` also matches `/`: files from which a job can continue, and files that are
  /// removed at its end.
  std::vector<std::string> progress = {}, scaffolding = {};
};

/// A folder that appears under its name only when it is complete, with a record of every file (folder_record.h):
///
///     OutputFolder out("model", {});
///     write_file(out.path() / "config.json", text);
///     out.commit();            // renames; without it the destructor removes what was written
///
/// With `overwrite` the destination may be a folder with a record. It is set aside as `destination`.replaced, and once
/// the new one is in place, its files that still match the record are removed. All others move into the new folder, as
/// NAME.kept if it has a NAME of its own; they are reported on standard error.
///
/// If the program is killed between the two renames, the old folder is complete at `destination`.replaced and the new
/// one in the temporary folder, whose record names the one it replaces; the next `OutputFolder` of the destination
/// restores the old one. If it is killed after them, the next one finishes moving and removing.
class OutputFolder {
 public:
  /// Throws `UserError` before anything is changed, if:
  /// - the destination is a file, is not empty without `overwrite` or `resume`, or has no record;
  /// - it or the temporary folder is or contains something that `check_unprotected` names;
  /// - (in `begin`, after errors of the job itself) the folder of an interrupted run exists without `resume` or
  ///   `overwrite`, or that of a run that gave up without `overwrite`;
  /// - a folder of another program has the name of the temporary one, or of the one to set aside;
  /// - another process works there.
  OutputFolder(const fs::path& destination, OutputFolderOptions options);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// Returns the folder to write to: a temporary one beside the destination.
  const fs::path& path() const { return temporary_; }
  const fs::path& destination() const { return destination_; }
  const OutputFolderOptions& options() const { return options_; }

  /// Returns the record of the destination, if the program wrote it.
  const std::optional<FolderRecord>& previous() const { return previous_; }
  /// Returns the record of the interrupted run to continue.
  const std::optional<FolderRecord>& interrupted() const { return interrupted_; }

  /// Begins a resumable job: removes the leftovers of an interrupted one and records `job`.
  void begin(const Json& job);
  /// Continues the interrupted job, as `job`.
  void continue_job(const Json& job);
  /// Ends the job for good, because it would fail again if resumed: throws `UserError` with `why`. Progress stays, and
  /// the record says so.
  [[noreturn]] void abandon(const std::string& why);
  /// Moves the folder into place, without the scaffolding. Throws `UserError`; the files then stay in `path()`.
  void commit();

 private:
  std::vector<fs::path> own_files() const;
  bool is_scaffolding(const fs::path& relative) const;
  void check_destination();
  void adopt_temporary();
  void restore_destination();
  bool has_progress() const;
  void clear_temporary();
  FolderRecord finished_record() const;
  void remove_scaffolding();
  void move_into_place();
  void finish_replacing();

  OutputFolderOptions options_;
  fs::path destination_, temporary_, aside_;
  std::optional<ScratchFolder> scratch_;  // for jobs that cannot be resumed
  std::optional<WrittenFiles> written_;   // for jobs that can
  std::vector<fs::path> made_parents_;    // deepest first
  std::optional<FolderRecord> previous_, interrupted_;
  Json job_ = nullptr;
  int lock_ = -1;  // descriptor of the locked folder
  bool found_ =
      false;  // the temporary folder existed; kept until the job begins, in case of a mistake
  bool committed_ = false;
};

/// Returns the folder in which a resumable job works until `destination` is complete.
fs::path partial_folder(const fs::path& destination);

/// Removes the leftovers of an unfinished job from its temporary folder, and the folder if it contains nothing else.
void remove_unfinished(const fs::path& folder);

}  // namespace hone
