#include <gtest/gtest.h>

#include <cstring>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

TEST(Inspect, CountsEveryParameterOnce) {
  const Json facts = run_json({"inspect", "tiny"}, workshop());
  std::int64_t sum = 0, words = 0;
  for (const Json& module : facts["parameters_by_module"]) {
    sum += module["parameters"].get<std::int64_t>();
    EXPECT_EQ(module["parameters"], module["trainable"]);
    if (module["module"] == "bert.embeddings.word_embeddings") words = module["parameters"];
  }
  EXPECT_EQ(facts["parameters"], sum);
  // With BERT's vocabulary of 30,522 tokens instead of the built-in one this would be bert-tiny.
  EXPECT_EQ(sum - words + 30522 * 128, 4'386'178);
  EXPECT_EQ(facts["trainable_parameters"], sum);
  EXPECT_EQ(facts["frozen_parameters"], 0);
  EXPECT_EQ(facts["parameter_bytes"], 4 * sum);
  // Memory of the weights and AdamW's two moments.
  EXPECT_EQ(facts["training_parameter_bytes"], 3 * 4 * sum);
}

TEST(Inspect, CountsWhatIsFrozen) {
  const Json all = run_json({"inspect", "tiny"}, workshop());
  const Json facts = run_json({"inspect", "tiny", "--freeze", "bert.embeddings.*"}, workshop());
  std::int64_t embeddings = 0;
  for (const Json& module : facts["parameters_by_module"]) {
    const std::string name = module["module"];
    if (name.starts_with("bert.embeddings."))
      embeddings += module["parameters"].get<std::int64_t>();
  }
  EXPECT_GT(embeddings, 0);
  EXPECT_EQ(facts["frozen_parameters"], embeddings);
  EXPECT_EQ(facts["trainable_parameters"], all["parameters"].get<std::int64_t>() - embeddings);
  EXPECT_EQ(facts["flops"], all["flops"]);
  EXPECT_LT(facts["training_step_flops"], all["training_step_flops"]);
  EXPECT_LT(facts["training_step_computed_flops"], all["training_step_computed_flops"]);
}

// A run skips the last layer for all tokens but the first, and also computes operations that are not products.
TEST(Inspect, CountsProductsApartFromWhatIsComputed) {
  const Json long_texts =
      run_json({"inspect", "tiny", "--batch_size", "1", "--tokens", "128"}, workshop());
  EXPECT_EQ(long_texts["flops"], 117'473'792);
  EXPECT_LT(long_texts["computed_flops"], long_texts["flops"]);
  const Json short_texts =
      run_json({"inspect", "tiny", "--batch_size", "1", "--tokens", "1"}, workshop());
  EXPECT_GT(short_texts["computed_flops"], short_texts["flops"]);
  const Json timed = run_json(
      {"bench", "tiny", "--batch_size", "1", "--tokens", "128", "--runs", "1"}, workshop());
  EXPECT_DOUBLE_EQ(timed["gflop"], 0.117473792);
}

TEST(Inspect, CostsFollowBatchAndTokens) {
  const auto flops = [](const char* batch, const char* tokens) -> double {
    return run_json({"inspect", "tiny", "--batch_size", batch, "--tokens", tokens},
                    workshop())["flops"];
  };
  const double one = flops("1", "64");
  EXPECT_DOUBLE_EQ(flops("4", "64"), 4 * one);
  // The cost of attention grows with the square of the number of tokens.
  EXPECT_GT(flops("1", "128"), 2 * one);
}

TEST(Inspect, TellsWhatTheGraphCannotSay) {
  const Json facts = run_json({"inspect", "model"}, workshop());
  EXPECT_EQ(facts["architecture"], "bert");
  EXPECT_EQ(facts["labels"], Json::array({"bad", "good"}));
  EXPECT_EQ(facts["task"], nullptr);
  EXPECT_EQ(facts["limits"]["tokens"], 512);
  EXPECT_EQ(facts["limits"]["token_types"], 2);
  EXPECT_EQ(facts["history"], Json::array());
  EXPECT_EQ(facts["history_complete"], true);
  const std::string text = run_well({"inspect", "model", "--no_graph"}, workshop()).output;
  EXPECT_NE(text.find("bert, 2 classes: bad, good; texts of up to 512 tokens"), std::string::npos)
      << text;
  EXPECT_NE(text.find("as the config builds it."), std::string::npos) << text;
}

