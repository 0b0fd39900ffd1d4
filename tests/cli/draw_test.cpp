#include <gtest/gtest.h>

#include <set>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

TEST(Draw, WritesAPicture) {
  const TemporaryFolder folder;
  const Json result = run_json({"draw", workshop() / "model", "-o", "graph.svg", "--inputs",
                                "input_ids,attention_mask,labels"},
                               folder.path());
  EXPECT_EQ(result["file"], "graph.svg");
  EXPECT_EQ(entries(folder.path()), std::vector<std::string>{"graph.svg"});
  const std::string picture = read_file(folder.path() / "graph.svg");
  EXPECT_TRUE(picture.starts_with("<?xml"));
  EXPECT_TRUE(picture.ends_with("</svg>\n"));
  for (const char* text : {"input_ids", "attention_mask", "labels", "layer.1", "loss"})
    EXPECT_NE(picture.find(text), std::string::npos) << text;
}

TEST(Draw, EveryChoiceOfInputsIsAnotherGraph) {
  const TemporaryFolder folder;
  std::set<std::string> drawings;
  for (const char* inputs :
       {"input_ids", "input_ids,attention_mask", "input_ids,attention_mask,token_type_ids",
        "input_ids,attention_mask,token_type_ids,labels"}) {
    run_well({"draw", "tiny", "-o", "graph.dot", "--inputs", inputs, "--overwrite"}, folder.path());
    drawings.insert(read_file(folder.path() / "graph.dot"));
  }
  EXPECT_EQ(drawings.size(), 4);
}

TEST(Draw, InferenceHasNoDropout) {
  const TemporaryFolder folder;
  run_well({"draw", "tiny", "-o", "training.dot"}, folder.path());
  run_well({"draw", "tiny", "-o", "inference.dot", "--inference"}, folder.path());
  EXPECT_NE(read_file(folder.path() / "training.dot").find("dropout"), std::string::npos);
  EXPECT_EQ(read_file(folder.path() / "inference.dot").find("dropout"), std::string::npos);
}

}  // namespace
}  // namespace hone::testing
