#include "hone/base/output_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <set>
#include <utility>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/base/protected_folders.h"
#include "hone/base/text.h"

namespace hone {
namespace {

void print_line(const std::string& text) {
  std::fputs(fmt::format("note: {}\n", printable(text)).c_str(), stderr);
}

fs::path with_ending(const fs::path& path, const char* ending) {
  return fs::path(path).concat(ending);
}

// Resolves trailing slashes, ".." and links.
fs::path resolved(const fs::path& given) {
  user_check(!given.empty(), "the output folder has no name");
  const fs::path path = given.has_filename() ? given : given.parent_path();
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(path, error))) {
    fs::path target = fs::canonical(path, error);
    user_check(!error, "{}: is a link that cannot be followed: {}; give another output folder",
               path.string(), error.message());
    return target;
  }
  bool plain = path.has_filename();
  for (const fs::path& part : path) plain = plain && part != "." && part != "..";
  return plain ? path : fs::weakly_canonical(fs::absolute(path));
}

bool is_empty_folder(const fs::path& path) {
  std::error_code error;
  return is_folder(path) && fs::is_empty(path, error);
}

bool is_free(const fs::path& path) { return !path_exists(path) || is_empty_folder(path); }

void sync_folder(const fs::path& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

std::string record_fingerprint(const fs::path& folder) {
  return read_record(folder) ? recorded(folder / kRecordFile).fingerprint : "";
}

// Returns the finished temporary folder that was to replace the one set aside, or "".
fs::path replacement_of(const fs::path& aside, const fs::path& destination) {
  const fs::path parent = destination.has_parent_path() ? destination.parent_path() : ".";
  const std::string name = destination.filename().string(), mark = record_fingerprint(aside);
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, error)) {
    const std::string other = entry.path().filename().string();
    const bool temporary = other == name + ".partial" ||
                           (other.starts_with("." + name + ".") && is_temporary_name(other));
    if (!temporary) continue;
    const std::optional<FolderRecord> record = read_record(entry.path());
    if (record && record->finished && record->replaces == mark) return entry.path();
  }
  return {};
}

/// Locks a folder; the lock survives renames. Returns the descriptor, or -1 if another process holds the lock.
int locked(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  user_check(descriptor >= 0, "{}: cannot open: {}", folder.string(), std::strerror(errno));
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
    struct stat opened {};
    struct stat now {};
    // Another process may have renamed it meanwhile.
    if (::fstat(descriptor, &opened) == 0 && ::stat(folder.c_str(), &now) == 0 &&
        opened.st_ino == now.st_ino && opened.st_dev == now.st_dev)
      return descriptor;
  } else if (errno != EWOULDBLOCK) {
    return descriptor;  // a file system without locks
  }
  ::close(descriptor);
  return -1;
}

constexpr const char* kGivenUp =
    "{}: {}\n`resume` would continue from there and fail in the same way; start again with other "
    "settings and `overwrite`";
constexpr const char* kDamaged =
    "{}: exists already, and its record cannot be read: {}; nothing in it is changed: move it, or "
    "give another output folder";
constexpr const char* kTaken =
    "{}: another process is using it; wait for it, or give another output folder";

// Returns the command of a recorded job, or "".
std::string command_in(const Json& job) {
  const bool named = job.is_object() && job.contains("command") && job["command"].is_string();
  return named ? job["command"].get<std::string>() : "";
}

// Rejects leftovers of an interrupted run, because the user has not said what to do with them.
void refuse_left(const fs::path& folder, const Json& job) {
  const std::optional<FolderRecord> left = read_record(folder);
  if (!left) return;
  user_check(left->given_up.empty(), kGivenUp, folder.string(), left->given_up);
  const std::string left_by = command_in(left->job), command = command_in(job);
  user_check(left_by.empty() || command.empty() || left_by == command,
             "{}: `hone {}` was interrupted and left this; give another output folder, finish that "
             "run by its own command with `resume`, or replace it with `overwrite`",
             folder.string(), left_by);
  fail(
      "{}: an earlier run{} was interrupted; continue it with `resume`, or start again with "
      "`overwrite`",
      folder.string(), left_by.empty() ? "" : fmt::format(" of `hone {}`", left_by));
}

// Removes empty temporary folders of killed programs.
void remove_abandoned_folders_in(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> abandoned;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, error))
    if (entry.is_directory(error) && !entry.is_symlink(error) &&
        is_temporary_name(entry.path().filename().string()))
      abandoned.push_back(entry.path());
  for (const fs::path& path : abandoned) fs::remove(path, error);
}

