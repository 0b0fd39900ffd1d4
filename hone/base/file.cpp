#include "hone/base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "hone/base/error.h"

namespace hone {
namespace {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags, mode_t mode = 0)
      : value_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {
    user_check(value_ >= 0, "{}: cannot open: {}", path.string(), std::strerror(errno));
  }
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int value() const { return value_; }

 private:
  int value_;
};

std::size_t regular_file_size(const Descriptor& file, const fs::path& path) {
  struct stat info {};
  user_check(::fstat(file.value(), &info) == 0, "{}: {}", path.string(), std::strerror(errno));
  user_check(S_ISREG(info.st_mode), "{}: expected a file, found {}", path.string(),
             S_ISDIR(info.st_mode) ? "a folder" : "something that is not a regular file");
  return static_cast<std::size_t>(info.st_size);
}

// The process number keeps two programs that write the same destination apart.
fs::path temporary_beside(const fs::path& path) {
  fs::path normal = path.has_filename() ? path : path.parent_path();
  return normal.parent_path() / fmt::format(".{}.{}.tmp", normal.filename().string(), ::getpid());
}

void sync(const fs::path& path, int flags) {
  const Descriptor file(path, flags);
  user_check(::fsync(file.value()) == 0, "{}: {}", path.string(), std::strerror(errno));
}

}  // namespace

MappedFile::MappedFile(const fs::path& path) : path_(path) {
  const Descriptor file(path, O_RDONLY);
  size_ = regular_file_size(file, path);
  if (size_ == 0) return;
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.value(), 0);
  user_check(mapped != MAP_FAILED, "{}: cannot map {} bytes: {}", path.string(), size_,
             std::strerror(errno));
  data_ = static_cast<const std::byte*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

std::string read_file(const fs::path& path) {
  const Descriptor file(path, O_RDONLY);
  std::string text(regular_file_size(file, path), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::read(file.value(), text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    user_check(count >= 0, "{}: cannot read: {}", path.string(), std::strerror(errno));
    user_check(count > 0, "{}: ended after {} of {} bytes", path.string(), done, text.size());
    done += static_cast<std::size_t>(count);
  }
  return text;
}

void write_file(const fs::path& path, const std::function<void(const ByteSink&)>& write) {
  const fs::path temporary = temporary_beside(path);
  try {
    {
      const Descriptor file(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0666);
      write([&](std::span<const std::byte> bytes) {
        while (!bytes.empty()) {
          const ssize_t count = ::write(file.value(), bytes.data(), bytes.size());
          if (count < 0 && errno == EINTR) continue;
          user_check(count >= 0, "{}: cannot write: {}", path.string(), std::strerror(errno));
          bytes = bytes.subspan(static_cast<std::size_t>(count));
        }
      });
      user_check(::fsync(file.value()) == 0, "{}: cannot write: {}", path.string(),
                 std::strerror(errno));
    }
    fs::rename(temporary, path);
  } catch (const fs::filesystem_error& error) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    fail("{}: cannot write: {}", path.string(), error.code().message());
  } catch (...) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw;
  }
}

void write_file(const fs::path& path, std::string_view text) {
  write_file(path, [&](const ByteSink& sink) { sink(std::as_bytes(std::span(text))); });
}

OutputFolder::OutputFolder(fs::path destination, OutputFolderOptions options)
    : destination_(destination.has_filename() ? std::move(destination) : destination.parent_path()),
      temporary_(options.resumable ? fs::path(destination_).concat(".partial")
                                   : temporary_beside(destination_)) {
  std::error_code error;
  const bool free = !fs::exists(destination_, error) ||
                    (fs::is_directory(destination_, error) && fs::is_empty(destination_, error));
  user_check(free || !options.resume || options.overwrite || fs::exists(temporary_, error),
             "{}: is finished; there is nothing to resume", destination_.string());
  user_check(free || options.overwrite,
             "{}: exists already; give another output folder or --overwrite",
             destination_.string());
  user_check(free || fs::is_directory(destination_),
             "{}: is a file, not a folder; give another output folder", destination_.string());
  make_way(options);
  for (fs::path parent = destination_.parent_path(); !parent.empty() && !fs::exists(parent, error);
       parent = parent.parent_path())
    made_parents_.push_back(parent);
  fs::create_directories(temporary_, error);
  user_check(!error, "{}: cannot create the output folder: {}", destination_.string(),
             error.message());
  if (options.resumable) lock();
}

// What an earlier process left in the temporary folder is resumed, removed, or in the way.
void OutputFolder::make_way(const OutputFolderOptions& options) {
  std::error_code error;
  const bool left = fs::exists(temporary_, error);
  if (options.resume) {
    user_check(left, "{}: there is no such folder, so nothing to resume; start without --resume",
               temporary_.string());
    kept_ = true;
    return;
  }
  if (!left) return;
  if (options.resumable) {
    user_check(options.overwrite,
               "{}: an earlier run was interrupted; go on with --resume, or start again with "
               "--overwrite",
               temporary_.string());
    lock();  // not while it runs
  }
  fs::remove_all(temporary_, error);
}

void OutputFolder::lock() {
  if (lock_ >= 0) ::close(lock_);
  lock_ = ::open(temporary_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  user_check(lock_ >= 0, "{}: cannot open: {}", temporary_.string(), std::strerror(errno));
  if (::flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
  const bool taken = errno == EWOULDBLOCK;
  ::close(std::exchange(lock_, -1));
  user_check(!taken, "{}: another process works there; wait for it, or give another output folder",
             temporary_.string());
}

OutputFolder::~OutputFolder() {
  if (lock_ >= 0) ::close(lock_);
  if (committed_ || kept_) return;
  std::error_code ignored;
  fs::remove_all(temporary_, ignored);
  for (const fs::path& parent : made_parents_) fs::remove(parent, ignored);  // when empty
}

void OutputFolder::commit() {
  // The old folder steps aside first, so that a crash in between leaves one of the two whole.
  const fs::path old = fs::path(temporary_).concat(".old");
  std::error_code error;
  const bool replaces = fs::exists(destination_, error);
  if (replaces) fs::rename(destination_, old, error);
  if (!error) {
    fs::rename(temporary_, destination_, error);
    std::error_code ignored;
    if (error && replaces) fs::rename(old, destination_, ignored);
  }
  committed_ = true;  // when the move failed too: what was written stays where the message says
  user_check(!error, "{}: cannot move the finished folder into place: {}; it is at {}",
             destination_.string(), error.message(), temporary_.string());
  if (replaces) fs::remove_all(old, error);
  const fs::path parent = destination_.has_parent_path() ? destination_.parent_path() : ".";
  sync(parent, O_RDONLY | O_DIRECTORY);
}

}  // namespace hone
