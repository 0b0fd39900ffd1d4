#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

/// Files read whole or mapped; files and folders that appear complete or not at all.
namespace hone {

namespace fs = std::filesystem;

/// A read-only memory-mapped file. Move-only; the mapping lives as long as the object.
class MappedFile {
 public:
  /// Throws `UserError` naming the path and the system's reason, or what is there instead of a file: a pipe or a device
  /// is not opened, for it might never answer.
  explicit MappedFile(const fs::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  const fs::path& path() const { return path_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  fs::path path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The whole file as bytes in a string. Throws `UserError` as `MappedFile` does.
std::string read_file(const fs::path& path);

/// Receives the pieces of a file in order.
using ByteSink = std::function<void(std::span<const std::byte>)>;

/// Writes what `write` sends into a temporary file beside `path`, flushes it to the disk, then
/// renames it to `path`: readers see the old file or the whole new one. Throws `UserError` (no such
/// folder, disk full, …); then `path` is untouched.
///
/// The path is claimed first (written_files.h).
///
/// Such temporary files of `path` that a killed program left are removed first: those of a process that is not there,
/// which nobody has locked or written to for ten minutes.
void write_file(const fs::path& path, const std::function<void(const ByteSink&)>& write);
void write_file(const fs::path& path, std::string_view text);

/// Writes a folder whole or not at all: `write` fills a temporary folder beside `path`, which is then renamed to
/// `path`, where nothing may be but an empty folder. Its files are claimed before that (written_files.h). Throws
/// `UserError`.
void write_folder(const fs::path& path, const std::function<void(const fs::path&)>& write);

/// A folder for what a job needs on its way, hidden beside `path` and gone with the object.
class ScratchFolder {
 public:
  /// Throws `UserError` when it cannot be made.
  explicit ScratchFolder(const fs::path& path);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const fs::path& path() const { return path_; }
  /// From now on the destructor leaves it.
  void release() { released_ = true; }

 private:
  fs::path path_;
  bool released_ = false;
};

/// Whether `name` is one that a temporary file or folder of this header has, left by a process that was killed.
bool is_temporary_name(std::string_view name);
/// The same for some part of a path.
bool is_temporary_path(const fs::path& path);

/// Whether something is at `path`, and whether it is a folder; links are followed. Throws `UserError` where nobody can
/// tell: links that lead in a circle, no right to look.
bool path_exists(const fs::path& path);
bool is_folder(const fs::path& path);

/// Refuses to write a file over what must not be lost: throws `UserError` when something is at `path`, unless it is a
/// regular file and `overwrite` is given; also where what stands above it is no folder. Missing folders above it are made
/// when it is written.
void check_output_file(const fs::path& path, bool overwrite);

}  // namespace hone
