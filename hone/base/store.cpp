#include "hone/base/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "hone/base/carry_over.h"
#include "hone/base/error.h"
#include "hone/base/folder_record.h"

namespace hone {
namespace {

constexpr const char* kFiles = "files";
constexpr const char* kPartial = ".partial";
constexpr const char* kLimit = "limit.json";
constexpr const char* kAbout = "about";  // key in the record that marks entries of a store
constexpr std::size_t kKeyDigits = 32;

bool is_key(const std::string& name) {
  return name.size() == kKeyDigits &&
         name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Locks an entry's folder, shared for readers or exclusively.
class EntryLock {
 public:
  EntryLock(const fs::path& entry, int operation) {
    descriptor_ = ::open(entry.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor_ < 0) return;
    held_ = ::flock(descriptor_, operation) == 0 && is_still(entry);
  }
  ~EntryLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  EntryLock(const EntryLock&) = delete;
  EntryLock& operator=(const EntryLock&) = delete;
  bool held() const { return held_; }

 private:
  // The entry may have been removed between the two calls.
  bool is_still(const fs::path& entry) const {
    struct stat locked {
    }, named{};
    return ::fstat(descriptor_, &locked) == 0 && ::stat(entry.c_str(), &named) == 0 &&
           locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
  }

  int descriptor_ = -1;
  bool held_ = false;
};

std::optional<FolderRecord> entry_record(const fs::path& entry) {
  std::optional<FolderRecord> record = read_record(entry);
  if (!record || !record->finished || !record->job.is_object() || !record->job.contains(kAbout))
    return std::nullopt;
  return record;
}

bool is_whole(const fs::path& entry, const FolderRecord& record) {
  try {
    return std::ranges::all_of(record.files, [&](const auto& file) {
      return recorded(entry / file.first) == file.second;
    });
  } catch (const UserError&) {
    return false;
  }
}

std::uintmax_t bytes_of(const FolderRecord& record) {
  std::uintmax_t bytes = 0;
  for (const auto& [path, file] : record.files) bytes += file.size;
  return bytes;
}

void copy_entry_file(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  if (!error) fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  user_check(!error, "{}: cannot be copied to {}: {}", from.string(), to.string(), error.message());
}

// Includes damaged files: a store contains only the program's work.
OwnFiles files_of(const FolderRecord& record) {
  return {[&record](const fs::path& path) {
            return path == kRecordFile || record.files.contains(path.string());
          },
          [](const fs::path&) { return true; }};
}

void mark_used(const fs::path& entry) {
  std::error_code ignored;
  fs::last_write_time(entry / kRecordFile, fs::file_time_type::clock::now(), ignored);
}

// Scanning all entries takes longer than writing one without files.
bool is_time_to_shrink(const std::string& key, const std::vector<fs::path>& files) {
  return !files.empty() || key.starts_with("00");
}

// Removes the files that the record lists; files of others stay and are reported.
bool remove_entry(const fs::path& entry, const FolderRecord& record,
                  std::vector<std::string>& kept) {
  const EntryLock lock(entry, LOCK_EX | LOCK_NB);
  if (!lock.held()) {
    if (path_exists(entry))
      kept.push_back(fmt::format("{}: another process uses it", entry.string()));
    return false;
  }
  remove_own(entry, files_of(record), kRecordFile);
  if (path_exists(entry))
    kept.push_back(
        fmt::format("{}: contains files that hone did not write; they are kept", entry.string()));
  return true;
}

// Returns the record of an existing but damaged entry; sets `is_there` if an intact one exists.
std::optional<FolderRecord> damaged_entry(const fs::path& entry, bool& is_there) {
  const EntryLock lock(entry, LOCK_SH);  // nobody removes it meanwhile
  if (!lock.held()) return std::nullopt;
  std::optional<FolderRecord> record = entry_record(entry);
  user_check(record.has_value(), "{}: is in the way, and is not an entry of this cache",
             entry.string());
  is_there = is_whole(entry, *record);
  return is_there ? std::nullopt : std::move(record);
}

// Returns the folders named KEY followed by `ending`.
std::vector<fs::path> entry_folders(const fs::path& store, const std::string& ending = "") {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(store, error))
    if (is_key(entry.path().stem().string()) && entry.path().extension() == ending &&
        entry.is_directory(error) && !entry.is_symlink(error))
      folders.push_back(entry.path());
  return folders;
}

}  // namespace

std::optional<Json> Store::take(const std::string& key, const fs::path& to) {
  const fs::path entry = folder_ / key;
  const EntryLock lock(entry, LOCK_SH);
  if (!lock.held()) return std::nullopt;
  const std::optional<FolderRecord> record = entry_record(entry);
  if (!record || !is_whole(entry, *record)) return std::nullopt;
  write_folder(to, [&](const fs::path& folder) {
    for (const auto& [path, file] : record->files)
      copy_entry_file(entry / path, folder / fs::path(path).lexically_relative(kFiles));
  });
  mark_used(entry);
  return record->job.at(kAbout);
}

std::optional<Json> Store::about(const std::string& key) const {
  const EntryLock lock(folder_ / key, LOCK_SH);
  if (!lock.held()) return std::nullopt;
  const std::optional<FolderRecord> record = entry_record(folder_ / key);
  if (!record) return std::nullopt;
  mark_used(folder_ / key);
  return record->job.at(kAbout);
}

bool Store::put(const std::string& key, const fs::path& from, const std::vector<fs::path>& files,
                const Json& about) {
  const fs::path entry = folder_ / key;
  FolderRecord record{.finished = true, .job = {{kAbout, about}}};
  for (const fs::path& file : files) record.files[(kFiles / file).string()] = recorded(from / file);
  if (bytes_of(record) > limit()) return false;
  bool is_there = false;
  if (const std::optional<FolderRecord> damaged = damaged_entry(entry, is_there)) {
    std::vector<std::string> kept;
    if (!remove_entry(entry, *damaged, kept)) return true;
    user_check(kept.empty(), "{}", kept.empty() ? "" : kept.front());
  }
  if (is_there) return true;
  const fs::path partial = folder_ / (key + kPartial);
  std::error_code error;
  fs::create_directories(partial, error);
  user_check(!error, "{}: cannot be created: {}", partial.string(), error.message());
  const EntryLock lock(partial, LOCK_EX | LOCK_NB);
  if (!lock.held()) return true;
  write_record(record, partial);  // first: after a kill, it lists what may be removed
  for (const fs::path& file : files) copy_entry_file(from / file, partial / kFiles / file);
  fs::rename(partial, entry, error);
  if (error && path_exists(entry)) {  // another process was faster
    remove_own(partial, files_of(record), kRecordFile);
    return true;
  }
  user_check(!error, "{}: cannot be created: {}", entry.string(), error.message());
  if (is_time_to_shrink(key, files)) shrink_to(limit());
  return true;
}

std::vector<StoreEntry> Store::entries() const {
  std::vector<StoreEntry> all;
  for (const fs::path& folder : entry_folders(folder_)) {
    const std::optional<FolderRecord> record = entry_record(folder);
    if (!record) continue;
    std::error_code error;
    all.push_back({.key = folder.filename().string(),
                   .about = record->job.at(kAbout),
                   .bytes = record->files.empty() ? fs::file_size(folder / kRecordFile, error)
                                                  : bytes_of(*record),
                   .files = record->files.size(),
                   .used = fs::last_write_time(folder / kRecordFile, error)});
  }
  std::ranges::sort(all, [](const StoreEntry& a, const StoreEntry& b) {
    return a.used != b.used ? a.used > b.used : a.key < b.key;
  });
  return all;
}

std::uintmax_t Store::limit() const {
  const fs::path file = folder_ / kLimit;
  if (!path_exists(file)) return kDefaultLimit;
  const Json json = read_json(file);
  user_check(
      json.is_object() && json.contains("limit_bytes") && json["limit_bytes"].is_number_unsigned(),
      "{}: expected {{\"limit_bytes\": NUMBER}}; set the limit again with `hone cache --limit "
      "10GiB`",
      file.string());
  return json["limit_bytes"].get<std::uintmax_t>();
}

void Store::set_limit(std::uintmax_t bytes) {
  std::error_code error;
  fs::create_directories(folder_, error);
  user_check(!error, "{}: cannot be created: {}", folder_.string(), error.message());
  write_file(folder_ / kLimit, to_document({{"limit_bytes", bytes}}));
}

StoreRemoval Store::shrink_to(std::uintmax_t bytes) {
  StoreRemoval removal;
  std::vector<StoreEntry> all = entries();
  std::uintmax_t total = 0;
  for (const StoreEntry& entry : all) total += entry.bytes;
  for (auto entry = all.rbegin(); entry != all.rend() && total > bytes; ++entry) {
    const fs::path folder = folder_ / entry->key;
    const std::optional<FolderRecord> record = entry_record(folder);
    if (!record || !remove_entry(folder, *record, removal.kept)) continue;
    total -= entry->bytes;
    removal.bytes += entry->bytes;
    ++removal.entries;
  }
  for (const fs::path& folder : entry_folders(folder_, kPartial)) {
    std::vector<std::string> in_use;  // being written by another process
    if (const std::optional<FolderRecord> record = entry_record(folder))
      remove_entry(folder, *record, in_use);
  }
  return removal;
}

}  // namespace hone
