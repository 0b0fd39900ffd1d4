#include <gtest/gtest.h>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

TEST(Profile, TellsWhereTheTimeWentAndLeavesATimeline) {
  const TemporaryFolder folder;
  fs::copy(workshop(), folder.path(), fs::copy_options::recursive);
  const std::vector<std::string> words = {"profile", "model", "--batch_size", "2",  "--tokens", "8",
                                          "--runs",  "4",     "--train",      "-o", "out"};
  const Ending ending = run_well(words, folder.path());
  EXPECT_NE(ending.output.find("attention_gradient"), std::string::npos) << ending.output;
  EXPECT_NE(ending.output.find("https://ui.perfetto.dev"), std::string::npos);
  for (const char* file : {"timeline.json", "operators.csv", "roofline.svg", "report.html"})
    EXPECT_TRUE(fs::exists(folder.path() / "out" / file)) << file;
  const Json found = read_json((folder.path() / "out/results.json").string());
  double share = 0;
  for (const Json& row : found["operators"]) share += row["share"].get<double>();
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_GT(found["copy_gbps"], 0);
  // A second run needs --overwrite and replaces only files that the first one wrote.
  EXPECT_EQ(run_hone(words, folder.path()).code, 1);
  write_file(folder.path() / "out/mine.txt", "mine");
  run_well({"profile", "model", "--batch_size", "2", "--tokens", "8", "--runs", "2", "-o", "out",
            "--overwrite"},
           folder.path());
  EXPECT_TRUE(fs::exists(folder.path() / "out/mine.txt"));
}

TEST(Profile, ByNodeNamesThem) {
  const Json found = run_json(
      {"profile", "model", "--batch_size", "2", "--tokens", "8", "--runs", "2", "--by", "node"},
      workshop());
  bool seen = false;
  for (const Json& row : found["operators"])
    seen |= row["operation"].get<std::string>().starts_with("bert.encoder.layer.0.attention");
  EXPECT_TRUE(seen) << found["operators"];
}

TEST(Profile, RefusesWhatDoesNotGoTogether) {
  const auto refused = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"profile", "model"});
    const Ending ending = run_hone(words, workshop());
    EXPECT_EQ(ending.code, 2) << ending.messages;
    return ending.messages;
  };
  EXPECT_NE(
      refused({"--native", "int(bits=8,per=row)", "--train"}).find("--native times inference"),
      std::string::npos);
  EXPECT_NE(refused({"--qat", "bf16", "--format", "bf16"}).find("not both"), std::string::npos);
  EXPECT_NE(refused({"--by", "moon"}).find("--by"), std::string::npos);
}

}  // namespace
}  // namespace hone::testing
