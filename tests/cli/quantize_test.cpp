#include <gtest/gtest.h>
#include <stdlib.h>

#include "hone/base/process.h"
#include "hone/base/text.h"
#include "hone/tensor/safetensors.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

constexpr const char* kFormat = "integer(width=8,frac=4)";

// Quantizes the workshop's model into `folder`/quantized.
Json quantize(const TemporaryFolder& folder, const std::vector<std::string>& more) {
  std::vector<std::string> words = {
      "quantize", "model",       "--format", kFormat,
      "--data",   "reviews.csv", "-o",       folder.path() / "quantized"};
  words.insert(words.end(), more.begin(), more.end());
  return run_json(words, workshop());
}

TEST(Quantize, AfterTrainingSaysWhatWasLost) {
  const TemporaryFolder folder;
  const Json result = quantize(folder, {});
  EXPECT_EQ(result["method"], "ptq");
  EXPECT_EQ(result["format"], kFormat);
  EXPECT_EQ(result["arithmetic"], "simulated");
  EXPECT_EQ(result["average_weight_bits"], 8);
  // Query, key, value and three dense layers in each of two layers, the pooler and the classifier.
  EXPECT_EQ(result["quantized_modules"], 14);
  EXPECT_NE(result["before"]["eval_loss"], result["after"]["eval_loss"]);
  const Json& comparison = result["comparison"];
  EXPECT_EQ(comparison["flip_share"].get<double>() * result["after"]["eval_samples"].get<double>(),
            comparison["flips"]);
  EXPECT_EQ(entries(folder.path() / "quantized"),
            (std::vector<std::string>{
                "README.md", "config.json", "graph.hone", "layers.gp", "layers.png", "layers.svg",
                "layers.tsv", "machine.json", "model.safetensors", "record.json", "report.html",
                "report.md", "results.json", "run.log", "settings.json", "tokenizer_config.json",
                "trained_on.safetensors", "vocab.txt"}));
}

// The unrounded weights, from which training continues, are stored next to the rounded ones.
TEST(Quantize, KeepsTheWeightsOfItsTrainingUnrounded) {
  const TemporaryFolder folder;
  quantize(folder, {"--qat", "--max_steps", "2"});
  const fs::path model = folder.path() / "quantized";
  const TensorMap rounded = read_safetensors(model / "model.safetensors").tensors,
                  before = read_safetensors(model / "unrounded.safetensors").tensors;
  EXPECT_EQ(before.size(), 28u);  // weight and bias of 14 operations
  double farthest = 0;
  for (const auto& [name, tensor] : before)
    for (std::int64_t i = 0; i < tensor.count(); ++i)
      farthest =
          std::max(farthest, std::abs(static_cast<double>(tensor.values<float>()[i]) -
                                      static_cast<double>(rounded.at(name).values<float>()[i])));
  EXPECT_GT(farthest, 0);
  EXPECT_LE(farthest, 0x1p-5);  // half a step of four fraction bits
  // Training with a learning rate of 0 keeps both files bit for bit.
  const Ending ending =
      run_well({"train", model, "--data", "reviews.csv", "--validation_split", "0", "--max_steps",
                "1", "--lr", "0", "-o", folder.path() / "further"},
               workshop());
  EXPECT_NE(ending.messages.find("continues from the weights before rounding"), std::string::npos)
      << ending.messages;
  for (const char* file : {"model.safetensors", "unrounded.safetensors"})
    EXPECT_EQ(read_file(folder.path() / "further" / file), read_file(model / file)) << file;
  write_safetensors(model / "unrounded.safetensors",
                    {{"classifier.weight", Tensor::of<float>({1, 1}, {0})}}, {});
  const Ending other = run_hone(
      {"train", model, "--data", "reviews.csv", "--max_steps", "1", "-o", folder.path() / "other"},
      workshop());
  EXPECT_EQ(other.code, 1);
  EXPECT_NE(
      other.messages.find("classifier.weight is not a weight of the model in the same folder"),
      std::string::npos)
      << other.messages;
}

TEST(Quantize, WhatIsSavedComputesWhatWasMeasured) {
  const TemporaryFolder folder;
  // Without a validation split both commands evaluate on the whole file.
  const Json result = quantize(folder, {"--validation_split", "0"});
  const auto loss_of = [](const fs::path& model) {
    return run_json({"eval", model, "--data", "reviews.csv"}, workshop())["eval_loss"];
  };
  EXPECT_EQ(loss_of("model"), result["before"]["eval_loss"]);
  EXPECT_EQ(loss_of(folder.path() / "quantized"), result["after"]["eval_loss"]);
}