// Removes folders that a job made but did not fill.
void remove_empty_folders_in(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error))
    if (entry.is_directory(error) && !entry.is_symlink(error)) folders.push_back(entry.path());
  for (auto at = folders.rbegin(); at != folders.rend(); ++at) fs::remove(*at, error);  // if empty
}

bool is_record_or_list(const fs::path& path) {
  return path.filename() == kRecordFile || path.filename() == kWrittenFiles;
}

// Returns the paths that the folder's record and list name, including subfolders written by other commands.
std::set<fs::path> named_in(const fs::path& folder) {
  std::set<fs::path> names = {kWrittenFiles};
  if (const std::optional<FolderRecord> record = read_record(folder)) {
    names.insert(kRecordFile);
    for (const auto& [path, file] : record->files) names.insert(path);
  }
  for (const fs::path& path : listed_files(folder)) {
    names.insert(path);
    if (path.has_filename()) continue;
    for (const fs::path& inner : named_in(folder / path)) names.insert(path / inner);
  }
  return names;
}

std::vector<fs::path> written_in(const fs::path& folder) {
  const std::set<fs::path> names = named_in(folder);
  std::vector<fs::path> files = files_below(folder);
  std::erase_if(files, [&](const fs::path& path) {
    return !names.contains(path) && !is_temporary_path(path);
  });
  return files;
}

// Removes records and lists last, the deepest first: a kill in between leaves no unknown files.
void remove_files(const fs::path& folder, std::vector<fs::path> files) {
  const auto turn = [](const fs::path& path) {
    return is_record_or_list(path)
               ? 1.0 / static_cast<double>(std::distance(path.begin(), path.end()))
               : 0;
  };
  std::ranges::stable_sort(files, {}, turn);
  std::error_code error;
  for (const fs::path& path : files) {
    fs::remove(folder / path, error);
    remove_empty_folders((folder / path).parent_path(), folder);
  }
}

// Returns the files of a recorded folder, and which of them are unchanged.
OwnFiles files_of(const fs::path& folder, const FolderRecord& record) {
  return {[&](const fs::path& path) {
            return path == kRecordFile || record.files.contains(path.string());
          },
          [&, folder](const fs::path& path) {
            return path == kRecordFile || recorded(folder / path) == record.files.at(path.string());
          }};
}

}  // namespace

fs::path partial_folder(const fs::path& destination) {
  return with_ending(resolved(destination), ".partial");
}

void remove_unfinished(const fs::path& folder) {
  remove_files(folder, written_in(folder));
  remove_empty_folders_in(folder);
  std::error_code error;
  fs::remove(folder, error);  // if empty
}

OutputFolder::OutputFolder(const fs::path& destination, OutputFolderOptions options)
    : options_(std::move(options)),
      destination_(resolved(destination)),
      aside_(with_ending(destination_, ".replaced")) {
  restore_destination();
  check_destination();
  if (options_.resumable) temporary_ = with_ending(destination_, ".partial");
  for (fs::path parent = destination_.parent_path(); !parent.empty() && !path_exists(parent);
       parent = parent.parent_path())
    made_parents_.push_back(parent);
  std::error_code error;
  fs::create_directories(destination_.parent_path().empty() ? "." : destination_.parent_path(),
                         error);
  user_check(!error, "{}: cannot create the output folder: {}", destination_.string(),
             error.message());
  adopt_temporary();
}

void OutputFolder::check_destination() {
  check_unprotected(destination_);
  if (is_free(destination_)) return;
  user_check(is_folder(destination_), "{}: is a file, not a folder; give another output folder",
             destination_.string());
  previous_ = read_record(destination_);
  const std::string fault = record_fault(destination_);
  user_check(fault.empty(), kDamaged, destination_.string(), fault);
  user_check(previous_.has_value(),
             "{}: exists already and has no {} of this program, which replaces only what it wrote; "
             "give another output folder",
             destination_.string(), kRecordFile);
  if (!options_.overwrite && !options_.resume) {
    const fs::path partial = with_ending(destination_, ".partial");
    const std::optional<FolderRecord> left =
        options_.resumable ? read_record(partial) : std::nullopt;
    fail("{}: exists already; give another output folder or `overwrite`{}", destination_.string(),
         left && !left->finished && left->given_up.empty()
             ? fmt::format("; `overwrite` with `resume` continues the interrupted run in {}",
                           partial.string())
             : "");
  }
  user_check(!path_exists(aside_),
             "{}: is in the way of what `overwrite` sets aside; move it, or give another output "
             "folder",
             aside_.string());
}

