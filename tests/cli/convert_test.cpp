#include <gtest/gtest.h>

#include "hone/tensor/safetensors.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone::testing {
namespace {

const fs::path kModels = test_data() / "frontends" / "golden";

TEST(Convert, WritesAModelThatSaysTheSame) {
  const TemporaryFolder folder;
  const Ending ending =
      run_well({"convert", kModels / "legacy", "-o", "new", "--quiet"}, folder.path());
  EXPECT_NE(ending.output.find("Tensor"), std::string::npos);
  for (const char* part : {"pytorch_model.bin", "new/model.safetensors", "config.json"})
    EXPECT_NE(ending.output.find(part), std::string::npos) << part << "\n" << ending.output;
  EXPECT_TRUE(fs::exists(folder.path() / "new/vocab.txt"));
  EXPECT_FALSE(fs::exists(folder.path() / "new/pytorch_model.bin"));
  const auto said = [&](const fs::path& model) {
    return run_json({"predict", model, "a b c"}, folder.path())["logits"];
  };
  EXPECT_EQ(said("new"), said(kModels / "legacy"));
}

TEST(Convert, TakesAnyArchitecture) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "old");
  fs::copy_file(kModels / "zip/pytorch_model.bin", folder.path() / "old/pytorch_model.bin");
  folder.file("old/config.json", R"({"model_type": "llama"})");
  const Json result = run_json({"convert", "old", "-o", "new"}, folder.path());
  EXPECT_EQ(result["source"], "pytorch_model.bin");
  EXPECT_EQ(result["copied"], Json({"config.json"}));
  EXPECT_GT(result["tensors"].size(), 10);
  EXPECT_EQ(result["tensors"][0]["type"], "F32");
}

TEST(Convert, ShowsAnEndlessNameInTheMiddleCut) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "old");
  const std::string endless = "begin" + std::string(5'000'000, 'x') + "end";
  write_safetensors(folder.path() / "old/model.safetensors",
                    {{endless, Tensor::of<float>({1}, {1})}}, {});
  const Json result = run_json({"convert", "old", "-o", "new"}, folder.path());
  const std::string name = result["tensors"][0]["tensor"];
  EXPECT_LE(name.size(), 1000);
  EXPECT_TRUE(name.starts_with("beginx") && name.ends_with("xend")) << name;
  EXPECT_LE(run_well({"convert", "old", "-o", "other"}, folder.path()).output.size(), 2000);
  EXPECT_TRUE(read_safetensors(folder.path() / "new/model.safetensors").tensors.contains(endless))
      << "what is written keeps its name";
}

TEST(Convert, OverwritesNothingAndLeavesNothingBehind) {
  const TemporaryFolder folder;
  folder.file("new", "precious");
  Ending ending = run_hone({"convert", kModels / "zip", "-o", "new"}, folder.path());
  EXPECT_EQ(ending.code, 1);
  EXPECT_EQ(read_file(folder.path() / "new"), "precious");
  fs::create_directory(folder.path() / "empty");
  ending = run_hone({"convert", "empty", "-o", "other"}, folder.path());
  EXPECT_EQ(ending.code, 1);
  EXPECT_NE(ending.messages.find(
                "empty: the folder contains no weights; expected one of model.safetensors"),
            std::string::npos)
      << ending.messages;
  EXPECT_EQ(entries(folder.path()), (std::vector<std::string>{"empty", "new"}));
}

}  // namespace
}  // namespace hone::testing