TEST(Quantize, WithTrainingWritesItsLog) {
  const TemporaryFolder folder;
  const Json result = quantize(folder, {"--qat", "--max_steps", "2", "--logging_steps", "1"});
  EXPECT_EQ(result["method"], "qat");
  const std::vector<Json> log =
      json_lines(read_file(folder.path() / "quantized/training_log.jsonl"));
  ASSERT_EQ(log.size(), 3);  // two steps and one evaluation
  EXPECT_TRUE(log[0].contains("loss"));
  EXPECT_TRUE(log[2].contains("eval_loss"));
}

TEST(Quantize, NamesFormatAndLayersInTheConfig) {
  const TemporaryFolder folder;
  quantize(folder, {});
  const Json config = read_json(folder.path() / "quantized/config.json");
  EXPECT_NE(config["quantization_config"].dump().find(kFormat), std::string::npos);
  EXPECT_NE(config["quantization_config"].dump().find("bert.encoder.layer.1.output.dense"),
            std::string::npos);
}

const std::vector<std::string> kEmbeddings = {"--rule",
                                              "op = 'embedding', weight = 'int(bits=4,per=row)'"};

// Returns the command that also quantizes the embeddings of the model `quantize` made, into `folder`/NAME.
std::vector<std::string> further(const TemporaryFolder& folder, const char* name) {
  std::vector<std::string> words = {
      "quantize", folder.path() / "quantized", "--data", "reviews.csv", "-o", folder.path() / name};
  words.insert(words.end(), kEmbeddings.begin(), kEmbeddings.end());
  return words;
}

TEST(Quantize, GoesOnFromAQuantizedModel) {
  const TemporaryFolder folder;
  const Json first = quantize(folder, {});
  const Json result = run_json(further(folder, "both"), workshop());
  EXPECT_EQ(first["baseline_format"], nullptr);
  EXPECT_EQ(result["baseline_format"], kFormat);
  EXPECT_EQ(result["format"], "mixed (2 formats)");
  EXPECT_EQ(result["before"]["eval_loss"], first["after"]["eval_loss"]) << "it is compared with it";
  // The tables of words and token types. Positions are a slice.
  EXPECT_EQ(result["quantized_modules"], 14 + 2);
  EXPECT_EQ(result["size"]["embeddings_quantized"], true);
  EXPECT_LT(result["size"]["packed_bytes"], first["size"]["packed_bytes"]);
  EXPECT_EQ(result["average_weight_bits"], 8) << "tables do not count";
  const TensorMap before = read_safetensors(folder.path() / "quantized/model.safetensors").tensors,
                  after = read_safetensors(folder.path() / "both/model.safetensors").tensors;
  for (const auto& [name, tensor] : before) {
    const bool now = name.find("embeddings.word") != std::string::npos ||
                     name.find("embeddings.token") != std::string::npos;
    EXPECT_NE(std::ranges::equal(tensor.values<float>(), after.at(name).values<float>()), now)
        << name;
  }
  const Json config = read_json(folder.path() / "both/config.json");
  EXPECT_EQ(config["quantization_config"]["layers"].size(), 16u);
  EXPECT_EQ(config["hone_history"]["passes"],
            Json::array({"quantize(format=integer(width=8,frac=4))",
                         "quantize(format=int(bits=4,per=row,scale=static), op=\"embedding\", "
                         "operands=\"weight\")"}));
  const std::string card = read_file(folder.path() / "both/README.md");
  EXPECT_NE(card.find("| before, quantized already (`integer(width=8,frac=4)`) | validation |"),
            std::string::npos)
      << card;
  EXPECT_NE(card.find("op=\"embedding\""), std::string::npos) << card;
  // The text output names the baseline, too.
  std::vector<std::string> words = further(folder, "again");
  words.insert(words.end(), {"--explain"});
  const std::string text = run_well(words, workshop()).output;
  EXPECT_NE(text.find("The baseline is already quantized"), std::string::npos) << text;
  EXPECT_NE(text.find("Layers quantized 16, of which 2 are new"), std::string::npos) << text;
  // The saved model gives the reported loss.
  EXPECT_EQ(
      run_json({"eval", folder.path() / "both", "--data", "reviews.csv"}, workshop())["eval_loss"],
      result["after"]["eval_loss"]);
}

