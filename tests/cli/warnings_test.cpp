#include <gtest/gtest.h>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

// Tests that a repeated warning is printed in full only once.
namespace hone::testing {
namespace {

std::size_t count_of(const std::string& words, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1))
    ++count;
  return count;
}

TEST(Warnings, OfSeveralStagesAreShownOnceAndThenCounted) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "data");
  std::string train = "text,label\n", test = train;
  for (int i = 0; i < 12; ++i) {
    train += fmt::format("text {},{}\n", i, i % 2 ? "good" : "bad");
    test += fmt::format("text {},{}\n", i + 8, i % 2 ? "good" : "bad");
  }
  folder.file("data/train.csv", train);
  folder.file("data/test.csv", test);
  std::string pipeline;
  for (const char* name : {"a", "b", "c"})
    pipeline += fmt::format("[stage.{}]\nrun = \"eval\"\nMODEL = \"{}\"\ndata = \"data\"\n", name,
                            (workshop() / "model").string());
  folder.file("evals.toml", pipeline);
  const std::string said =
      run_well({"run", "evals.toml", "--no_cache", "-o", "out"}, folder.path()).messages;
  EXPECT_EQ(count_of("also in the training split, so", said), 1) << said;
  EXPECT_EQ(count_of("shown before", said), 2) << said;
}

}  // namespace
}  // namespace hone::testing
