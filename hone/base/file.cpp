#include "hone/base/file.h"

#include <fcntl.h>
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

// "a folder", for messages.
std::string_view kind_of(fs::file_type type) {
  switch (type) {
    case fs::file_type::regular:
      return "a file";
    case fs::file_type::directory:
      return "a folder";
    case fs::file_type::symlink:
      return "a link";
    case fs::file_type::fifo:
      return "a pipe";
    case fs::file_type::socket:
      return "a socket";
    case fs::file_type::block:
    case fs::file_type::character:
      return "a device";
    default:
      return "something that is no file";
  }
}

// Links are followed; nothing there is a status too.
fs::file_status status_of(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() != fs::file_type::none) return status;
  const bool circle = error == std::errc::too_many_symbolic_link_levels;
  fail("{}: cannot look there: {}", path.string(),
       circle ? "its links lead in a circle" : error.message());
}

// The path, looked at before it is opened: who opens a pipe waits for its writer, and a device may act on it.
const fs::path& regular_file(const fs::path& path) {
  const fs::file_status status = status_of(path);
  user_check(status.type() != fs::file_type::not_found, "{}: cannot open: {}", path.string(),
             std::strerror(ENOENT));
  user_check(status.type() == fs::file_type::regular, "{}: expected a file, found {}",
             path.string(), kind_of(status.type()));
  return path;
}

/// A regular file, opened for reading.
class OpenedFile {
 public:
  explicit OpenedFile(const fs::path& path)
      // Should a pipe have taken its place since, this does not wait.
      : file_(regular_file(path), O_RDONLY | O_NONBLOCK) {
    struct stat info {};
    user_check(::fstat(file_.value(), &info) == 0, "{}: {}", path.string(), std::strerror(errno));
    user_check(S_ISREG(info.st_mode), "{}: expected a file, found something else", path.string());
    size_ = static_cast<std::size_t>(info.st_size);
  }
  int descriptor() const { return file_.value(); }
  std::size_t size() const { return size_; }

 private:
  Descriptor file_;
  std::size_t size_ = 0;
};

// The process number keeps two programs that write the same destination apart.
fs::path temporary_beside(const fs::path& path, int attempt = 0) {
  const fs::path normal = path.has_filename() ? path : path.parent_path();
  const std::string again = attempt == 0 ? "" : fmt::format("-{}", attempt);
  return normal.parent_path() /
         fmt::format(".{}.{}{}.tmp", normal.filename().string(), ::getpid(), again);
}

}  // namespace

MappedFile::MappedFile(const fs::path& path) : path_(path) {
  const OpenedFile file(path);
  size_ = file.size();
  if (size_ == 0) return;
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
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
  const OpenedFile file(path);
  std::string text(file.size(), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::read(file.descriptor(), text.data() + done, text.size() - done);
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

void write_folder(const fs::path& path, const std::function<void(const fs::path&)>& write) {
  const ScratchFolder temporary(path);
  write(temporary.path());
  std::error_code error;
  fs::rename(temporary.path(), path, error);
  user_check(!error, "{}: cannot write: {}", path.string(), error.message());
}

ScratchFolder::ScratchFolder(const fs::path& path) {
  std::error_code error;
  for (int attempt = 0; attempt == 0 || (!error && path_.empty()); ++attempt) {
    const fs::path candidate = temporary_beside(path, attempt);
    if (fs::create_directory(candidate, error)) path_ = candidate;
  }
  user_check(!error, "{}: cannot make a folder beside it: {}", path.string(), error.message());
}

ScratchFolder::~ScratchFolder() {
  if (released_) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

bool is_temporary_name(std::string_view name) {
  constexpr std::string_view kEnd = ".tmp", kDigits = "0123456789-";
  if (!name.starts_with('.') || !name.ends_with(kEnd)) return false;
  name.remove_suffix(kEnd.size());
  const std::size_t dot = name.rfind('.');
  return dot > 0 && dot + 1 < name.size() &&
         name.find_first_not_of(kDigits, dot + 1) == std::string_view::npos;
}

bool path_exists(const fs::path& path) {
  return status_of(path).type() != fs::file_type::not_found;
}

bool is_folder(const fs::path& path) { return status_of(path).type() == fs::file_type::directory; }

void check_output_file(const fs::path& path, bool overwrite) {
  const fs::path folder = path.parent_path();
  user_check(folder.empty() || is_folder(folder), "{}: cannot write there: {} is no folder",
             path.string(), folder.string());
  std::error_code error;
  const fs::file_status there = fs::symlink_status(path, error);
  if (there.type() == fs::file_type::not_found) return;
  user_check(there.type() == fs::file_type::regular,
             "{}: expected the name of a file to write, found {}; give another name", path.string(),
             kind_of(there.type()));
  user_check(overwrite, "{}: exists already; give another name or --overwrite", path.string());
}

}  // namespace hone