TEST(Quantize, NamesTheLayerThatIsQuantizedAlready) {
  const TemporaryFolder folder;
  quantize(folder, {});
  std::vector<std::string> words = further(folder, "both");
  words.insert(words.end(), {"--format", "bf16"});
  for (const bool only_told : {false, true}) {
    if (only_told) words = {"plan", folder.path() / "quantized", "--format", "bf16"};
    const Ending ending = run_hone(words, workshop());
    EXPECT_EQ(ending.code, 1);
    EXPECT_NE(ending.messages.find(
                  "/quantized: %bert.encoder.layer.0.attention.self.query: its input is already "
                  "quantized (%bert.encoder.layer.0.attention.self.query.input_quantizer); "
                  "exclude it, or start from the unquantized model"),
              std::string::npos)
        << ending.messages;
  }
  EXPECT_FALSE(fs::exists(folder.path() / "both"));
}

// Training continues from weights that were never rounded, whatever was quantized afterwards.
TEST(Quantize, FurtherKeepsTheUnroundedWeights) {
  const TemporaryFolder folder;
  quantize(folder, {"--qat", "--max_steps", "2"});
  run_well(further(folder, "both"), workshop());
  const TensorMap parent =
                      read_safetensors(folder.path() / "quantized/unrounded.safetensors").tensors,
                  kept = read_safetensors(folder.path() / "both/unrounded.safetensors").tensors;
  EXPECT_EQ(kept.size(), parent.size() + 2);
  for (const auto& [name, tensor] : parent)
    EXPECT_TRUE(std::ranges::equal(tensor.values<float>(), kept.at(name).values<float>())) << name;
  EXPECT_EQ(read_json(folder.path() / "both/config.json")["quantization_config"]["training"],
            "qat");
}

TEST(Quantize, ShowsPeopleBothModelsAndAVerdict) {
  const TemporaryFolder folder;
  const Ending ending = run_well({"quantize", "model", "--format", kFormat, "--data", "reviews.csv",
                                  "-o", folder.path() / "quantized"},
                                 workshop());
  for (const char* text : {"baseline", "PTQ integer(width=8,frac=4)", "Predictions changed",
                           "simulated", "Layers quantized 14"})
    EXPECT_NE(ending.output.find(text), std::string::npos) << text;
}

TEST(Quantize, DrawsTheLearningCurveOfItsTraining) {
  const TemporaryFolder folder;
  quantize(folder, {"--qat", "--max_steps", "2", "--logging_steps", "1"});
  EXPECT_EQ(entries(folder.path() / "quantized"),
            (std::vector<std::string>{"README.md",
                                      "checkpoint-2",
                                      "config.json",
                                      "graph.hone",
                                      "layers.gp",
                                      "layers.png",
                                      "layers.svg",
                                      "layers.tsv",
                                      "learning_curve.csv",
                                      "learning_curve.gp",
                                      "learning_curve.png",
                                      "learning_curve.svg",
                                      "learning_curve.tsv",
                                      "machine.json",
                                      "model.safetensors",
                                      "record.json",
                                      "report.html",
                                      "report.md",
                                      "results.json",
                                      "run.log",
                                      "settings.json",
                                      "tokenizer_config.json",
                                      "trained_on.safetensors",
                                      "training_log.jsonl",
                                      "unrounded.safetensors",
                                      "vocab.txt"}));
  const std::string svg = read_file(folder.path() / "quantized/learning_curve.svg");
  EXPECT_NE(svg.find("simulated"), std::string::npos);
}

// Returns a command with a format whose step is far larger than the weights.
std::vector<std::string> coarse(const TemporaryFolder& folder) {
  return {"quantize",
          "model",
          "--format",
          "integer(width=6,frac=1)",
          "--data",
          "reviews.csv",
          "--calibration_batches",
          "1",
          "-o",
          folder.path() / "quantized"};
}

TEST(Quantize, ExplainsWhereItIsLostWhenAsked) {
  const TemporaryFolder folder;
  std::vector<std::string> words = coarse(folder);
  EXPECT_EQ(run_well(words, workshop()).output.find("Where accuracy is lost"), std::string::npos);
  words.insert(words.end(), {"--explain", "--overwrite"});
  const std::string output = run_well(words, workshop()).output;
  EXPECT_NE(output.find("Each operand quantized alone"), std::string::npos) << output;
  for (const char* there : {"Operand", " weight ", " SNR (dB)", "SNR with better (dB)",
                            "bert.encoder.layer.0.attention.self.query"})
    EXPECT_NE(output.find(there), std::string::npos) << output;
  // All of the dozen rows shown are weights, because all weights are flushed to zero.
  EXPECT_EQ(output.find(" bias "), std::string::npos) << output;
}

