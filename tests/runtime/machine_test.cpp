#include "hone/runtime/machine.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

TEST(Machine, IsDescribedInFull) {
  const Json machine = to_json(this_machine(2));
  for (const char* key : {"hone", "processor", "vector_target", "system", "compiler"})
    EXPECT_NE(machine[key], "") << key;
  EXPECT_GE(machine["processors"], 1);
  EXPECT_GE(machine["memory_bytes"], machine["memory_available_bytes"]);
  EXPECT_EQ(machine["libraries"]["fmt"].get<std::string>().find_first_not_of("0123456789."),
            std::string::npos);
  EXPECT_EQ(machine["libraries"].size(), this_machine(2).libraries.size());
}

/// Tests with their own /proc and /sys.
class MemoryLimit : public ::testing::Test {
 protected:
  void write(const fs::path& file, std::string_view text) {
    fs::create_directories((folder_.path() / file).parent_path());
    write_file(folder_.path() / file, text);
  }
  std::optional<std::uint64_t> limit() const { return memory_limit_bytes(folder_.path()); }

  TemporaryFolder folder_;
};

TEST_F(MemoryLimit, IsTheLeastOfTheGroupsOneIsIn) {
  write("proc/self/cgroup", "0::/batch/job7\n");
  write("sys/fs/cgroup/batch/job7/memory.max", "max\n");
  write("sys/fs/cgroup/batch/memory.max", "4294967296\n");
  EXPECT_EQ(limit(), 4294967296u);
  write("sys/fs/cgroup/batch/job7/memory.max", "1073741824\n");
  EXPECT_EQ(limit(), 1073741824u);
}

TEST_F(MemoryLimit, IsSeenInVersionOneToo) {
  write("proc/self/cgroup", "5:devices:/x\n4:memory:/docker/1f\n1:cpu:/x\n0::/\n");
  write("sys/fs/cgroup/memory/docker/1f/memory.limit_in_bytes", "2147483648\n");
  EXPECT_EQ(limit(), 2147483648u);
}

// In a container, its own group is the root.
TEST_F(MemoryLimit, IsThatOfTheRootWhereTheOwnPathIsMissing) {
  write("proc/self/cgroup", "0::/not/here\n");
  write("sys/fs/cgroup/memory.max", "536870912\n");
  EXPECT_EQ(limit(), 536870912u);
}

TEST_F(MemoryLimit, IsNoneWithoutOne) {
  EXPECT_EQ(limit(), std::nullopt);
  write("proc/self/cgroup", "4:memory:/\n0::/\nnonsense\n");
  EXPECT_EQ(limit(), std::nullopt);
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory.max", "");
  EXPECT_EQ(limit(), std::nullopt);
}

}  // namespace
}  // namespace hone
