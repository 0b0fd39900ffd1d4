#include "hone/base/written_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>

#include "hone/base/descriptor.h"
#include "hone/base/error.h"
#include "hone/base/folder_record.h"
#include "hone/base/text.h"

namespace hone {
namespace {

/// All lists of this process. Jobs create files from several threads.
struct Lists {
  std::mutex mutex;
  std::vector<WrittenFiles*> all;
};

Lists& lists() {
  static Lists lists;
  return lists;
}

fs::path whole_path(const fs::path& path) { return fs::absolute(path).lexically_normal(); }

// Returns the path relative to `folder` of something inside it; both are absolute.
std::optional<fs::path> path_in(const fs::path& folder, const fs::path& path) {
  fs::path inner = path.lexically_relative(folder);
  if (inner.empty() || inner == "." || *inner.begin() == "..") return std::nullopt;
  return inner;
}

bool is_reserved_name(const fs::path& path) {
  return path == kRecordFile || is_temporary_path(path);
}

}  // namespace

WrittenFiles::WrittenFiles(const fs::path& folder) : folder_(whole_path(folder)) {
  for (const fs::path& path : listed_files(folder)) paths_.insert(path.string());
  const std::lock_guard lock(lists().mutex);
  lists().all.push_back(this);
}

WrittenFiles::~WrittenFiles() {
  const std::lock_guard lock(lists().mutex);
  std::erase(lists().all, this);
}

void WrittenFiles::clear() {
  const std::lock_guard lock(lists().mutex);
  std::error_code error;
  fs::remove(folder_ / kWrittenFiles, error);
  paths_.clear();
}

// The line break comes first: after an incomplete line, as a full disk leaves it, the next one is intact.
void WrittenFiles::add(const std::string& path) {
  HONE_ASSERT(path.find('\n') == std::string::npos, "a file name has two lines: {}", path);
  if (paths_.contains(path)) return;
  const fs::path list = folder_ / kWrittenFiles;
  const Descriptor file(::open(list.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  user_check(file.number() >= 0, "{}: cannot open: {}", list.string(), std::strerror(errno));
  const std::string line = "\n" + path;
  errno = ENOSPC;  // a write that stops halfway sets nothing else
  const bool whole =
      ::write(file.number(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
  user_check(whole, "{}: cannot write: {}", list.string(), std::strerror(errno));
  paths_.insert(path);
}

void claim_file(const fs::path& file) {
  const std::lock_guard lock(lists().mutex);
  for (WrittenFiles* list : lists().all)
    if (const auto path = path_in(list->folder_, whole_path(file));
        path && !is_reserved_name(*path))
      list->add(path->string());
}

void claim_folder(const fs::path& folder) { claim_file(folder / ""); }

bool is_foreign(const fs::path& file) {
  const std::lock_guard lock(lists().mutex);
  return std::ranges::any_of(lists().all, [&](const WrittenFiles* list) {
    const auto path = path_in(list->folder_, whole_path(file));
    return path && !is_reserved_name(*path) && !list->paths_.contains(path->string());
  });
}

std::vector<fs::path> listed_files(const fs::path& folder) {
  const fs::path list = folder / kWrittenFiles;
  std::vector<fs::path> paths;
  if (!path_exists(list)) return paths;
  for (const std::string& line : split(read_file(list), '\n'))
    if (!line.empty()) paths.emplace_back(line);
  return paths;
}

}  // namespace hone