// The recipe includes operations that recipes change only if they name them.
TEST(Quantize, ExplainsWithARecipeThatItTakes) {
  const TemporaryFolder folder;
  std::vector<std::string> words = coarse(folder);
  words[1] = trained_longer(folder);
  words.insert(words.end(),
               {"--explain", "--rule", "op = 'matmul', input = 'integer(width=6,frac=1)'"});
  const Json result = run_json(words, workshop());
  EXPECT_EQ(read_json(folder.path() / "quantized/results.json"), result);
  const Json& diagnosis = result["diagnosis"];
  ASSERT_EQ(diagnosis["operands"].size(), 14 * 3 + 4 * 2);
  EXPECT_EQ(diagnosis["operands"][0]["operand"], "weight");
  EXPECT_EQ(diagnosis["operands"][0]["flushed"], 1);
  EXPECT_GT(diagnosis["with_better_parameters"]["margin_snr_db"].get<double>(),
            result["comparison"]["margin_snr_db"].get<double>() + 6);
  folder.file("better.toml", diagnosis["recipe"].get<std::string>());
  const Json plan =
      run_json({"plan", words[1], "--recipe", folder.path() / "better.toml"}, workshop());
  EXPECT_EQ(plan["operands"].size(), 14 * 3 + 4 * 2);
}

// Texts of unequal length give score rows of unequal length, and each input of a product has a state of its own.
TEST(Quantize, ExplainsProductsOfTextsOfUnequalLength) {
  const TemporaryFolder folder;
  std::string data = "text,label\n";
  for (int i = 0; i < 60; ++i) {
    for (int word = 0; word <= i % 9; ++word) data += "film ";
    data += i % 2 == 0 ? "good,good\n" : "bad,bad\n";
  }
  folder.file("unequal.csv", data);
  const Json result = run_json(
      {"quantize", workshop() / "model", "--data", "unequal.csv", "--batch_size", "4", "--format",
       "mxint(bits=8)", "--rule", "op = 'matmul', input = 'int(bits=8)'", "--explain", "-o", "out"},
      folder.path());
  std::set<std::string> products;
  int inputs = 0;
  for (const Json& operand : result["diagnosis"]["operands"]) {
    if (operand["format"].get<std::string>().find("int(bits=8") != 0) continue;
    products.insert(operand["layer"]);
    ++inputs;
  }
  EXPECT_EQ(products.size(), 4u) << "scores and context of two layers";
  EXPECT_EQ(inputs, 8);
  const Safetensors saved = read_safetensors(folder.path() / "out/model.safetensors");
  EXPECT_TRUE(
      saved.tensors.contains("bert.encoder.layer.0.attention.self.scores.input_quantizer.1.scale"))
      << "the second input's own";
}

// Runs the printed command in a shell, in a folder whose name contains special characters.
TEST(Quantize, ExplainsWithACommandThatWorksAsTyped) {
  const TemporaryFolder folder;
  const fs::path home = folder.path() / "it's $HOME; a folder";
  fs::create_directories(home);
  fs::copy(workshop() / "model", home / "my model", fs::copy_options::recursive);
  fs::copy(workshop() / "reviews.csv", home / "reviews.csv");
  const std::vector<std::string> words = {
      "quantize", "my model",    "--format",  "integer(width=6,frac=1)",
      "--data",   "reviews.csv", "--explain", "--calibration_batches",
      "1",        "-o",          "out"};
  const std::string output = run_well(words, home).output;
  std::string command;
  for (const std::string& line : split(output, '\n'))
    if (line.starts_with("  hone quantize ")) command = line.substr(2);
  ASSERT_FALSE(command.empty()) << output;
  const Json result = read_json(home / "out/results.json");
  EXPECT_EQ(result["diagnosis"]["command"], command);
  EXPECT_EQ(read_file(home / "out/better.toml"), result["diagnosis"]["recipe"]);
  EXPECT_NE(read_file(home / "out/report.html").find("out/better.toml"), std::string::npos);
  const std::string script = folder.file(
      "script", "set -e\nhone() { \"$HONE\" \"$@\"; }\n" + command + " --json > typed.json\n");
  ::setenv("HONE", hone_program().c_str(), 1);
  run_program({"sh", script}, home, "dash");
  const Json better = read_json(home / "typed.json");
  EXPECT_TRUE(fs::exists(home / "out-better/model.safetensors"));
  EXPECT_EQ(better["comparison"]["margin_snr_db"],
            result["diagnosis"]["with_better_parameters"]["margin_snr_db"]);
}

