#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/cpu.h"
#include "hone/base/json.h"

/// The machine and the program as they stand in reports, so that a figure can be traced to where it
/// was measured.
namespace hone {

/// "0.2.0"
std::string hone_version();

struct LibraryVersion {
  std::string name;
  std::string version;
};

struct Machine {
  std::string processor;
  int processors = 0;  ///< that this process may use
  std::vector<std::string> instruction_sets;
  std::string vector_target;  ///< see kernels/target.h
  MachineMemory memory;
  std::optional<std::uint64_t> memory_limit_bytes;
  std::string system;    ///< "Debian GNU/Linux 12 (bookworm), Linux 6.1.0 x86_64"
  std::string compiler;  ///< "g++ 12.2.0"
  std::vector<LibraryVersion> libraries;
};

/// Also without /proc, see `machine_memory`.
Machine this_machine();

/// Keys as in the struct, `hone` with the version first; libraries as an object.
Json to_json(const Machine& machine);

/// The memory that control groups (a container's, a batch job's) let this process have; none where it may have all
/// of the machine's. `root` is the folder that /proc and /sys are in. See the kernel's
/// Documentation/admin-guide/cgroup-v2.rst, "memory.max", and cgroup-v1/memory.rst, "memory.limit_in_bytes".
std::optional<std::uint64_t> memory_limit_bytes(const fs::path& root = "/");

}  // namespace hone
