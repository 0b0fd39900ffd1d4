#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Facts of this machine and this process, as benchmarks and reports quote them.
namespace hone {

/// Instruction sets that both the processor and the system offer, of those our kernels know.
/// Elsewhere than on x86-64 all are absent.
struct InstructionSets {
  bool avx2 = false;
  bool fma = false;
  bool avx_vnni = false;  ///< products of 8-bit quadruples, 256 bits wide
  bool avx512f = false;
  bool avx512_bf16 = false;  ///< products of bfloat16 pairs
  bool avx512_vnni = false;  ///< products of 8-bit quadruples
};

/// The environment variable HONE_MAX_ISA limits them: avx2, avx_vnni, avx512f, avx512_vnni or avx512_bf16 excludes every later
/// one. Throws `UserError` for other values.
InstructionSets instruction_sets();
/// The names of those present, in the order of the struct: {"avx2", "fma", "avx512f"}.
std::vector<std::string> names(const InstructionSets& sets);

/// "AMD EPYC 9354", as the kernel calls it; the architecture ("aarch64") where it gives no name.
std::string cpu_model();

/// Memory of the machine. A smaller limit on a container is not seen.
struct MachineMemory {
  std::uint64_t total_bytes = 0;
  std::uint64_t available_bytes = 0;  ///< can be had without swapping, right now
};
/// Where /proc/meminfo cannot be read, all memory counts as available.
MachineMemory machine_memory();

/// The cache behind which memory begins, as the processor of this process sees it; 32 MiB where the system does not say.
std::uint64_t last_level_cache_bytes();

/// Resident memory of this process: now, and the most it ever was.
std::uint64_t resident_bytes();
std::uint64_t peak_resident_bytes();

/// Resident memory now, apart by where it comes from.
struct ResidentMemory {
  std::uint64_t anonymous_bytes = 0;
  std::uint64_t file_bytes = 0;  ///< pages of files, the program among them
};
ResidentMemory resident_memory();

/// How much of these bytes, which lie in a file, this process has read, in whole pages; all of it where the system does not
/// say.
std::uint64_t resident_bytes_of(std::span<const std::byte> mapped);

/// What was freed and is still held, for who allocates next.
std::uint64_t free_heap_bytes();

}  // namespace hone