// bf16 has no parameters to improve.
TEST(Quantize, ExplainsWithWhatToLeaveOutWhereNothingIsBetter) {
  const TemporaryFolder folder;
  const std::vector<std::string> words = {"quantize", "model",       "--format",  "bf16",
                                          "--data",   "reviews.csv", "--explain", "-o"};
  std::vector<std::string> ptq = words;
  ptq.push_back(folder.path() / "out");
  const Ending ending = run_well(ptq, workshop());
  const Json result = read_json(folder.path() / "out/results.json")["diagnosis"];
  for (const Json& operand : result["operands"]) EXPECT_EQ(operand["better"], nullptr) << operand;
  EXPECT_EQ(result["with_better_parameters"], nullptr);
  EXPECT_EQ(result["with_noisiest_in_full_precision"]["split"], "validation");
  EXPECT_FALSE(fs::exists(folder.path() / "out/better.toml"));
  EXPECT_EQ(read_file(folder.path() / "out/wider.toml"), result["recipe"]);
  for (const char* said :
       {"More bits may, or training through the quantizers (--qat). A recipe that "
        "leaves the 11 noisiest of 42 operands in full precision is saved",
        "With the noisiest in full precision, by rounding alone (validation, "})
    EXPECT_NE(ending.output.find(said), std::string::npos) << ending.output;
  EXPECT_NE(result["command"].get<std::string>().find("out/wider.toml"), std::string::npos);
  // Also after training.
  std::vector<std::string> qat = words;
  qat.insert(qat.end(), {folder.path() / "trained", "--qat", "--max_steps", "1"});
  run_well(qat, workshop());
  const Json trained = read_json(folder.path() / "trained/results.json")["diagnosis"];
  for (const char* words_of_it : {"trained/wider.toml", " --qat"})
    EXPECT_NE(trained["command"].get<std::string>().find(words_of_it), std::string::npos);
  EXPECT_EQ(trained["recipe"], result["recipe"]);
  const Json plan =
      run_json({"plan", "model", "--recipe", folder.path() / "trained/wider.toml"}, workshop());
  EXPECT_EQ(plan["operands"].size(), 42 - 11);
}

TEST(Quantize, SaysWhatItTakesAndWhatItWouldTakePacked) {
  const TemporaryFolder folder;
  const Json size = quantize(folder, {})["size"];
  EXPECT_EQ(size["disk_bytes"], fs::file_size(folder.path() / "quantized/model.safetensors"));
  EXPECT_EQ(size["memory_bytes"], 4 * size["parameters"].get<std::int64_t>());
  EXPECT_LT(size["packed_bytes"], size["memory_bytes"]);
  EXPECT_EQ(size["embeddings_quantized"], false);
  const std::string shown = run_well({"quantize", "model", "--format", kFormat, "--rule",
                                      "op = 'embedding', weight = 'int(bits=8)'", "--data",
                                      "reviews.csv", "-o", folder.path() / "smaller"},
                                     workshop())
                                .output;
  EXPECT_NE(shown.find("(simulated: not smaller yet); packed they would take"), std::string::npos)
      << shown;
  const Json smaller = read_json(folder.path() / "smaller/results.json")["size"];
  EXPECT_EQ(smaller["embeddings_quantized"], true);
  EXPECT_LT(smaller["packed_bytes"], size["packed_bytes"]);
  EXPECT_NE(read_file(folder.path() / "smaller/report.html").find("not smaller yet"),
            std::string::npos);
}

// Other programs ignore the input quantizers of the saved model.
TEST(Quantize, MeasuresWhatOtherProgramsComputeToo) {
  const TemporaryFolder folder;
  const fs::path saved = folder.path() / "quantized";
  const std::vector<std::string> words = {"quantize",
                                          "model",
                                          "--weight_format",
                                          "bf16",
                                          "--input_format",
                                          "int(bits=3)",
                                          "--data",
                                          "reviews.csv",
                                          "--force",
                                          "--validation_split",
                                          "0",
                                          "-o",
                                          saved};
  const std::string shown = run_well(words, workshop()).output;
  EXPECT_NE(shown.find("as transformers computes it"), std::string::npos) << shown;
  EXPECT_NE(shown.find("The saved model: transformers and other programs"), std::string::npos);
  const Json result = read_json(saved / "results.json");
  const Json& elsewhere = result["as_transformers"];
  EXPECT_EQ(elsewhere["eval_samples"], result["after"]["eval_samples"]);
  // Only the inputs are rounded coarsely.
  EXPECT_GT(elsewhere["comparison"]["margin_snr_db"].get<double>(),
            result["comparison"]["margin_snr_db"].get<double>() + 6);
  Json config = read_json(saved / "config.json");
  EXPECT_NE(config["quantization_config"]["notice"].get<std::string>().find("transformers"),
            std::string::npos);
  // Imitates a program without quantizers, on the same files.
  config.erase("quantization_config");
  write_file(saved / "config.json", to_document(config));
  fs::remove(saved / "graph.hone");
  EXPECT_EQ(run_json({"eval", saved, "--data", "reviews.csv"}, workshop())["eval_loss"],
            elsewhere["eval_loss"]);
}

