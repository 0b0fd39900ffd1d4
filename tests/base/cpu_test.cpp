#include "hone/base/cpu.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "hone/base/file.h"
#include "hone/base/text.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

// Returns the CPU flags that the kernel lists. Empty except on x86.
std::vector<std::string> kernel_flags() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("flags")) return split(line.substr(line.find(':') + 2), ' ');
  }
  return {};
}

TEST(InstructionSets, AreThoseTheKernelLists) {
  const std::vector<std::string> flags = kernel_flags();
  const auto listed = [&](const char* flag) {
    return std::ranges::find(flags, flag) != flags.end();
  };
  const InstructionSets sets = instruction_sets();
  EXPECT_EQ(sets.avx2, listed("avx2"));
  EXPECT_EQ(sets.fma, listed("fma"));
  EXPECT_EQ(sets.avx512f, listed("avx512f"));
  EXPECT_EQ(sets.avx512_bf16, listed("avx512_bf16"));
  EXPECT_EQ(sets.avx_vnni, listed("avx_vnni"));
  EXPECT_EQ(sets.avx512_vnni, listed("avx512_vnni"));
}

TEST(InstructionSets, AreNamedInOrder) {
  EXPECT_EQ(names({.avx2 = true, .avx512_vnni = true}),
            (std::vector<std::string>{"avx2", "avx512_vnni"}));
  EXPECT_EQ(names({true, true, true, true, true, true}).size(), 6u);
  EXPECT_TRUE(names({}).empty());
}

TEST(CpuModel, HasAName) {
  EXPECT_FALSE(cpu_model().empty());
  EXPECT_EQ(cpu_model(), trim(cpu_model()));
}

TEST(MachineMemory, AgreesWithTheSystem) {
  const MachineMemory memory = machine_memory();
  EXPECT_EQ(memory.total_bytes,
            std::uint64_t(sysconf(_SC_PHYS_PAGES)) * std::uint64_t(sysconf(_SC_PAGESIZE)));
  EXPECT_GT(memory.available_bytes, 0u);
  EXPECT_LE(memory.available_bytes, memory.total_bytes);
}

TEST(LastLevelCache, IsTheLargestTheSystemLists) {
  const std::uint64_t bytes = last_level_cache_bytes();
  EXPECT_GE(bytes, 256u << 10);
  EXPECT_LE(bytes, std::uint64_t{2} << 30);
  EXPECT_EQ(bytes % 1024, 0u);
  // The first-level cache is not larger, if the system lists it.
  std::uint64_t kibibytes = 0;
  if (std::ifstream("/sys/devices/system/cpu/cpu0/cache/index0/size") >> kibibytes) {
    EXPECT_GE(bytes, kibibytes << 10);
  }
}

TEST(ResidentMemory, GrowsWithWhatIsTouchedAndThePeakStays) {
  constexpr std::size_t kSize = 64 << 20, kSlack = 8 << 20;
  const std::uint64_t before = resident_bytes();
  // Mapped directly, because an allocator may keep freed memory.
  void* block = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  std::memset(block, 1, kSize);
  EXPECT_GT(resident_bytes(), before + kSize - kSlack);
  ASSERT_EQ(munmap(block, kSize), 0);
  EXPECT_LT(resident_bytes(), before + kSlack);
  EXPECT_GT(peak_resident_bytes(), before + kSize - kSlack);
}

TEST(ResidentMemory, OfAFileIsWhatWasReadOfIt) {
  constexpr std::size_t kSize = 1 << 20;
  const TemporaryFolder folder;
  const MappedFile file(folder.file("x", std::string(kSize, 'x')));
  EXPECT_EQ(resident_bytes_of(file.bytes()), 0u);
  // A page fault also loads neighbouring pages, but not half of the file.
  ASSERT_EQ(file.text()[0], 'x');
  const std::uint64_t one = resident_bytes_of(file.bytes());
  EXPECT_GT(one, 0u);
  EXPECT_LT(one, kSize / 2);
  ASSERT_EQ(std::ranges::count(file.text(), 'x'), std::ptrdiff_t{kSize});
  EXPECT_EQ(resident_bytes_of(file.bytes()), kSize);
  EXPECT_EQ(resident_bytes_of(file.bytes().subspan(5, 100)), 100u);
  EXPECT_EQ(resident_bytes_of({}), 0u);
}

}  // namespace
}  // namespace hone
