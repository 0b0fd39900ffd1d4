#include <gtest/gtest.h>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

TEST(Diff, OfAModelWithItselfIsNone) {
  const TemporaryFolder folder;
  const Json found = run_json({"diff", "tiny", "tiny"}, folder.path());
  EXPECT_EQ(found["differences"].size(), 0U);
  EXPECT_EQ(found["parameters"].size(), 0U);
  EXPECT_GT(found["compared_parameters"], 30);
  EXPECT_NE(found["summary"].get<std::string>().find("The graphs are equal"), std::string::npos);
}

TEST(Diff, NamesWhatMaskAndLabelsMake) {
  const TemporaryFolder folder;
  const std::vector<std::string> words = {"diff",
                                          "tiny",
                                          "tiny",
                                          "--inputs",
                                          "input_ids,attention_mask,token_type_ids,labels",
                                          "--inputs_b",
                                          "input_ids,token_type_ids",
                                          "-o",
                                          "both.dot",
                                          "--csv",
                                          "both.csv"};
  const Json found = run_json(words, folder.path());
  std::map<std::string, std::string> kinds;
  for (const Json& one : found["differences"]) {
    const Json name = one["a"].is_null() ? one["b"] : one["a"];
    kinds[name] = one["difference"];
  }
  EXPECT_EQ(kinds["labels"], "only in A");
  EXPECT_EQ(kinds["attention_mask.full"], "only in B");
  EXPECT_EQ(found["parameters"].size(), 0U);
  const std::string drawing = read_file(folder.path() / "both.dot");
  EXPECT_NE(drawing.find("a_labels"), std::string::npos);
  EXPECT_NE(drawing.find("b_attention_mask.full"), std::string::npos);
  EXPECT_NE(drawing.find("label=\"A: tiny (inputs "), std::string::npos) << drawing;
  EXPECT_NE(drawing.find("label=\"B: tiny (inputs "), std::string::npos);
  EXPECT_NE(drawing.find("<b>- </b>"), std::string::npos);
  EXPECT_NE(drawing.find("<b>+ </b>"), std::string::npos);
  EXPECT_NE(read_file(folder.path() / "both.csv").find("only in A"), std::string::npos);
  const Ending again = run_hone(words, folder.path());
  EXPECT_EQ(again.code, 1);
  EXPECT_NE(again.messages.find("both.dot"), std::string::npos) << again.messages;
}

TEST(Diff, TellsWhichParametersHaveOtherValues) {
  const TemporaryFolder folder;
  run_well({"train", "tiny", "--data", "synth:tail?n=100&test=60", "--max_steps", "1", "--freeze",
            "bert.embeddings.*", "-o", "a"},
           folder.path());
  run_well({"train", "a", "--data", "synth:tail?n=100&test=60", "--max_steps", "1", "--freeze",
            "bert.embeddings.*", "-o", "b"},
           folder.path());
  const Json found = run_json({"diff", "a", "b"}, folder.path());
  EXPECT_EQ(found["changed"], 0);
  EXPECT_GT(found["parameters"].size(), 0U);
  for (const Json& one : found["parameters"]) {
    EXPECT_FALSE(one["parameter"].get<std::string>().starts_with("bert.embeddings."));
    EXPECT_GT(one["largest"], 0);
  }
}

TEST(Diff, RefusesInputsThatModelsHaveNot) {
  const TemporaryFolder folder;
  const Ending ending =
      run_hone({"diff", "tiny", "tiny", "--inputs_b", "input_ids,mask"}, folder.path());
  EXPECT_EQ(ending.code, 2);
  EXPECT_NE(ending.messages.find("--inputs_b: 'mask' is no input of the model"), std::string::npos)
      << ending.messages;
}

}  // namespace
}  // namespace hone::testing
