#include <gtest/gtest.h>

#include "hone/base/text.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

std::vector<std::string> native(const TemporaryFolder& folder,
                                const std::vector<std::string>& more) {
  std::vector<std::string> words = {
      "quantize", "model",       "--native", "int(bits=8,per=row)",
      "--data",   "reviews.csv", "-o",       folder.path() / "native"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(QuantizeNative, LeavesAFolderThatCommandsTakeWithAReport) {
  const TemporaryFolder folder;
  const Ending ending = run_well(native(folder, {"--keep_slower"}), workshop());
  for (const char* said : {"native int(bits=8,per=row) in ", "In memory",
                           "Latency per example, batch size 1 (ms)", " --to onnx "})
    EXPECT_NE(ending.output.find(said), std::string::npos) << said << "\n" << ending.output;
  const fs::path out = folder.path() / "native";
  EXPECT_EQ(entries(out),
            (std::vector<std::string>{
                "README.md", "config.json", "graph.hone", "machine.json", "native.gp", "native.png",
                "native.svg", "native.tsv", "parameters.safetensors", "record.json", "report.html",
                "report.md", "results.json", "run.log", "settings.json", "tokenizer_config.json",
                "trained_on.safetensors", "vocab.txt"}));
  const Json result = read_json(out / "results.json");
  EXPECT_EQ(result["arithmetic"], "native");
  const Json evaluated = run_json({"eval", out, "--data", "reviews.csv"}, workshop());
  EXPECT_EQ(evaluated["eval_loss"], result["after"]["eval_loss"]);
  EXPECT_EQ(run_json({"bench", out, "--batch_size", "2", "--tokens", "8", "--runs", "1"},
                     workshop())["arithmetic"],
            "native");
  const std::string page = read_page(out / "report.html"), card = read_file(out / "README.md");
  for (const char* said : {"Native, median (ms)",
                           "Latency per example at batch size 1: ", "classifier stays in fp32: "})
    EXPECT_NE(page.find(said), std::string::npos) << said;
  EXPECT_NE(
      card.find("`hone unpack --loadable transformers` writes a copy that `transformers` loads."),
      std::string::npos)
      << card;
  EXPECT_EQ(card.find("not smaller or faster"), std::string::npos);
  const Ending again = run_hone({"quantize", out, "--native", "int(bits=4)", "--data",
                                 "reviews.csv", "-o", folder.path() / "again"},
                                workshop());
  EXPECT_EQ(again.code, 1);
  EXPECT_NE(again.messages.find("its weights are packed"), std::string::npos) << again.messages;
}

TEST(QuantizeNative, IsToldApartFromOtherWaysToQuantize) {
  const TemporaryFolder folder;
  struct Case {
    std::vector<std::string> flags;
    const char* message;
  };
  for (const Case& c :
       {Case{{"--format", "bf16"}, "--format and --native both set the formats"},
        Case{{"--recipe", "none.toml"}, "--recipe and --native both set the formats"},
        Case{{"--qat"}, "--qat and --native exclude each other"},
        Case{{"--seeds", "2"}, "--seeds and --native exclude each other"}}) {
    const Ending ending = run_hone(native(folder, c.flags), workshop());
    EXPECT_EQ(ending.code, 2) << c.message;
    EXPECT_NE(ending.messages.find(c.message), std::string::npos) << ending.messages;
  }
  for (const char* flag : {"--static", "--keep_slower"}) {
    const Ending ending = run_hone({"quantize", "model", "--format", "bf16", flag, "--data",
                                    "reviews.csv", "-o", folder.path() / "out"},
                                   workshop());
    EXPECT_EQ(ending.code, 2) << flag;
    EXPECT_NE(ending.messages.find(fmt::format("{} needs --native FORMAT", flag)),
              std::string::npos)
        << ending.messages;
  }
  const Ending blocks = run_hone({"quantize", "model", "--native", "mxint(bits=8)", "--static",
                                  "--data", "reviews.csv", "-o", folder.path() / "out"},
                                 workshop());
  EXPECT_EQ(blocks.code, 2);
  EXPECT_NE(blocks.messages.find("--native: inputs of products with weights in mxint(bits=8"),
            std::string::npos)
      << blocks.messages;
  EXPECT_NE(blocks.messages.find("omit --static"), std::string::npos) << blocks.messages;
  EXPECT_FALSE(fs::exists(folder.path() / "native"));
}

// Gates apply to native models, too. Layers that stay wider to pass the gate are chosen on other texts than those
// reported.
TEST(QuantizeNative, IsHeldToItsGate) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "parts");
  for (const char* part : {"parts/train.csv", "parts/test.csv"})
    fs::copy(workshop() / "reviews.csv", folder.path() / part);
  std::vector<std::string> words = {"quantize",
                                    workshop() / "model",
                                    "--native",
                                    "int(bits=8)",
                                    "--keep_slower",
                                    "--max_drop",
                                    "0",
                                    "-o",
                                    "native",
                                    "--data",
                                    "parts"};
  const Ending ending = run_hone(words, folder.path());
  EXPECT_EQ(ending.code, 3) << ending.messages;
  const Json result = read_json(folder.path() / "native/results.json");
  EXPECT_FALSE(result["gate"]["passed"].get<bool>());
  EXPECT_TRUE(result["widening"]["too_few_examples"].get<bool>());
  EXPECT_NE(ending.messages.find("are too few to show that even fp32 passes the gates"),
            std::string::npos)
      << ending.messages;
  words.back() = workshop() / "reviews.csv";
  words.emplace_back("--overwrite");
  const Ending refused = run_hone(words, folder.path());
  EXPECT_EQ(refused.code, 1);
  for (const char* part : {"--max_drop, --gate: ", "The data has no test split",
                           "validation, n = 4", "--validation_split"})
    EXPECT_NE(refused.messages.find(part), std::string::npos) << refused.messages;
}

}  // namespace
}  // namespace hone::testing