// Resumes or replaces the leftovers of an earlier process in the temporary folder, or rejects them.
void OutputFolder::adopt_temporary() {
  std::error_code error;
  if (!options_.resumable) {
    scratch_.emplace(destination_);
    temporary_ = scratch_->path();
    return;
  }
  check_unprotected(temporary_);
  const bool there = fs::exists(fs::symlink_status(temporary_, error));
  user_check(!there || (is_folder(temporary_) && !fs::is_symlink(temporary_)),
             "{}: is in the way of what a job writes until it is done; move it, or give another "
             "output folder",
             temporary_.string());
  if (!is_free(temporary_)) {
    const int lock = locked(temporary_);
    user_check(lock >= 0, kTaken, temporary_.string());  // it is still running, not interrupted
    ::close(lock);
    const std::optional<FolderRecord> left = read_record(temporary_);
    const std::string fault = record_fault(temporary_);
    user_check(fault.empty(), kDamaged, temporary_.string(), fault);
    user_check(left.has_value(),
               "{}: exists already and was not left by an interrupted run of this program, which "
               "would write there until it is done; move it, or give another output folder",
               temporary_.string());
    found_ = true;
    if (options_.resume && !options_.overwrite)
      user_check(left->given_up.empty(), kGivenUp, temporary_.string(), left->given_up);
    if (options_.resume && left->given_up.empty()) {
      interrupted_ = left;
      job_ = left->job;
    }
  }
  fs::create_directories(temporary_, error);
  user_check(!error, "{}: cannot create the output folder: {}", destination_.string(),
             error.message());
  lock_ = locked(temporary_);
  user_check(lock_ >= 0, kTaken, temporary_.string());
  written_.emplace(temporary_);
}

// Nobody else writes into a folder of a job that cannot be resumed.
std::vector<fs::path> OutputFolder::own_files() const {
  return options_.resumable ? written_in(temporary_) : files_below(temporary_);
}

bool OutputFolder::is_scaffolding(const fs::path& path) const {
  return options_.resumable && (path == kWrittenFiles || is_temporary_path(path) ||
                                matches_any(options_.scaffolding, path.string()));
}

void OutputFolder::begin(const Json& job) {
  if (found_ && !options_.overwrite) refuse_left(temporary_, job);
  clear_temporary();
  found_ = false;
  job_ = job;
  write_record({.job = job}, temporary_);
}

void OutputFolder::continue_job(const Json& job) {
  // The new record lists no files. A run that was only missing its final rename has no list any more.
  for (const auto& [path, file] : interrupted_->files) claim_file(temporary_ / path);
  found_ = false;
  job_ = job;
  write_record({.job = job}, temporary_);
}

void OutputFolder::abandon(const std::string& why) {
  if (!has_progress()) fail("{}", why);  // the destructor removes everything
  write_record({.job = job_, .given_up = why}, temporary_);
  fail(kGivenUp, temporary_.string(), why);
}

bool OutputFolder::has_progress() const {
  return std::ranges::any_of(files_below(temporary_), [&](const fs::path& path) {
    return !is_temporary_path(path) && matches_any(options_.progress, path.string());
  });
}

// Removes everything but the record, which identifies the folder, and files of others.
void OutputFolder::clear_temporary() {
  std::vector<fs::path> files = own_files();
  std::erase(files, fs::path(kRecordFile));
  remove_files(temporary_, std::move(files));
  if (written_) written_->clear();
  remove_empty_folders_in(temporary_);
}

void OutputFolder::remove_scaffolding() {
  written_.reset();
  std::vector<fs::path> files = own_files();
  std::erase_if(files, [&](const fs::path& path) { return !is_scaffolding(path); });
  remove_files(temporary_, std::move(files));
  remove_abandoned_folders_in(temporary_);
}

OutputFolder::~OutputFolder() {
  if (!committed_ && !found_ && options_.resumable) {
    try {
      if (!has_progress()) clear_temporary();
      if (files_below(temporary_) == std::vector<fs::path>{fs::path(kRecordFile)})
        fs::remove(temporary_ / kRecordFile);
      if (fs::is_empty(temporary_)) fs::remove(temporary_);
    } catch (const std::exception&) {  // then the folder stays
    }
  }
  if (lock_ >= 0) ::close(lock_);
  scratch_.reset();
  std::error_code ignored;
  if (!committed_)
    for (const fs::path& parent : made_parents_) fs::remove(parent, ignored);  // when empty
}

