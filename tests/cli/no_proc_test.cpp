#include <gtest/gtest.h>

#include "hone/base/process.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

// Tests that the program runs if /proc is empty, as in some sandboxes.
namespace hone::testing {
namespace {

class NoProc : public ::testing::Test {
 protected:
  static std::string run(const std::vector<std::string>& words, const fs::path& folder) {
    std::vector<std::string> command = {
        "unshare", "-rm", "sh", "-c",
        "mount -t tmpfs none /proc && exec \"$0\" \"$@\" 2> /dev/null"};
    command.insert(command.end(), words.begin(), words.end());
    return run_program(command, folder, "util-linux");
  }
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the leak sanitizer needs /proc, and reads its options there";
#endif
    try {
      run({"true"}, folder_.path());
    } catch (const UserError& error) {
      GTEST_SKIP() << "no namespace of mounts can be had here: " << error.what();
    }
  }
  std::string hone(std::vector<std::string> words) const {
    words.insert(words.begin(), hone_program());
    return run(words, folder_.path());
  }
  TemporaryFolder folder_;
};

TEST_F(NoProc, CommandsAnswerAllTheSame) {
  const std::string model = workshop() / "model", data = workshop() / "reviews.csv";
  EXPECT_EQ(json_lines(hone({"predict", model, "a film", "--json"})).size(), 1);
  EXPECT_GT(parse_json(hone({"doctor", "--json"}), "doctor")["memory_bytes"], 0);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"eval", model, "--data", data, "--json"},
           {"inspect", model, "--json"},
           {"bench", "tiny", "--batch_size", "1", "--tokens", "8", "--runs", "2", "--json"},
           {"train", "tiny", "--data", data, "--max_steps", "1", "-o", "trained", "--json"}})
    EXPECT_TRUE(parse_json(hone(words), words[0]).is_object()) << words[0];
}

// Pipelines start hone processes.
TEST_F(NoProc, PipelinesRunTheirStages) {
  folder_.file("one.toml",
               fmt::format("[stage.a]\nrun = \"eval\"\nMODEL = \"{}\"\ndata = \"{}\"\n",
                           (workshop() / "model").string(), (workshop() / "reviews.csv").string()));
  hone({"run", "one.toml", "--no_cache", "--quiet", "-o", "out"});
  EXPECT_TRUE(fs::exists(folder_.path() / "out/a/results.json"));
}

}  // namespace
}  // namespace hone::testing