TEST(Quantize, SavesWeightsThatAreTheSameEverywhere) {
  const TemporaryFolder folder;
  const Json result = run_json({"quantize", "model", "--weight_format", "int(bits=8)", "--data",
                                "reviews.csv", "-o", folder.path() / "weights"},
                               workshop());
  EXPECT_TRUE(result["as_transformers"].is_null());
  EXPECT_FALSE(
      read_json(folder.path() / "weights/config.json")["quantization_config"].contains("notice"));
}

TEST(Quantize, HeedsTheObjectionOfAFormatUnlessToldNotTo) {
  const TemporaryFolder folder;
  std::vector<std::string> words = coarse(folder);
  words[3] = "minifloat_ieee(width=8,exponent_width=4,exponent_bias=27)";
  const Ending refused = run_hone(words, workshop());
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.messages.find("error: %bert.encoder.layer.0."), std::string::npos)
      << refused.messages;
  EXPECT_NE(refused.messages.find("use exponent_bias="), std::string::npos) << refused.messages;
  EXPECT_TRUE(entries(folder.path()).empty());
  words.push_back("--force");
  run_well(words, workshop());
  EXPECT_TRUE(fs::exists(folder.path() / "quantized/model.safetensors"));
}

TEST(Quantize, CalibratesByTheRuleItIsGiven) {
  const auto weights_of = [](const std::vector<std::string>& more) {
    const TemporaryFolder folder;
    std::vector<std::string> words = coarse(folder);
    words[3] = "int(bits=4)";
    words.insert(words.end(), more.begin(), more.end());
    run_well(words, workshop());
    return read_file(folder.path() / "quantized/model.safetensors");
  };
  const std::string minmax = weights_of({});
  EXPECT_TRUE(weights_of({"--calibration", "minmax"}) == minmax);
  EXPECT_FALSE(weights_of({"--calibration", "mse"}) == minmax);
  EXPECT_FALSE(weights_of({"--calibration", "percentile", "--percentile", "99"}) == minmax);
  const TemporaryFolder folder;
  std::vector<std::string> words = coarse(folder);
  words.insert(words.end(), {"--calibration", "msee"});
  const Ending refused = run_hone(words, workshop());
  EXPECT_EQ(refused.code, kUsageError);
  EXPECT_NE(refused.messages.find("did you mean 'mse'?"), std::string::npos) << refused.messages;
  EXPECT_TRUE(entries(folder.path()).empty());
}

TEST(Quantize, TakesARecipe) {
  const TemporaryFolder folder;
  folder.file("recipe.toml", R"toml(
default = "integer(width=8,frac=6)"
[[rule]]
name = "bert.encoder.*"
format = "mxint(bits=4)"
[[rule]]
name = "classifier"
format = "none"
)toml");
  const Json result = run_json({"quantize", "model", "--recipe", folder.path() / "recipe.toml",
                                "--data", "reviews.csv", "-o", folder.path() / "quantized"},
                               workshop());
  EXPECT_EQ(result["format"], "mixed (2 formats)");
  EXPECT_EQ(result["quantized_modules"], 13);
  const std::string config =
      read_json(folder.path() / "quantized/config.json")["quantization_config"].dump();
  EXPECT_NE(config.find("mxint(bits=4"), std::string::npos) << config;
  EXPECT_EQ(config.find("\"classifier\""), std::string::npos) << config;
}

