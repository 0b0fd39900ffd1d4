#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Properties of this machine and this process, for benchmarks and reports.
namespace hone {

/// Instruction sets that both the CPU and the system support, among those that our kernels use. All are absent on other
/// architectures than x86-64.
struct InstructionSets {
  bool avx2 = false;
  bool fma = false;
  bool avx_vnni = false;  ///< dot products of four 8-bit numbers, 256 bits wide
  bool avx512f = false;
  bool avx512_bf16 = false;  ///< dot products of bfloat16 pairs
  bool avx512_vnni = false;  ///< dot products of four 8-bit numbers
};

/// Returns the supported instruction sets. The environment variable HONE_MAX_ISA limits them: avx2, avx_vnni, avx512f,
/// avx512_vnni or avx512_bf16 excludes all later ones. Throws `UserError` for other values.
InstructionSets instruction_sets();
/// Returns the names of the supported ones, in the order of the struct: {"avx2", "fma", "avx512f"}.
std::vector<std::string> names(const InstructionSets& sets);

/// Returns the CPU's name in Linux, such as "AMD EPYC 9354", or the architecture ("aarch64") if there is none.
std::string cpu_model();

/// Memory of the machine. Ignores smaller limits of containers.
struct MachineMemory {
  std::uint64_t total_bytes = 0;
  std::uint64_t available_bytes = 0;  ///< available now without swapping
};
/// Returns the memory of the machine. If /proc/meminfo cannot be read, all memory counts as available.
MachineMemory machine_memory();

/// Returns the size of the last-level cache of this process's CPU; 32 MiB if unknown.
std::uint64_t last_level_cache_bytes();

/// Return the current and the peak resident memory of this process.
std::uint64_t resident_bytes();
std::uint64_t peak_resident_bytes();

/// Current resident memory by origin.
struct ResidentMemory {
  std::uint64_t anonymous_bytes = 0;
  std::uint64_t file_bytes = 0;  ///< pages of files, including the program
};
ResidentMemory resident_memory();

/// Returns how much of these file-mapped bytes is resident, in whole pages; all of it if unknown.
std::uint64_t resident_bytes_of(std::span<const std::byte> mapped);

/// Returns the freed heap memory that is still held for later allocations.
std::uint64_t free_heap_bytes();

}  // namespace hone
