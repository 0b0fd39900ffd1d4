#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hone/base/cpu.h"
#include "hone/base/fields.h"

/// Describes the machine and the program in reports, so that a number can be traced to where it was measured.
namespace hone {

/// Returns "0.2.0".
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
  std::vector<std::pair<std::string, std::string>> libraries = {};  ///< names and versions
};
const Fields& fields_of(const Machine*);

/// Describes this machine. `threads` is the number of threads in use. Works without /proc, see `machine_memory`.
Machine this_machine(int threads);

/// Returns the memory limit of this process's control groups (a container's, a batch job's); none if it may use all
/// of the machine's memory. `root` is the folder that contains /proc and /sys. See the kernel's
/// Documentation/admin-guide/cgroup-v2.rst, "memory.max", and cgroup-v1/memory.rst, "memory.limit_in_bytes".
std::optional<std::uint64_t> memory_limit_bytes(const fs::path& root = "/");

}  // namespace hone
