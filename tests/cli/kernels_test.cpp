#include <gtest/gtest.h>

#include "tests/cli/run_hone.h"

namespace hone::testing {
namespace {

TEST(KernelsCommand, ListsAllOrThoseOfADevice) {
  const Json all = run_json({"kernels"}, workshop())["kernels"],
             of_gpus = run_json({"kernels", "--device", "cuda"}, workshop())["kernels"];
  EXPECT_GT(all.size(), of_gpus.size());
  for (const Json& row : of_gpus) EXPECT_EQ(row["device"], "cuda");
  const std::string text = run_well({"kernels", "--device", "cpu"}, workshop()).output;
  for (const char* part : {"attention", "Weights prepared", "int8", "the first that accepts"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST(KernelsCommand, TellsWhichAModelTakes) {
  const Json result = run_json({"kernels", "model"}, workshop());
  EXPECT_EQ(result["what"], "inference of model");
  EXPECT_FALSE(result["nodes"].empty());
  EXPECT_EQ(run_json({"kernels", "model", "--train"}, workshop())["what"],
            "a training step of model");
}

TEST(KernelsCommand, RefusesWhatDoesNothing) {
  const Ending ending = run_hone({"kernels", "--train"}, workshop());
  EXPECT_EQ(ending.code, 2);
  EXPECT_NE(ending.messages.find("--train needs a MODEL"), std::string::npos) << ending.messages;
  const Ending by_name = run_hone({"kernels", "--model", "tiny"}, workshop());
  EXPECT_EQ(by_name.code, 2);
  EXPECT_NE(by_name.messages.find("give the model as the first argument"), std::string::npos)
      << by_name.messages;
}

}  // namespace
}  // namespace hone::testing
