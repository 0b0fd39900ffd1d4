#include "hone/base/protected_folders.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {
namespace {

/// Identity of a folder, which can have several names through links and mounts.
using Identity = std::pair<dev_t, ino_t>;

std::optional<Identity> identity_of(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return Identity{info.st_dev, info.st_ino};
}

// Decodes octal escapes of /proc: "/media/my\040disk".
std::string unescaped(const std::string& text) {
  std::string path;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      path += static_cast<char>(std::strtol(text.substr(i + 1, 3).c_str(), nullptr, 8));
      i += 3;
    } else {
      path += text[i];
    }
  }
  return path;
}

// Reads the fifth field of each line; see proc_pid_mountinfo(5).
std::vector<fs::path> mount_points() {
  std::vector<fs::path> points;
  std::ifstream file("/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> words = split(line, ' ');
    if (words.size() > 4) points.emplace_back(unescaped(words[4]));
  }
  return points;
}

// Returns the home directories of all users of this machine.
std::vector<fs::path> homes() {
  std::vector<fs::path> homes;
  if (const char* home = std::getenv("HOME"); home != nullptr) homes.emplace_back(home);
  if (const passwd* user = ::getpwuid(::getuid()); user != nullptr)
    homes.emplace_back(user->pw_dir);
  std::ifstream file("/etc/passwd");
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> fields = split(line, ':');
    if (fields.size() > 5 && !fields[5].empty()) homes.emplace_back(fields[5]);
  }
  return homes;
}

[[noreturn]] void refuse(const fs::path& folder, const fs::path& what, std::string_view name) {
  const bool itself = identity_of(folder) == identity_of(what);
  fail("{}: {} {}{}, and no output takes its place; give a folder of its own", folder.string(),
       itself ? "is" : "holds", name, itself ? "" : fmt::format(" ({})", what.string()));
}

}  // namespace

bool is_inside(const fs::path& inner, const fs::path& outer) {
  const std::optional<Identity> holder = identity_of(outer);
  if (!holder) return false;
  std::error_code error;
  // Resolves the existing part of the path, and appends the rest.
  fs::path at = fs::weakly_canonical(fs::absolute(inner, error), error);
  if (error) return false;  // cannot be resolved: opening it reports why
  while (true) {
    if (identity_of(at) == holder) return true;
    if (!at.has_relative_path()) return false;
    at = at.parent_path();
  }
}

void check_unprotected(const fs::path& folder) {
  if (!identity_of(folder)) return;
  if (is_inside("/", folder)) refuse(folder, "/", "the root of the file system");
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (!error && is_inside(here, folder)) refuse(folder, here, "the current directory");
  for (const fs::path& home : homes())
    if (identity_of(home) && is_inside(home, folder)) refuse(folder, home, "a home");
  // Compares names, because a mount whose server is down would block.
  const std::string within = (fs::canonical(folder, error) / "").string();
  for (const fs::path& point : mount_points())
    if (!error && (point / "").string().starts_with(within)) refuse(folder, point, "a mount point");
}

}  // namespace hone