TEST(Inspect, TellsWhichPassesMadeTheGraph) {
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "out";
  run_well({"quantize", "model", "--weight_format", "int(bits=8,per=row)", "--data", "reviews.csv",
            "-o", out},
           workshop());
  const std::string pass =
      "quantize(format=int(bits=8,per=row,scale=static), "
      "operands=\"weight\")";
  EXPECT_EQ(run_json({"inspect", out}, workshop())["history"], Json::array({pass}));
  EXPECT_NE(run_well({"inspect", out, "--no_graph"}, workshop())
                .output.find("after these passes:\n  " + pass + "\n"),
            std::string::npos);
  // Older versions stored no history.
  Json config = read_json(out / "config.json");
  EXPECT_EQ(config["hone_history"]["passes"], Json::array({pass}));
  config.erase("hone_history");
  write_file(out / "config.json", config.dump());
  const Json facts = run_json({"inspect", out}, workshop());
  EXPECT_EQ(facts["history"], Json::array());
  EXPECT_EQ(facts["history_complete"], false);
  EXPECT_NE(run_well({"inspect", out, "--no_graph"}, workshop()).output.find("stored no history"),
            std::string::npos);
}

TEST(Inspect, ShowsTheGraphUnlessToldNotTo) {
  const std::string all = run_well({"inspect", "model"}, workshop()).output;
  const std::string tables = run_well({"inspect", "model", "--no_graph"}, workshop()).output;
  ASSERT_GE(all.size(), tables.size());
  EXPECT_TRUE(all.ends_with(tables));
  EXPECT_NE(all.find("output loss"), std::string::npos);
  EXPECT_EQ(tables.find("output loss"), std::string::npos);
  EXPECT_NE(tables.find("training step with AdamW"), std::string::npos);
}

// The default number of tokens is limited by the model's maximum.
TEST(Inspect, AndPlanShowNoRunThatTheModelCannotTake) {
  const TemporaryFolder folder;
  folder.file("config.json",
              R"({"model_type": "bert", "hidden_size": 16, "num_hidden_layers": 1,
                  "num_attention_heads": 2, "intermediate_size": 24,
                  "max_position_embeddings": 64})");
  EXPECT_EQ(run_json({"inspect", "config.json"}, folder.path())["tokens"], 64);
  EXPECT_EQ(run_json({"inspect", "config.json", "--tokens", "32"}, folder.path())["tokens"], 32);
  EXPECT_EQ(run_json({"inspect", "tiny"}, folder.path())["tokens"], 128);
  const Json plan = run_json(
      {"plan", "config.json", "--format", "int(bits=8)", "--batch_size", "2"}, folder.path());
  EXPECT_NE(plan.dump().find("[2,64,16]"), std::string::npos) << plan.dump();
  EXPECT_EQ(plan.dump().find("[2,128,16]"), std::string::npos) << plan.dump();
  for (const char* command : {"inspect", "plan"}) {
    std::vector<std::string> words = {command, "config.json", "--tokens", "65"};
    if (words[0] == "plan") words.insert(words.end(), {"--format", "int(bits=8)"});
    const Ending ending = run_hone(words, folder.path());
    EXPECT_EQ(ending.code, 1);
    EXPECT_NE(ending.messages.find("--tokens: the model has 64 positions, got 65"),
              std::string::npos)
        << ending.messages;
  }
}

