#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hone/base/cpu.h"
#include "hone/base/fields.h"

/// The machine and the program as they stand in reports, so that a figure can be traced to where it
/// was measured.
namespace hone {

/// "0.2.0"
std::string hone_version();

struct Machine {
  std::string hone;  ///< `hone_version()`
  std::string processor;
  int processors = 0;  ///< that this process may use
  int threads = 0;
  std::vector<std::string> instruction_sets = {};
  std::string vector_target;  ///< see kernels/target.h
  std::uint64_t memory_bytes = 0, memory_available_bytes = 0;
  std::optional<std::uint64_t> memory_limit_bytes = {};
  std::string system;    ///< "Debian GNU/Linux 12 (bookworm), Linux 6.1.0 x86_64"
  std::string compiler;  ///< "g++ 12.2.0"
  std::vector<std::pair<std::string, std::string>> libraries = {};  ///< versions by names
};
const Fields& fields_of(const Machine*);

/// `threads` are those that are used. Also without /proc, see `machine_memory`.
Machine this_machine(int threads);

/// The memory that control groups (a container's, a batch job's) let this process have; none where it may have all
/// of the machine's. `root` is the folder that /proc and /sys are in. See the kernel's
/// Documentation/admin-guide/cgroup-v2.rst, "memory.max", and cgroup-v1/memory.rst, "memory.limit_in_bytes".
std::optional<std::uint64_t> memory_limit_bytes(const fs::path& root = "/");

}  // namespace hone
