#include "hone/base/carry_over.h"

#include <algorithm>

#include "hone/base/error.h"

namespace hone {
namespace {

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    entries.push_back(entry.path());
  user_check(!error, "{}: cannot read the folder: {}", folder.string(), error.message());
  std::ranges::sort(entries);
  return entries;
}

bool is_real_folder(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() == fs::file_type::directory;
}

bool is_real_file(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() == fs::file_type::regular;
}

bool is_taken(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() != fs::file_type::not_found;
}

void find_files(const fs::path& folder, const fs::path& relative, std::vector<fs::path>& found) {
  for (const fs::path& entry : entries_of(folder / relative)) {
    const fs::path path = relative / entry.filename();
    if (is_real_folder(entry)) {
      find_files(folder, path, found);
    } else {
      found.push_back(path);
    }
  }
}

/// The state of one `carry_over`.
class Move {
 public:
  Move(const fs::path& from, const fs::path& to, const OwnFiles& own)
      : from_(from), to_(to), own_(own) {}

  std::vector<MovedFile> run() {
    folder("");
    // Last, so that files of others keep their names.
    for (const fs::path& path : changed_) move(path, /*changed=*/true);
    return std::move(carried_);
  }

 private:
  void folder(const fs::path& relative) {
    for (const fs::path& entry : entries_of(from_ / relative)) {
      const fs::path path = relative / entry.filename();
      const bool is_folder = is_real_folder(entry);
      if (is_folder && holds_own(path)) {
        folder(path);
      } else if (is_folder || !own_.named(path)) {
        move(path, /*changed=*/false);
      } else if (!is_real_file(entry) || !own_.unchanged(path)) {
        changed_.push_back(path);
      }
    }
  }

  bool holds_own(const fs::path& relative) const {
    std::vector<fs::path> files;
    find_files(from_, relative, files);
    return std::ranges::any_of(files, own_.named);
  }

  void move(const fs::path& path, bool changed) {
    fs::path target = path;
    for (int copy = 1; is_taken(to_ / target); ++copy)
      target = fs::path(path).concat(copy == 1 ? ".kept" : fmt::format(".kept-{}", copy));
    std::error_code error;
    fs::create_directories((to_ / target).parent_path(), error);
    if (!error) fs::rename(from_ / path, to_ / target, error);
    user_check(!error, "{}: cannot move it to {}: {}", (from_ / path).string(),
               (to_ / target).string(), error.message());
    carried_.push_back({path, target, changed});
  }

  const fs::path& from_;
  const fs::path& to_;
  const OwnFiles& own_;
  std::vector<fs::path> changed_;
  std::vector<MovedFile> carried_;
};

}  // namespace

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  find_files(folder, "", files);
  return files;
}

std::vector<MovedFile> carry_over(const fs::path& from, const fs::path& to, const OwnFiles& own) {
  return Move(from, to, own).run();
}

void remove_empty_folders(fs::path folder, const fs::path& top) {
  std::error_code error;
  while (folder != top && is_real_folder(folder) && fs::is_empty(folder, error) && !error) {
    fs::remove(folder, error);
    folder = folder.parent_path();
  }
}

void remove_own(const fs::path& folder, const OwnFiles& own, const fs::path& last) {
  std::vector<fs::path> files = files_below(folder);
  std::stable_partition(files.begin(), files.end(),
                        [&](const fs::path& path) { return path != last; });
  std::error_code error;
  for (const fs::path& path : files) {
    const fs::path file = folder / path;
    if (!own.named(path) || !is_real_file(file) || !own.unchanged(path)) continue;
    fs::remove(file, error);
    user_check(!error, "{}: cannot remove it: {}", file.string(), error.message());
    remove_empty_folders(file.parent_path(), folder);
  }
  if (fs::is_empty(folder, error)) fs::remove(folder, error);
}

}  // namespace hone
