#include "hone/compiler/object_cache.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include "hone/base/cache_folder.h"
#include "hone/base/error.h"
#include "hone/base/hash.h"

namespace hone::compiler {
namespace {

fs::path folder() {
  const fs::path cache = cache_folder();
  return cache.empty() ? fs::path() : cache / "code";
}

fs::path file_of(const std::string& key) { return folder() / (key + ".o"); }

struct KeptFile {
  fs::path path;
  std::uintmax_t bytes = 0;
  fs::file_time_type written;
};

// Returns whether hone wrote a file: it starts with a fingerprint, followed by the magic number of ELF.
bool is_written_by_hone(const fs::path& path) {
  const std::size_t digits = fingerprint(std::string_view()).size();
  const std::string_view magic =
      "\x7f"
      "ELF";
  std::string head(digits + magic.size(), ' ');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  return file && head.ends_with(magic) && head.find_first_not_of("0123456789abcdef") == digits;
}

// Other processes may remove the same files.
void make_room(std::uintmax_t bytes) {
  std::vector<KeptFile> files;
  std::uintmax_t sum = bytes;
  for (const auto& entry : fs::directory_iterator(folder())) {
    std::error_code gone;
    const KeptFile file{entry.path(), entry.file_size(gone), entry.last_write_time(gone)};
    if (gone || file.path.extension() != ".o" || !is_written_by_hone(file.path)) continue;
    sum += file.bytes;
    files.push_back(file);
  }
  std::ranges::sort(files, {}, &KeptFile::written);
  for (const KeptFile& oldest : files) {
    if (sum <= kMaxBytes) return;
    std::error_code gone;
    fs::remove(oldest.path, gone);
    sum -= oldest.bytes;
  }
}

}  // namespace

std::optional<std::string> cached_object(const std::string& key) {
  std::error_code error;
  if (folder().empty() || !fs::exists(file_of(key), error)) return std::nullopt;
  try {
    const std::string text = read_file(file_of(key));
    const std::string print = fingerprint(std::string_view());
    if (text.size() < print.size()) return std::nullopt;
    std::string object = text.substr(print.size());
    if (fingerprint(object) != std::string_view(text).substr(0, print.size())) return std::nullopt;
    return object;
  } catch (const UserError&) {
    return std::nullopt;
  }
}

void cache_object(const std::string& key, std::string_view object) {
  if (folder().empty()) return;
  try {
    fs::create_directories(folder());
    make_room(object.size());
    write_file(file_of(key), fingerprint(object) + std::string(object));
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
  }
}

}  // namespace hone::compiler