FolderRecord OutputFolder::finished_record() const {
  FolderRecord record{.finished = true, .job = job_};
  for (const fs::path& path : own_files())
    if (path != kRecordFile && !is_scaffolding(path))
      record.files[path.string()] = recorded(temporary_ / path);
  if (!is_free(destination_)) record.replaces = record_fingerprint(destination_);
  return record;
}

void OutputFolder::commit() {
  committed_ = true;  // from here on, errors leave the files where the messages say
  if (scratch_) scratch_->release();
  with_context(fmt::format("{}: finished, but not moved into place; it is at {}",
                           destination_.string(), temporary_.string()),
               [&] {
                 // Marks the folder as finished first, so that an interruption from here on never repeats the work.
                 write_record(finished_record(), temporary_);
                 remove_scaffolding();
                 move_into_place();
               });
}

// Sets the old folder aside first, so that one of the two is complete at any time.
void OutputFolder::move_into_place() {
  const auto rename = [](const fs::path& from, const fs::path& to) {
    std::error_code error;
    fs::rename(from, to, error);
    user_check(!error, "cannot move {} to {}: {}", from.string(), to.string(), error.message());
  };
  if (is_free(destination_)) {
    rename(temporary_, destination_);
    return sync_folder(destination_.parent_path().empty() ? "." : destination_.parent_path());
  }
  // The folder may have changed since the start.
  user_check(options_.overwrite, "{} has appeared meanwhile", destination_.string());
  user_check(read_record(destination_).has_value(), "{} has no {} any more", destination_.string(),
             kRecordFile);
  const int lock = locked(destination_);
  user_check(lock >= 0, kTaken, destination_.string());
  try {
    user_check(!path_exists(aside_), "{} is in the way", aside_.string());
    rename(destination_, aside_);
    try {
      rename(temporary_, destination_);
    } catch (const UserError&) {
      rename(aside_, destination_);
      throw;
    }
    sync_folder(destination_.parent_path().empty() ? "." : destination_.parent_path());
    finish_replacing();
  } catch (...) {
    ::close(lock);
    throw;
  }
  ::close(lock);
}

// Once the new folder is in place, moves files of others over from the old one and removes the rest.
void OutputFolder::finish_replacing() {
  constexpr std::size_t kMaxNotes = 20;
  try {
    const std::optional<FolderRecord> record = read_record(aside_);
    user_check(record.has_value(), "it has lost its {}", kRecordFile);
    const OwnFiles own = files_of(aside_, *record);
    const std::vector<MovedFile> carried = carry_over(aside_, destination_, own);
    for (std::size_t i = 0; i < std::min(carried.size(), kMaxNotes); ++i)
      print_line(fmt::format("{}: {}; kept as {}", (destination_ / carried[i].from).string(),
                             carried[i].changed ? "was changed since this program wrote it"
                                                : "was not written by this program",
                             (destination_ / carried[i].to).string()));
    if (carried.size() > kMaxNotes)
      print_line(fmt::format("{} more were kept in {}", carried.size() - kMaxNotes,
                             destination_.string()));
    remove_own(aside_, own, kRecordFile);
  } catch (const UserError& error) {
    print_line(fmt::format("{}: is complete; the folder that it replaced stays at {}: {}",
                           destination_.string(), aside_.string(), error.what()));
  }
}

// Recovers from a program that was killed while replacing the destination.
void OutputFolder::restore_destination() {
  if (!path_exists(aside_)) return;
  const std::optional<FolderRecord> record = read_record(aside_);
  if (!record || !record->finished) return;  // another program's
  const int lock = locked(aside_);
  user_check(lock >= 0, kTaken, aside_.string());
  if (is_free(destination_)) {
    std::error_code error;
    if (replacement_of(aside_, destination_).empty()) {
      ::close(lock);
      return;  // only named like it
    }
    fs::rename(aside_, destination_, error);
    if (!error)
      print_line(fmt::format(
          "{}: restored; a run that was replacing it was stopped after setting it aside",
          destination_.string()));
  } else if (const auto now = read_record(destination_);
             now && now->replaces == record_fingerprint(aside_)) {
    print_line(fmt::format("{}: finishing a replacement that a stopped run had begun",
                           destination_.string()));
    finish_replacing();
  }
  ::close(lock);
}

}  // namespace hone
