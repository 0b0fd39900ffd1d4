#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

// Tests of `hone compile`, and of `--executor compiled` in other commands. Most are skipped where no code can be
// generated.
namespace hone::testing {
namespace {

TEST(Compile, ExplainsWhatItFused) {
  if (!generates_code()) GTEST_SKIP();
  const TemporaryFolder folder;
  fs::copy(workshop(), folder.path(), fs::copy_options::recursive);
  ::setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  const std::vector<std::string> words = {"compile",  "model", "--batch_size", "2",
                                          "--tokens", "8",     "--train",      "--explain",
                                          "--runs",   "6",     "--stages",     "stages"};
  const Json cold = run_json(words, folder.path());
  EXPECT_GT(cold["functions"], 0);
  EXPECT_EQ(cold["functions_made"], cold["functions"]);
  bool is_fused = false;
  for (const Json& group : cold["groups"]) {
    EXPECT_GT(group["compiled_us"], 0) << group;
    if (!group["reason"].is_null()) continue;
    is_fused = true;
    EXPECT_GT(group["bytes_saved"], 0) << group;
    EXPECT_EQ(group["kernel"], "generated");
    EXPECT_TRUE(fs::exists(folder.path() / "stages" / (group["group"].get<std::string>() + ".ll")))
        << group;
  }
  EXPECT_TRUE(is_fused);
  EXPECT_NE(read_file(folder.path() / "stages/fused.txt").find("elementwise("), std::string::npos);
  // The next process reuses the compiled functions.
  const Json warm = run_json({"compile", "model", "--batch_size", "3", "--tokens", "5", "--train"},
                             folder.path());
  EXPECT_EQ(warm["functions"], cold["functions"]);
  EXPECT_EQ(warm["functions_made"], 0);
  ::unsetenv("XDG_CACHE_HOME");
}

TEST(Compile, ExplainsBfloat16Too) {
  if (!generates_code()) GTEST_SKIP();
  const Json explained = run_json({"compile", "model", "--batch_size", "2", "--tokens", "8",
                                   "--runs", "6", "--explain", "--precision", "bf16"},
                                  workshop());
  EXPECT_TRUE(std::ranges::any_of(explained["kernels"], [](const Json& row) {
    return row["kernel"].get<std::string>().find("bf16") != std::string::npos;
  })) << explained["kernels"].dump(1);
}

TEST(Compile, AnswersAsTheInterpreterDoes) {
  if (!generates_code()) GTEST_SKIP();
  const auto probabilities = [](std::vector<std::string> more) {
    std::vector<std::string> words = {"predict", "model", "a fine film"};
    words.insert(words.end(), more.begin(), more.end());
    return run_json(words, workshop());
  };
  const Json expected = probabilities({}), got = probabilities({"--executor", "compiled"});
  EXPECT_NEAR(got["score"].get<double>(), expected["score"].get<double>(), 1e-5);
  EXPECT_EQ(got["label"], expected["label"]);
}

TEST(Compile, IsNamedWhereItIsTimed) {
  if (!generates_code()) GTEST_SKIP();
  const Json times = run_json({"bench", "model", "--batch_size", "2", "--tokens", "8",
                               "--iterations", "2", "--process", "this", "--executor", "compiled"},
                              workshop());
  EXPECT_TRUE(times["what"].get<std::string>().starts_with("hone compiled inference")) << times;
}

TEST(Compile, IsOfTheProcessor) {
  const auto refused = [](std::vector<std::string> words, const char* why) {
    const Ending ending = run_hone(words, workshop());
    EXPECT_EQ(ending.code, 2) << ending.messages;
    EXPECT_NE(ending.messages.find(why), std::string::npos) << ending.messages;
  };
  refused({"predict", "model", "fine", "--executor", "compiled", "--device", "cuda"},
          "--executor applies to the CPU only");
  refused({"predict", "model", "fine", "--executor", "moon"}, "expected interpreter or compiled");
  refused({"compile", "model", "--explain", "--runs", "5"}, "at least 6");
}

}  // namespace
}  // namespace hone::testing
