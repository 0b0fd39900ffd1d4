#include <gtest/gtest.h>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone::testing {
namespace {

TEST(Pack, LeavesAFolderThatCommandsTakeAndThatMakesItsLikeAgain) {
  const TemporaryFolder folder;
  const fs::path model = workshop() / "model";
  const Json packed =
      run_json({"pack", model, "--weight_format", "mxint(bits=8)", "-o", "packed"}, folder.path());
  EXPECT_EQ(packed["arithmetic"], "packed");
  EXPECT_GT(packed["account"]["memory_saving"].get<double>(), 0);
  const Json said = run_json({"predict", "packed", "a fine film"}, folder.path());
  EXPECT_TRUE(said["logits"].is_array());
  // What stands there is made again, by formats of both sides that fit each other, but not without being asked for.
  const std::vector<std::string> again = {"pack",          model, "--format",
                                          "mxint(bits=4)", "-o",  "packed"};
  EXPECT_EQ(run_hone(again, folder.path()).code, 1);
  std::vector<std::string> over = again;
  over.push_back("--overwrite");
  EXPECT_EQ(run_json(over, folder.path())["arithmetic"], "native");
  const Ending dense = run_well({"unpack", "packed", "-o", "dense"}, folder.path());
  EXPECT_NE(dense.output.find("Written to dense"), std::string::npos) << dense.output;
  EXPECT_EQ(run_json({"predict", "dense", "a fine film"}, folder.path())["label"],
            run_json({"predict", "packed", "a fine film"}, folder.path())["label"]);
}

TEST(Pack, SaysWhatCannotBeDoneWithPackedModels) {
  const TemporaryFolder folder;
  const fs::path model = workshop() / "model";
  const Ending plain = run_hone({"pack", model, "-o", "packed"}, folder.path());
  EXPECT_EQ(plain.code, 1);
  EXPECT_NE(plain.messages.find(
                "has no formats to pack its weights in; give --weight_format or a --recipe"),
            std::string::npos)
      << plain.messages;
  run_well({"pack", model, "--weight_format", "mxint(bits=8)", "-o", "packed"}, folder.path());
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"train", "packed", "--data", workshop() / "reviews.csv"},
        std::vector<std::string>{"quantize", "packed", "--format", "bf16", "--data",
                                 workshop() / "reviews.csv"}}) {
    std::vector<std::string> words = command;
    words.insert(words.end(), {"-o", "out"});
    const Ending ending = run_hone(words, folder.path());
    EXPECT_EQ(ending.code, 1);
    EXPECT_NE(ending.messages.find("its weights are packed; `hone unpack` writes a copy"),
              std::string::npos)
        << ending.messages;
    EXPECT_FALSE(fs::exists(folder.path() / "out"));
  }
}

}  // namespace
}  // namespace hone::testing