TEST(Quantize, PassesAGateOnlyWhenTheLossIsShownToBeSmall) {
  const TemporaryFolder data;  // which the model has never seen
  std::string rows = "text,label\n";
  for (int i = 0; i < 40; ++i)
    rows += fmt::format("\"play {}, {}\",{}\n", i, i % 2 ? "fine" : "dull", i % 2 ? "good" : "bad");
  const fs::path unseen = data.file("unseen.csv", rows);
  const auto gated = [&](const std::string& allowed, const std::string& format) {
    const TemporaryFolder folder;
    const Ending ending =
        run_hone({"quantize", "model", "--format", format, "--data", unseen, "--validation_split",
                  "0", "--max-drop", allowed, "--json", "-o", folder.path() / "quantized"},
                 workshop());
    // The model is written whether or not it passes the gate.
    EXPECT_EQ(entries(folder.path()), std::vector<std::string>{"quantized"}) << ending.messages;
    const Json result = json_lines(ending.output).at(0);
    EXPECT_EQ(result["gate"]["passed"], ending.code == 0);
    EXPECT_EQ(
        ending.messages.find(result["gate"]["summary"].get<std::string>()) == std::string::npos,
        ending.code == 0)
        << ending.messages;
    return ending.code;
  };
  EXPECT_EQ(gated("10", "fp16"), 0);
  // Nothing is lost, but 40 texts cannot show that the drop is below half a point.
  EXPECT_EQ(gated("0.5", "fp16"), 3);
}

TEST(Quantize, WithSeedsTellsSpreadAndThePairedTest) {
  const TemporaryFolder folder;
  const Json result = quantize(folder, {"--qat", "--max_steps", "1", "--seeds", "2"});
  EXPECT_EQ(result["seeds"], 2);
  EXPECT_EQ(result["method"], "qat");
  ASSERT_EQ(result["runs"].size(), 2u);
  EXPECT_EQ(result["runs"][1]["seed"], 43);
  // Two seeds give neither a spread nor a verdict.
  for (const Json& part : {result["metric_spread"]["after"], result["change"]}) {
    EXPECT_TRUE(part["mean"].is_number()) << part;
    for (const char* key : {"standard_deviation", "mean_interval"})
      EXPECT_TRUE(part.at(key).is_null()) << part << " " << key;
  }
  EXPECT_TRUE(result["change"].at("paired_t_test_p").is_null());
  EXPECT_EQ(result["change"]["verdict"], "inconclusive");
  EXPECT_EQ(result["change"]["seeds_needed"], 5);
  for (const char* seed : {"seed-42", "seed-43"})
    EXPECT_TRUE(fs::exists(folder.path() / "quantized" / seed / "model.safetensors")) << seed;
  const Ending refused = run_hone({"quantize", "model", "--format", "fp16", "--data", "reviews.csv",
                                   "--seeds", "2", "-o", folder.path() / "other"},
                                  workshop());
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.messages.find("is deterministic"), std::string::npos) << refused.messages;
}

/// Returns a folder with a trained model, quantized with several seeds to so few bits that each seed loses everything.
const fs::path& seeds_that_lose() {
  static const TemporaryFolder folder;
  if (fs::exists(folder.path() / "learnt")) return folder.path();
  fs::copy(workshop() / "reviews.csv", folder.path());
  run_well({"train", "tiny", "--data", "reviews.csv", "--max_steps", "30", "--lr", "1e-3",
            "--batch_size", "4", "-o", "learnt"},
           folder.path());
  return folder.path();
}

std::vector<std::string> losing(const std::string& output) {
  return {"quantize",
          "learnt",
          "--qat",
          "--max_steps",
          "1",
          "--format",
          "integer(width=2,frac=0)",
          "--data",
          "reviews.csv",
          "--split",
          "all",
          "-o",
          output};
}

std::size_t count_of(const std::string& part, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++count;
  return count;
}