TEST(Inspect, VerifiesThatFilesAreAsTheyWereWritten) {
  const TemporaryFolder folder;
  const std::string packed = (folder.path() / "packed").string();
  run_json({"pack", "tiny", "--weight_format", "int(bits=8,per=row)", "-o", packed}, workshop());
  const Json facts = run_json({"inspect", packed, "--verify"}, workshop());
  EXPECT_GT(facts["verified_files"].get<int>(), 3);
  const fs::path file = fs::path(packed) / "parameters.safetensors";
  std::string bytes = read_file(file);
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof(header));
  char& first = bytes[sizeof(header) + header];  // the first byte of the elements
  first = static_cast<char>(first ^ 1);          // still a valid number
  write_file(file, bytes);
  EXPECT_TRUE(run_json({"inspect", packed}, workshop())["verified_files"].is_null());
  const Ending damaged = run_hone({"inspect", packed, "--verify"}, workshop());
  EXPECT_EQ(damaged.code, 1);
  EXPECT_NE(damaged.messages.find("files differ from their record: parameters.safetensors has "
                                  "other bytes; restore the folder"),
            std::string::npos)
      << damaged.messages;
  const Ending fresh = run_hone({"inspect", "tiny", "--verify"}, workshop());
  EXPECT_EQ(fresh.code, 1);
  EXPECT_NE(fresh.messages.find("tiny has no record of its files"), std::string::npos)
      << fresh.messages;
}

// docs/shrink.md: the file may be left out when a model is shipped.
TEST(Inspect, VerifiesFoldersWithoutTheFingerprintsOfTexts) {
  const TemporaryFolder folder;
  fs::copy(workshop() / "model", folder.path(), fs::copy_options::recursive);
  const auto verified = [&] {
    return run_json({"inspect", folder.path(), "--verify"}, workshop())["verified_files"]
        .get<int>();
  };
  const int all = verified();
  fs::remove(folder.path() / "trained_on.safetensors");
  EXPECT_EQ(verified(), all - 1);
}

TEST(Inspect, TellsBitsZerosAndWhatTakesMemory) {
  const TemporaryFolder folder;
  const std::string rounded = (folder.path() / "rounded").string(),
                    packed = (folder.path() / "packed").string(),
                    csv = (folder.path() / "modules.csv").string();
  const Json plain = run_json({"inspect", "model"}, workshop());
  EXPECT_EQ(plain["bits"]["weights"], 32);
  EXPECT_EQ(plain["bits"]["data"], 32);
  EXPECT_EQ(plain["training_moment_bytes"], 2 * plain["parameter_bytes"].get<std::int64_t>());
  EXPECT_GT(plain["training_peak_gradient_bytes"].get<std::int64_t>(), 0);
  EXPECT_LT(plain["training_peak_gradient_bytes"], plain["training_peak_value_bytes"]);
  run_well({"quantize", "model", "--format", "integer(width=8,frac=4)", "--data", "reviews.csv",
            "-o", rounded},
           workshop());
  run_well({"pack", rounded, "-o", packed}, workshop());
  const Json of_rounded = run_json({"inspect", rounded, "--csv", csv}, workshop()),
             of_packed = run_json({"inspect", packed}, workshop()),
             added = run_json({"inspect", rounded, "--added_bits"}, workshop());
  EXPECT_EQ(of_rounded["bits"]["weights"], 8);
  EXPECT_EQ(added["bits"]["weights"], 12);
  EXPECT_EQ(added["bits"]["counted"], "width_and_fraction");
  // Packing keeps the rounded weights.
  EXPECT_EQ(of_packed["bits"], of_rounded["bits"]);
  EXPECT_EQ(of_packed["zeros"], of_rounded["zeros"]);
  EXPECT_GT(of_rounded["zeros"], plain["zeros"]);
  EXPECT_LT(of_packed["parameter_bytes"], of_rounded["parameter_bytes"]);
  EXPECT_TRUE(read_file(csv).starts_with("module,parameters,trainable,frozen,zero_share\r\n"));
  const Ending again = run_hone({"inspect", rounded, "--csv", csv}, workshop());
  EXPECT_EQ(again.code, 1);
  EXPECT_NE(again.messages.find("modules.csv"), std::string::npos) << again.messages;
}

}  // namespace
}  // namespace hone::testing
