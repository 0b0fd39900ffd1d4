#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

/// Reads files, whole or mapped, and writes files and folders atomically.
namespace hone {

namespace fs = std::filesystem;

/// A read-only memory-mapped file. Move-only; the mapping lives as long as the object.
class MappedFile {
 public:
  /// Throws `UserError` naming the path and the system's reason, or what is there instead of a file: pipes and devices
  /// are not opened, because that might block.
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

/// Returns the whole file as bytes in a string. Throws `UserError` as `MappedFile` does.
std::string read_file(const fs::path& path);

/// Receives the pieces of a file in order.
using ByteSink = std::function<void(std::span<const std::byte>)>;

/// Writes what `write` sends into a temporary file beside `path`, flushes it to disk, then renames it to `path`:
/// readers see the old file or the whole new one. Throws `UserError` (no such folder, disk full, …) and leaves `path`
/// untouched.
///
/// Claims the path first (written_files.h), after removing temporary files of `path` that a killed process left: those
/// whose process has ended, that are not locked, and that have not been written to for ten minutes.
void write_file(const fs::path& path, const std::function<void(const ByteSink&)>& write);
void write_file(const fs::path& path, std::string_view text);

/// Writes a folder atomically: `write` fills a temporary folder beside `path`, which is then renamed to `path`. Only an
/// empty folder may exist there. Claims its files before that (written_files.h). Throws `UserError`.
void write_folder(const fs::path& path, const std::function<void(const fs::path&)>& write);

/// A temporary folder of a job, hidden beside `path` and removed with the object.
class ScratchFolder {
 public:
  /// Creates the folder. Throws `UserError` on failure.
  explicit ScratchFolder(const fs::path& path);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const fs::path& path() const { return path_; }
  /// Keeps the folder when the object is destroyed.
  void release() { released_ = true; }

 private:
  fs::path path_;
  bool released_ = false;
};

/// Returns whether `name` has the form of this header's temporary files and folders, left by a killed process.
bool is_temporary_name(std::string_view name);
/// Returns whether any part of a path has such a name.
bool is_temporary_path(const fs::path& path);

/// Return whether `path` exists, and whether it is a folder; links are followed. Throw `UserError` if that cannot be
/// determined: circular links, no permission.
bool path_exists(const fs::path& path);
bool is_folder(const fs::path& path);

/// Checks that writing a file destroys nothing: throws `UserError` if `path` exists, unless it is a regular file and
/// `overwrite` is set, and if a parent is not a folder. Missing parent folders are created on writing.
void check_output_file(const fs::path& path, bool overwrite);

}  // namespace hone
