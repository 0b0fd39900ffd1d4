#include "hone/runtime/machine.h"

#include <fmt/core.h>
#include <png.h>
#include <snappy-stubs-public.h>
#include <sys/utsname.h>
#include <toml++/toml.h>
#include <utf8proc.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>

// must follow <cstdio>
#include <jpeglib.h>

#include "hone/base/text.h"
#include "hone/base/thread_pool.h"
#include "hone/kernels/target.h"

namespace hone {
namespace {

// Returns the lines of a system file; none if it is missing or unreadable.
std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::string system_name() {
  utsname kernel{};
  ::uname(&kernel);
  std::string name = fmt::format("{} {} {}", kernel.sysname, kernel.release, kernel.machine);
  for (const std::string& line : lines_of("/etc/os-release")) {
    constexpr std::string_view kKey = "PRETTY_NAME=\"";
    if (line.starts_with(kKey) && line.ends_with('"'))
      name = line.substr(kKey.size(), line.size() - kKey.size() - 1) + ", " + name;
  }
  return name;
}

std::string compiler_name() {
#if defined(__clang__)
  return "clang++ " + std::string(__clang_version__);
#else
  return "g++ " + std::string(__VERSION__);
#endif
}

std::vector<std::pair<std::string, std::string>> library_versions() {
  return {{"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100,
                              FMT_VERSION % 100)},
          {"Highway", kernels::highway_version()},
          {"libjpeg-turbo", fmt::format("{}.{}.{}", LIBJPEG_TURBO_VERSION_NUMBER / 1000000,
                                        LIBJPEG_TURBO_VERSION_NUMBER / 1000 % 1000,
                                        LIBJPEG_TURBO_VERSION_NUMBER % 1000)},
          {"libpng", PNG_LIBPNG_VER_STRING},
          {"nlohmann-json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR,
                                        NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)},
          {"snappy", fmt::format("{}.{}.{}", SNAPPY_MAJOR, SNAPPY_MINOR, SNAPPY_PATCHLEVEL)},
          {"toml++", fmt::format("{}.{}.{}", TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH)},
          {"utf8proc", utf8proc_version()},
          {"xxHash", fmt::format("{}.{}.{}", XXH_versionNumber() / 10000,
                                 XXH_versionNumber() / 100 % 100, XXH_versionNumber() % 100)},
          {"zlib", zlibVersion()},
          {"zstd", ZSTD_versionString()}};
}

// Returns the number in a control group's file; none if the file is missing or contains "max".
std::optional<std::uint64_t> limit_in(const fs::path& file) {
  const std::vector<std::string> lines = lines_of(file);
  const std::string text = lines.empty() ? "" : lines.front();
  std::uint64_t bytes = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), bytes).ec != std::errc())
    return std::nullopt;
  // Version 1 stores a number near 2^63 for "no limit".
  return bytes < std::uint64_t{1} << 60 ? std::optional(bytes) : std::nullopt;
}

}  // namespace

std::string hone_version() { return HONE_VERSION; }

std::optional<std::uint64_t> memory_limit_bytes(const fs::path& root) {
  std::optional<std::uint64_t> limit;
  // "4:memory:/group" in version 1, "0::/group" in version 2.
  for (const std::string& line : lines_of(root / "proc/self/cgroup")) {
    const std::vector<std::string> parts = split(line, ':');
    if (parts.size() < 3) continue;
    const bool second = parts[1].empty();
    if (!second && parts[1] != "memory") continue;
    const fs::path mount = root / (second ? "sys/fs/cgroup" : "sys/fs/cgroup/memory");
    // Limits of enclosing groups apply too. Inside a container, the group's own path may not exist.
    for (fs::path group = parts[2];; group = group.parent_path()) {
      const std::optional<std::uint64_t> bytes = limit_in(
          mount / group.relative_path() / (second ? "memory.max" : "memory.limit_in_bytes"));
      if (bytes) limit = std::min(limit.value_or(*bytes), *bytes);
      if (!group.has_relative_path()) break;
    }
  }
  return limit;
}

Machine this_machine(int threads) {
  const MachineMemory memory = machine_memory();
  return {.hone = hone_version(),
          .processor = cpu_model(),
          .processors = available_processors(),
          .threads = threads,
          .instruction_sets = names(instruction_sets()),
          .vector_target = kernels::vector_target(),
          .memory_bytes = memory.total_bytes,
          .memory_available_bytes = memory.available_bytes,
          .memory_limit_bytes = memory_limit_bytes(),
          .system = system_name(),
          .compiler = compiler_name(),
          .libraries = library_versions()};
}

const Fields& fields_of(const Machine*) {
  using M = Machine;
  static const Fields fields = describe<M>(
      "machine", "The machine and the program.", field<&M::hone>("hone", "Version of hone."),
      field<&M::processor>("processor", "Name of the CPU."),
      field<&M::processors>("processors", "Logical CPUs that this process may use."),
      field<&M::threads>("threads", "Threads that are used."),
      field<&M::instruction_sets>("instruction_sets", "Of those that hone uses."),
      field<&M::vector_target>("vector_target", "Vector instructions of the kernels."),
      field<&M::memory_bytes>("memory_bytes", Unit::bytes, "Memory of the machine."),
      field<&M::memory_available_bytes>("memory_available_bytes", Unit::bytes,
                                        "Memory that is free."),
      field<&M::memory_limit_bytes>("memory_limit_bytes", Unit::bytes,
                                    "Memory that this process may have; null: all of it."),
      field<&M::system>("system", "Operating system."),
      field<&M::compiler>("compiler", "Compiler of the program."),
      field<&M::libraries>("libraries", "Versions of libraries, by names."));
  return fields;
}

}  // namespace hone
