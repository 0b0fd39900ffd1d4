#include <gtest/gtest.h>
#include <sys/mount.h>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

/// A tmpfs of a few MiB. Mounting one requires privileges.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& size) {
    const std::string options = "size=" + size;
    mounted_ = ::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, options.c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool mounted() const { return mounted_; }
  const fs::path& path() const { return folder_.path(); }
  void resize(const std::string& size) const {
    const std::string options = "size=" + size;
    ASSERT_EQ(::mount("tmpfs", path().c_str(), "tmpfs", MS_REMOUNT, options.c_str()), 0);
  }

 private:
  TemporaryFolder folder_;
  bool mounted_ = false;
};

const std::vector<std::string> kTraining = {"train",
                                            "tiny",
                                            "--data",
                                            "synth:lookup?n=300&test=60",
                                            "--max_steps",
                                            "6",
                                            "--save_steps",
                                            "2",
                                            "--batch_size",
                                            "4",
                                            "-o"};

std::vector<std::string> training(const fs::path& output, std::vector<std::string> more = {}) {
  std::vector<std::string> words = kTraining;
  words.push_back(output);
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// A checkpoint of this model takes 8 MiB and is written before an older one is deleted.
TEST(FullDisk, EndsARunThatCanBeResumed) {
  const SmallDisk disk("12M");
  if (!disk.mounted()) GTEST_SKIP() << "no right to mount a small disk";
  const fs::path model = disk.path() / "model";
  const Ending full = run_hone(training(model), disk.path());
  EXPECT_EQ(full.code, 1);
  EXPECT_NE(full.messages.find("cannot write: No space left on device"), std::string::npos)
      << full.messages;
  EXPECT_NE(full.messages.find("the last checkpoint is "), std::string::npos) << full.messages;
  EXPECT_FALSE(fs::exists(model));
  // No half-written checkpoint is left.
  for (const std::string& name : entries(disk.path() / "model.partial"))
    EXPECT_EQ(name.find(".tmp"), std::string::npos) << name;
  disk.resize("64M");
  run_well(training(model, {"--resume"}), disk.path());
  const TemporaryFolder folder;
  run_well(training(folder.path() / "whole"), folder.path());
  EXPECT_TRUE(read_file(model / "model.safetensors") ==
              read_file(folder.path() / "whole/model.safetensors"));
}

TEST(FullDisk, LeavesNothingWhenNothingWasSaved) {
  const SmallDisk disk("1M");
  if (!disk.mounted()) GTEST_SKIP() << "no right to mount a small disk";
  const Ending full = run_hone(training(disk.path() / "model"), disk.path());
  EXPECT_EQ(full.code, 1);
  EXPECT_NE(full.messages.find("No space left on device"), std::string::npos) << full.messages;
  EXPECT_TRUE(fs::is_empty(disk.path()));
}

}  // namespace
}  // namespace hone::testing
