#include "hone/base/cpu.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {
namespace {

// Returns the text after "key<white space>:" on the first line of `path` with this key.
std::optional<std::string> proc_value(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || trim(std::string_view(line).substr(0, colon)) != key)
      continue;
    return std::string(trim(std::string_view(line).substr(colon + 1)));
  }
  return std::nullopt;
}

// Converts "24684084 kB" to bytes; returns nothing if the key is missing.
std::optional<std::uint64_t> meminfo_bytes(std::string_view key) {
  const std::optional<std::string> text = proc_value("/proc/meminfo", key);
  std::uint64_t kibibytes = 0;
  if (!text ||
      std::from_chars(text->data(), text->data() + text->size(), kibibytes).ec != std::errc())
    return std::nullopt;
  return kibibytes * 1024;
}

std::uint64_t installed_bytes() {
  struct sysinfo system {};
  return ::sysinfo(&system) == 0 ? std::uint64_t{system.totalram} * system.mem_unit : 0;
}

#if defined(__x86_64__)
// CPUs with AVX2 report AVX-VNNI in leaf 7, subleaf 1 of cpuid; older compilers have no name for it. The result is
// cached, because cpuid takes microseconds under a hypervisor.
bool has_avx_vnni() {
  static const bool has = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __builtin_cpu_supports("avx2") != 0 && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 &&
           (a >> 4 & 1u) != 0;
  }();
  return has;
}
#endif

}  // namespace

namespace {

InstructionSets present_instruction_sets() {
#if defined(__x86_64__)
  return {.avx2 = __builtin_cpu_supports("avx2") != 0,
          .fma = __builtin_cpu_supports("fma") != 0,
          .avx_vnni = has_avx_vnni(),
          .avx512f = __builtin_cpu_supports("avx512f") != 0,
          .avx512_bf16 = __builtin_cpu_supports("avx512bf16") != 0,
          .avx512_vnni = __builtin_cpu_supports("avx512vnni") != 0};
#else
  return {};
#endif
}

// Instruction sets after AVX2 with FMA, in order of introduction.
constexpr std::pair<std::string_view, bool InstructionSets::*> kLaterSets[] = {
    {"avx_vnni", &InstructionSets::avx_vnni},
    {"avx512f", &InstructionSets::avx512f},
    {"avx512_vnni", &InstructionSets::avx512_vnni},
    {"avx512_bf16", &InstructionSets::avx512_bf16}};

// Returns how many of them may be used.
std::size_t allowed_sets() {
  const char* const most = std::getenv("HONE_MAX_ISA");
  if (most == nullptr) return std::size(kLaterSets);
  if (std::string_view(most) == "avx2") return 0;
  for (std::size_t i = 0; i < std::size(kLaterSets); ++i)
    if (kLaterSets[i].first == most) return i + 1;
  throw UserError(fmt::format(
      "the environment variable HONE_MAX_ISA is '{}'; expected avx2, avx_vnni, avx512f, "
      "avx512_vnni or avx512_bf16",
      most));
}

}  // namespace

InstructionSets instruction_sets() {
  static const InstructionSets sets = [] {
    InstructionSets found = present_instruction_sets();
    for (std::size_t i = allowed_sets(); i < std::size(kLaterSets); ++i)
      found.*kLaterSets[i].second = false;
    return found;
  }();
  return sets;
}

std::vector<std::string> names(const InstructionSets& sets) {
  std::vector<std::string> result;
  if (sets.avx2) result.push_back("avx2");
  if (sets.fma) result.push_back("fma");
  if (sets.avx_vnni) result.push_back("avx_vnni");
  if (sets.avx512f) result.push_back("avx512f");
  if (sets.avx512_bf16) result.push_back("avx512_bf16");
  if (sets.avx512_vnni) result.push_back("avx512_vnni");
  return result;
}

std::string cpu_model() {
  if (std::optional<std::string> name = proc_value("/proc/cpuinfo", "model name")) return *name;
  utsname system{};
  ::uname(&system);
  return system.machine;
}

MachineMemory machine_memory() {
  const std::uint64_t total = meminfo_bytes("MemTotal").value_or(installed_bytes());
  // Without /proc, the memory used by file caches is unknown: better to try the work than to refuse it.
  return {.total_bytes = total, .available_bytes = meminfo_bytes("MemAvailable").value_or(total)};
}

std::uint64_t last_level_cache_bytes() {
  // Reads /sys, because sysconf() adds up the caches of all CPUs of a socket.
  std::uint64_t bytes = 0;
  for (int index = 0;; ++index) {
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index));
    std::uint64_t size = 0;
    char unit = 0;
    if (!(file >> size >> unit)) break;
    bytes = std::max(bytes, size * (unit == 'M' ? 1u << 20 : 1u << 10));
  }
  return bytes > 0 ? bytes : std::uint64_t{32} << 20;
}

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t program_pages = 0, resident_pages = 0;
  file >> program_pages >> resident_pages;
  return resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

ResidentMemory resident_memory() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t program = 0, resident = 0, of_files = 0;
  file >> program >> resident >> of_files;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return {(resident - of_files) * page, of_files * page};
}

std::uint64_t resident_bytes_of(std::span<const std::byte> mapped) {
  // One number per page of the process, whose top bit marks resident pages.
  constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped.data());
  const std::uint64_t first = begin / page,
                      count = (begin + mapped.size() + page - 1) / page - first;
  std::vector<std::uint64_t> entries(count);
  const std::size_t size = count * sizeof(std::uint64_t);
  // No stream, because only whole numbers can be read from this file.
  const int file = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  const ssize_t read = file < 0 ? -1
                                : ::pread(file, entries.data(), size,
                                          static_cast<off_t>(first * sizeof(std::uint64_t)));
  if (file >= 0) ::close(file);
  if (read != static_cast<ssize_t>(size)) return mapped.size();
  const auto present =
      std::ranges::count_if(entries, [](std::uint64_t entry) { return (entry & kPresent) != 0; });
  return std::min<std::uint64_t>(static_cast<std::uint64_t>(present) * page, mapped.size());
}

std::uint64_t free_heap_bytes() { return ::mallinfo2().fordblks; }

std::uint64_t peak_resident_bytes() {
  // Not `getrusage`: that includes the memory of the forking process before exec.
  std::ifstream file("/proc/self/status");
  std::uint64_t kilobytes = 0;
  for (std::string word; file >> word;)
    if (word == "VmHWM:") file >> kilobytes;
  rusage usage{};
  if (kilobytes == 0 && ::getrusage(RUSAGE_SELF, &usage) == 0)  // no /proc
    kilobytes = static_cast<std::uint64_t>(usage.ru_maxrss);
  // The kernel updates the peak from its per-CPU counts only now and then.
  return std::max(kilobytes * 1024, resident_bytes());
}

}  // namespace hone
