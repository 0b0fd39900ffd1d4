#include "hone/base/file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <utility>

#include "hone/base/carry_over.h"
#include "hone/base/descriptor.h"
#include "hone/base/error.h"
#include "hone/base/written_files.h"

namespace hone {
namespace {

int open_file(const fs::path& path, int flags) {
  const int number = ::open(path.c_str(), flags | O_CLOEXEC);
  user_check(number >= 0, "{}: cannot open: {}", path.string(), std::strerror(errno));
  return number;
}

// Returns the kind for messages: "a folder".
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
      return "something that is not a file";
  }
}

// Returns the status with links followed; `not_found` is a status too.
fs::file_status status_of(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() != fs::file_type::none) return status;
  const bool circle = error == std::errc::too_many_symbolic_link_levels;
  fail("{}: cannot access: {}", path.string(), circle ? "its links form a cycle" : error.message());
}

// Checks the type before opening: opening a pipe waits for a writer, and may trigger a device.
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
      // Does not block if a pipe has replaced the file since.
      : file_(open_file(regular_file(path), O_RDONLY | O_NONBLOCK)) {
    struct stat info {};
    user_check(::fstat(file_.number(), &info) == 0, "{}: {}", path.string(), std::strerror(errno));
    user_check(S_ISREG(info.st_mode), "{}: expected a file, found something else", path.string());
    size_ = static_cast<std::size_t>(info.st_size);
  }
  int descriptor() const { return file_.number(); }
  std::size_t size() const { return size_; }

 private:
  Descriptor file_;
  std::size_t size_ = 0;
};

constexpr std::string_view kTemporaryEnd = ".tmp";

// The process id separates two programs that write the same destination.
fs::path temporary_beside(const fs::path& path, int attempt = 0) {
  const fs::path normal = path.has_filename() ? path : path.parent_path();
  const std::string again = attempt == 0 ? "" : fmt::format("-{}", attempt);
  return normal.parent_path() /
         fmt::format(".{}.{}{}{}", normal.filename().string(), ::getpid(), again, kTemporaryEnd);
}

// Returns the process id in the name of a temporary file beside `target`; 0 for other names.
pid_t writer_of(std::string_view name, const std::string& target) {
  const std::string begin = "." + target + ".";
  if (!name.starts_with(begin) || !name.ends_with(kTemporaryEnd)) return 0;
  name.remove_prefix(begin.size());
  if (name.size() <= kTemporaryEnd.size()) return 0;
  name.remove_suffix(kTemporaryEnd.size());
  const std::size_t dash = name.find('-');
  const auto number = [](std::string_view digits) {
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size() ? value : 0;
  };
  if (dash != std::string_view::npos && number(name.substr(dash + 1)) < 1) return 0;
  return std::max(number(name.substr(0, dash)), 0);
}

// Live writers, on any machine, lock their file. If locks are unavailable or not shared by all machines, a file counts
// as abandoned after this time without a write.
constexpr std::chrono::minutes kWriterSilence{10};

void remove_if_abandoned(const fs::path& file) {
  const Descriptor descriptor(::open(file.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (descriptor.number() < 0) return;
  struct stat info {};
  const auto now = std::chrono::system_clock::now();
  if (::fstat(descriptor.number(), &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 1 &&
      std::chrono::system_clock::from_time_t(info.st_mtime) < now - kWriterSilence &&
      ::flock(descriptor.number(), LOCK_EX | LOCK_NB) == 0)
    ::unlink(file.c_str());
}

// Removes what programs killed while writing `path` have left beside it.
void remove_abandoned(const fs::path& path) {
  const fs::path parent = path.parent_path();
  std::error_code error;
  fs::directory_iterator at(parent.empty() ? "." : parent, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    const pid_t writer = writer_of(at->path().filename().string(), path.filename().string());
    if (writer <= 0) continue;
    const bool alive = ::kill(writer, 0) == 0 || errno != ESRCH;
    std::error_code ignored;
    if (!alive && at->symlink_status(ignored).type() == fs::file_type::regular)
      remove_if_abandoned(at->path());
  }
}

void make_folders_above(const fs::path& path) {
  if (!path.has_parent_path()) return;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  user_check(!error, "{}: cannot make the folders above it: {}", path.string(), error.message());
}

/// A new file beside `path`, locked while it is written; removed with the object unless it was renamed to `path`.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& path) : target_(path) {
    make_folders_above(path);
    for (int attempt = 0; descriptor_ < 0; ++attempt) {
      path_ = temporary_beside(path, attempt);
      descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      user_check(descriptor_ >= 0 || errno == EEXIST, "{}: cannot open: {}", path_.string(),
                 std::strerror(errno));
    }
    ::flock(descriptor_, LOCK_EX | LOCK_NB);
  }
  ~TemporaryFile() {
    if (!placed_) ::unlink(path_.c_str());
    ::close(descriptor_);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      check(count >= 0);
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }
  void take_place() {
    check(::fsync(descriptor_) == 0);
    check(::rename(path_.c_str(), target_.c_str()) == 0);
    placed_ = true;
  }

 private:
  void check(bool done) const {
    user_check(done, "{}: cannot write: {}", target_.string(), std::strerror(errno));
  }

  const fs::path& target_;
  fs::path path_;
  int descriptor_ = -1;
  bool placed_ = false;
};

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
  remove_abandoned(path);
  claim_file(path);
  TemporaryFile file(path);
  write([&](std::span<const std::byte> bytes) { file.write(bytes); });
  file.take_place();
}

void write_file(const fs::path& path, std::string_view text) {
  write_file(path, [&](const ByteSink& sink) { sink(std::as_bytes(std::span(text))); });
}

void write_folder(const fs::path& path, const std::function<void(const fs::path&)>& write) {
  const ScratchFolder temporary(path);
  write(temporary.path());
  for (const fs::path& file : files_below(temporary.path())) claim_file(path / file);
  std::error_code error;
  fs::rename(temporary.path(), path, error);
  user_check(!error, "{}: cannot write: {}", path.string(), error.message());
}

ScratchFolder::ScratchFolder(const fs::path& path) {
  make_folders_above(path);
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
  constexpr std::string_view kDigits = "0123456789-";
  if (!name.starts_with('.') || !name.ends_with(kTemporaryEnd)) return false;
  name.remove_suffix(kTemporaryEnd.size());
  const std::size_t dot = name.rfind('.');
  return dot > 0 && dot + 1 < name.size() &&
         name.find_first_not_of(kDigits, dot + 1) == std::string_view::npos;
}

bool is_temporary_path(const fs::path& path) {
  return std::ranges::any_of(path,
                             [](const fs::path& part) { return is_temporary_name(part.string()); });
}

bool path_exists(const fs::path& path) {
  return status_of(path).type() != fs::file_type::not_found;
}

bool is_folder(const fs::path& path) { return status_of(path).type() == fs::file_type::directory; }

void check_output_file(const fs::path& path, bool overwrite) {
  fs::path folder = path.parent_path();
  while (!folder.empty() && !path_exists(folder)) folder = folder.parent_path();
  user_check(folder.empty() || is_folder(folder), "{}: cannot write there: {} is not a folder",
             path.string(), folder.string());
  std::error_code error;
  const fs::file_status there = fs::symlink_status(path, error);
  if (there.type() == fs::file_type::not_found) return;
  user_check(there.type() == fs::file_type::regular,
             "{}: expected the name of a file to write, found {}; give another name", path.string(),
             kind_of(there.type()));
  user_check(overwrite, "{}: exists already; give another name or `overwrite`", path.string());
}

}  // namespace hone
