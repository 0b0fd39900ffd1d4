#include <gtest/gtest.h>

#include "hone/onnx/onnx_runtime.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone::testing {
namespace {

std::vector<std::string> names_in(const Json& rows, const char* key) {
  std::vector<std::string> names;
  for (const Json& row : rows) names.push_back(row[key]);
  return names;
}

TEST(Export, WritesAFolderWithConfigAndTokenizer) {
  const TemporaryFolder folder;
  const Json result =
      run_json({"export", workshop() / "model", "--to", "onnx", "-o", "exported"}, folder.path());
  EXPECT_EQ(result["opset"], 21);
  EXPECT_EQ(result["ir_version"], 10);
  EXPECT_EQ(names_in(result["inputs"], "name"),
            (std::vector<std::string>{"input_ids", "attention_mask", "token_type_ids"}));
  EXPECT_EQ(names_in(result["outputs"], "name"), std::vector<std::string>{"logits"});
  EXPECT_EQ(result["inputs"][0]["shape"], "[B, S]");
  EXPECT_EQ(result["weights"][0]["type"], "fp32");
  EXPECT_TRUE(result["notes"].empty());
  const std::vector<std::string> written = entries(folder.path() / "exported");
  for (const char* name : {"model.onnx", "config.json", "vocab.txt", "record.json"})
    EXPECT_NE(std::ranges::find(written, name), written.end()) << name;
  EXPECT_EQ(fs::file_size(folder.path() / "exported/model.onnx"), result["bytes"]);
  // The folder is replaced only when that is asked for.
  const std::vector<std::string> again = {"export", workshop() / "model", "-o", "exported"};
  EXPECT_EQ(run_hone(again, folder.path()).code, 1);
}

TEST(Export, WritesAFile) {
  const TemporaryFolder folder;
  const std::vector<std::string> line = {"export", workshop() / "model", "-o", "model.onnx"};
  const Ending ending = run_well(line, folder.path());
  EXPECT_NE(ending.output.find("Outputs: logits [B, 2]"), std::string::npos) << ending.output;
  EXPECT_EQ(entries(folder.path()), std::vector<std::string>{"model.onnx"});
  EXPECT_EQ(run_hone(line, folder.path()).code, 1);
  std::vector<std::string> over = line;
  over.push_back("--overwrite");
  run_well(over, folder.path());
}

TEST(Export, StoresQuantizedWeightsInFewBitsAndSaysWhatItCannot) {
  const TemporaryFolder folder;
  const auto weights = [&](const char* format, const char* output) {
    run_well(
        {"pack", workshop() / "model", "--weight_format", format, "-o", "packed", "--overwrite"},
        folder.path());
    return run_json({"export", "packed", "-o", output}, folder.path());
  };
  const auto holds = [](const Json& result, const char* type) {
    const std::vector<std::string> types = names_in(result["weights"], "type");
    return std::ranges::find(types, type) != types.end();
  };
  EXPECT_TRUE(holds(weights("mxint(bits=8)", "blocks"), "int8"));
  EXPECT_TRUE(holds(weights("int(bits=4,group=32)", "groups"), "int4"));
  EXPECT_TRUE(holds(weights("int(bits=4,group=32,asymmetric=true)", "zeros"), "uint4"));
  const Json values = weights("nf4", "values");
  EXPECT_FALSE(holds(values, "int8"));
  EXPECT_NE(values["notes"].dump().find("nf4"), std::string::npos) << values["notes"];
}

TEST(Export, NarrowsWeightsAndTakesAnOpset) {
  const TemporaryFolder folder;
  const fs::path model = workshop() / "model";
  const Json wide = run_json({"export", model, "-o", "wide.onnx"}, folder.path()),
             narrow = run_json(
                 {"export", model, "--dtype", "fp16", "--opset", "18", "-o", "narrow.onnx"},
                 folder.path());
  EXPECT_EQ(narrow["weights"][0]["type"], "fp16");
  EXPECT_EQ(narrow["opset"], 18);
  EXPECT_LT(narrow["bytes"].get<double>(), 0.6 * wide["bytes"].get<double>());
  EXPECT_EQ(run_hone({"export", model, "--opset", "17", "-o", "old"}, folder.path()).code, 2);
  EXPECT_EQ(run_hone({"export", model, "--to", "tflite", "-o", "other"}, folder.path()).code, 2);
}

TEST(Export, GivesEmbeddingsOfSentenceModelsAndOfOthersThatAreAskedFor) {
  const TemporaryFolder folder;
  const std::vector<std::string> outputs = {"last_hidden_state", "sentence_embedding"};
  const Json sentence = run_json(
      {"export", test_data() / "models/golden/embeddings/mean", "-o", "sentence"}, folder.path());
  EXPECT_EQ(names_in(sentence["outputs"], "name"), outputs);
  EXPECT_TRUE(fs::exists(folder.path() / "sentence/modules.json"));
  EXPECT_TRUE(fs::exists(folder.path() / "sentence/1_Pooling/config.json"));
  const Json asked =
      run_json({"export", workshop() / "model", "--embed", "-o", "asked"}, folder.path());
  EXPECT_EQ(names_in(asked["outputs"], "name"), outputs);
}

TEST(Export, LongChecksTheFileInOnnxRuntime) {
  if (!python_with_onnx_runtime())
    GTEST_SKIP() << "neither $HONE_PYTHON nor python3 imports onnxruntime and numpy";
  const TemporaryFolder folder;
  const std::string model = trained_longer(folder);
  const Json check = run_json(
      {"export", model, "--check", workshop() / "reviews.csv", "--split", "all", "-o", "exported"},
      folder.path())["check"];
  EXPECT_EQ(check["examples"], kReviews);
  EXPECT_EQ(check["same_predictions"], kReviews);
  EXPECT_LE(check["largest_difference"].get<double>(), 1e-4 * check["largest_value"].get<double>());
}

}  // namespace
}  // namespace hone::testing