TEST(Quantize, WithSeedsThatAllLoseSaysSoAndWhere) {
  std::vector<std::string> words = losing("seeds");
  words.insert(words.end(), {"--seeds", "5"});
  const Ending ending = run_well(words, seeds_that_lose());
  const Json result = read_json(seeds_that_lose() / "seeds/results.json");
  const Json& change = result["change"];
  EXPECT_EQ(change["verdict"], "exceeds limit") << change;
  EXPECT_EQ(change["grounds"], "each_seed") << change;
  EXPECT_LT(change["change_interval"][1].get<double>(), -0.005);
  for (const Json& run : result["runs"]) EXPECT_EQ(run["comparison"]["verdict"], "exceeds limit");
  EXPECT_NE(ending.output.find("a significant drop"), std::string::npos) << ending.output;
  EXPECT_NE(ending.output.find(" of predictions changed on average"), std::string::npos)
      << ending.output;
  EXPECT_NE(ending.output.find("The saved model: "), std::string::npos) << ending.output;
  EXPECT_NE(
      ending.output.find("Each operand quantized alone, the noisiest first, without training; "
                         "the same for every seed"),
      std::string::npos)
      << ending.output;
  const Json& diagnosis = result["diagnosis"];
  EXPECT_EQ(read_file(seeds_that_lose() / "seeds/better.toml"), diagnosis["recipe"]);
  const std::string command = diagnosis["command"];
  EXPECT_NE(command.find("--recipe seeds/better.toml"), std::string::npos) << command;
  EXPECT_NE(command.find("--seeds 5"), std::string::npos) << command;
  EXPECT_NE(ending.output.find(command), std::string::npos) << ending.output;
  const std::string page = read_page(seeds_that_lose() / "seeds/report.html");
  for (const char* heading : {"Where accuracy is lost", "Classes</"})
    EXPECT_NE(page.find(heading), std::string::npos) << heading;
  EXPECT_TRUE(fs::exists(seeds_that_lose() / "seeds/layers.svg"));
  // The baseline is evaluated once on each split, however many seeds there are.
  EXPECT_EQ(count_of("baseline, all  100%", ending.messages), 1u) << ending.messages;
  EXPECT_EQ(count_of("baseline, validation  100%", ending.messages), 1u) << ending.messages;
  EXPECT_EQ(count_of("fp32  100%", ending.messages), 0u) << ending.messages;
  // The table of classes.
  EXPECT_NE(page.find("Compressed, all, n = 40, 36 of them trained on: mean of 5 seeds"),
            std::string::npos);
}

TEST(Quantize, MeasuresTheModelOnceWhereTheChoiceIsMadeOnTheSameTexts) {
  const Ending ending = run_well({"quantize", "learnt", "--format", "integer(width=2,frac=0)",
                                  "--data", "reviews.csv", "--explain", "-o", "once"},
                                 seeds_that_lose());
  EXPECT_EQ(count_of("baseline, validation  100%", ending.messages), 1u) << ending.messages;
  EXPECT_EQ(count_of("baseline, validation", ending.messages), 1u) << ending.messages;
}

TEST(Quantize, SaysTheVerdictOfAGateOnce) {
  for (const char* seeds : {"1", "2"}) {
    std::vector<std::string> words = losing(std::string("gated-") + seeds);
    words.insert(words.end(), {"--seeds", seeds, "--max_drop", "0.5"});
    const Ending ending = run_hone(words, seeds_that_lose());
    EXPECT_EQ(ending.code, 3) << ending.messages;
    EXPECT_EQ(count_of("accuracy changed by", ending.output + ending.messages),
              1u + count_of("by rounding alone", ending.output))
        << ending.output << ending.messages;
    EXPECT_TRUE(ending.messages.ends_with("limit not proven\n")) << ending.messages;
  }
}

// An improvement must not be credited to quantization if only the compressed model was trained further.
TEST(Quantize, SaysThatNoModelWasTrainedAsLongWithoutQuantizers) {
  const Ending ending = run_well(losing("caveat"), seeds_that_lose());
  const Json result = read_json(seeds_that_lose() / "caveat/results.json");
  EXPECT_EQ(result["steps"], 1);
  const std::string caveat = result["caveat"];
  EXPECT_EQ(caveat,
            "The compressed model was trained for 1 step more than the baseline, and no fp32 model "
            "was trained equally long: the change combines training and quantizing.");
  EXPECT_NE(ending.output.find(caveat), std::string::npos) << ending.output;
  for (const char* file : {"report.html", "README.md"})
    EXPECT_NE(read_page(seeds_that_lose() / "caveat" / file).find(caveat), std::string::npos)
        << file;
  const TemporaryFolder folder;
  const Json rounded = quantize(folder, {});
  for (const char* key : {"caveat", "steps"})
    EXPECT_TRUE(rounded.at(key).is_null()) << key << ": nothing was trained";
}

// Like `train`, it gives a new model the classes of the data.
TEST(Quantize, GivesFreshWeightsTheClassesOfTheData) {
  const TemporaryFolder folder;
  std::string rows = "text,label\n";
  for (int i = 0; i < 30; ++i) rows += fmt::format("film {},{}\n", i, "abc"[i % 3]);
  const Json result = run_json({"quantize", "tiny", "--format", kFormat, "--data",
                                folder.file("three.csv", rows), "-o", folder.path() / "out"},
                               folder.path());
  for (const char* label : {"a", "b", "c"})
    EXPECT_TRUE(result["before"]["eval_classes"].contains(label)) << result["before"];
  EXPECT_EQ(read_json(folder.path() / "out/config.json")["id2label"]["2"], "c");
}

}  // namespace
}  // namespace hone::testing
