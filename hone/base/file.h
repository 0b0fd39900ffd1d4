#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Files read whole or mapped, and outputs that appear complete or not at all.
namespace hone {

namespace fs = std::filesystem;

/// A read-only memory-mapped file. Move-only; the mapping lives as long as the object.
class MappedFile {
 public:
  /// Throws `UserError` naming the path and the system's reason.
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

/// The whole file as bytes in a string. Throws `UserError` naming the path and the system's reason.
std::string read_file(const fs::path& path);

/// Receives the pieces of a file in order.
using ByteSink = std::function<void(std::span<const std::byte>)>;

/// Writes what `write` sends into a temporary file beside `path`, flushes it to the disk, then
/// renames it to `path`: readers see the old file or the whole new one. Throws `UserError` (no such
/// folder, disk full, …); then `path` is untouched.
void write_file(const fs::path& path, const std::function<void(const ByteSink&)>& write);
void write_file(const fs::path& path, std::string_view text);

/// What an output folder does with what is there already.
struct OutputFolderOptions {
  bool overwrite = false;  ///< replace the destination, and what an interrupted run left
  /// The temporary folder is `destination`.partial, and what is `keep`t of it can be resumed.
  bool resumable = false;
  bool resume = false;  ///< go on in the folder that an interrupted run left
};

/// A folder that appears under its name only when it is complete:
///
///     OutputFolder out("model", {});
///     write_file(out.path() / "config.json", text);
///     out.commit();            // renames; without it the destructor deletes what was written
class OutputFolder {
 public:
  /// Throws `UserError` when `destination` exists and is not an empty folder, unless `overwrite`; when an interrupted
  /// run has left its folder and is neither resumed nor overwritten; when there is nothing to resume; and when another
  /// process works in the folder.
  OutputFolder(fs::path destination, OutputFolderOptions options);
  OutputFolder(fs::path destination, bool overwrite)
      : OutputFolder(std::move(destination), OutputFolderOptions{.overwrite = overwrite}) {}
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// Where to write: a temporary folder beside the destination.
  const fs::path& path() const { return temporary_; }
  /// From now on the destructor leaves what was written, to be resumed.
  void keep() { kept_ = true; }
  void commit();

 private:
  void make_way(const OutputFolderOptions& options);
  void lock();

  fs::path destination_;
  fs::path temporary_;
  std::vector<fs::path> made_parents_;  // deepest first
  int lock_ = -1;                       // descriptor of the locked folder
  bool kept_ = false;
  bool committed_ = false;
};

}  // namespace hone
