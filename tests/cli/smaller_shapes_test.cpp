#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>

#include "hone/base/text.h"
#include "hone/tensor/safetensors.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

using Words = std::vector<std::string>;

const std::string kModel = (workshop() / "model").string();
const std::string kReviewsFile = (workshop() / "reviews.csv").string();

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

void expect_refusal(const std::string& fragment, const Words& words, const fs::path& folder,
                    int code = 1) {
  const Ending ending = run_hone(words, folder);
  EXPECT_EQ(ending.code, code) << ending.messages;
  EXPECT_NE(ending.messages.find(fragment), std::string::npos)
      << "expected '" << fragment << "' in " << ending.messages;
}

TEST(SmallerShapes, TrimmedAndPackedAModelIsSmallInMemoryAndOnDisk) {
  const TemporaryFolder folder;
  const Json trimmed =
      run_json({"trim", kModel, "--data", kReviewsFile, "-o", "trimmed"}, folder.path());
  const Json& tokens = trimmed["vocabulary"];
  EXPECT_LT(tokens["tokens"], tokens["tokens_before"]);
  EXPECT_GE(tokens["tokens"].get<int>(), tokens["lasting"].get<int>());
  const std::int64_t gone =
      (tokens["tokens_before"].get<std::int64_t>() - tokens["tokens"].get<std::int64_t>()) * 128;
  EXPECT_EQ(trimmed["size_before"]["parameters"].get<std::int64_t>() - gone,
            trimmed["size"]["parameters"]);
  EXPECT_EQ(trimmed["size"]["disk_bytes"],
            fs::file_size(folder.path() / "trimmed/model.safetensors"));
  // Texts of the training split have the same tokens, so their logits do not change.
  for (const std::string text : {"a dull and slow film", "good"})
    EXPECT_EQ(run_json({"predict", "trimmed", text}, folder.path())["logits"],
              run_json({"predict", kModel, text}, folder.path())["logits"]);
  const std::string card = read_file(folder.path() / "trimmed/README.md");
  for (const char* fragment : {"library_name: transformers\n", "| before | ",
                               " special tokens and single characters, and ",
                               "× smaller). Weights: ", "Latency per example at batch size 1: "})
    EXPECT_NE(card.find(fragment), std::string::npos) << fragment << "\n" << card;
  EXPECT_EQ(card.find("base_model_relation"), std::string::npos) << card;
  run_json({"eval", "trimmed", "--data", kReviewsFile}, folder.path());
  const Json packed = run_json(
      {"pack", "trimmed", "--weight_format", "int(bits=8,per=row)", "-o", "packed"}, folder.path());
  EXPECT_EQ(packed["account"]["disk_bytes"],
            fs::file_size(folder.path() / "packed/parameters.safetensors"));
  EXPECT_LT(packed["account"]["memory_bytes"].get<double>(),
            0.4 * trimmed["size_before"]["memory_bytes"].get<double>());
  expect_refusal("its weights are packed", {"trim", "packed", "--data", kReviewsFile, "-o", "none"},
                 folder.path());
  expect_refusal("(special ones, and single characters that can spell every word), got 3",
                 {"trim", kModel, "--keep_tokens", "3", "--data", kReviewsFile, "-o", "none"},
                 folder.path());
  expect_refusal("all ",
                 {"trim", "trimmed", "--data", kReviewsFile, "--max_drop", "100", "-o", "none"},
                 folder.path());
  expect_refusal("use `hone trim`, which removes tokens with their rows",
                 {"pass", kModel, "trim_vocabulary", "rows=10", "-o", "none"}, folder.path());
}

TEST(SmallerShapes, WholeHeadsAndNeuronsGoAndTheModelTrainsOn) {
  const TemporaryFolder folder;
  const Words prune = {"prune", kModel, "--data", kReviewsFile, "--structure"};
  const Json pruned = run_json(
      with(prune, {"heads,neurons", "--method", "first_order", "--max_steps", "3", "-o", "pruned"}),
      folder.path());
  EXPECT_EQ(pruned["pruning"], "prune_structure(method=\"first_order\")");
  EXPECT_EQ(pruned["steps"], 3);
  for (const Json& group : pruned["units"])
    EXPECT_EQ(2 * group["after"].get<int>(), group["before"]);
  // In each of two layers a head (64 rows of query, key and value with biases, 64 columns of the output) and half of
  // the neurons.
  EXPECT_EQ(
      pruned["size_before"]["parameters"].get<int>() - pruned["size"]["parameters"].get<int>(),
      2 * (4 * 64 * 128 + 3 * 64 + 2 * 256 * 128 + 256));
  const std::string card = read_file(folder.path() / "pruned/README.md");
  for (const char* fragment :
       {"library_name: hone\n", "- Kept: 2 of 4 heads, 512 of 1,024 neurons.\n",
        "× smaller). Weights: ", "Latency per example at batch size ",
        "- Only hone loads it: layer 0 has 1 head of 64 instead of 2, layer 1 has 1 "
        "head of 64 instead of 2, which the config of transformers cannot express.\n"})
    EXPECT_NE(card.find(fragment), std::string::npos) << fragment << "\n" << card;
  EXPECT_EQ(card.find("for its zeros"), std::string::npos) << card;
  const std::string report = read_file(folder.path() / "pruned/report.md");
  for (const char* next :
       {"\nhone compare ", " --max_drop 1\n", "\nhone quantize pruned --native "})
    EXPECT_NE(report.find(next), std::string::npos) << next << "\n" << report;
  // A repeated run gives the same bits.
  run_json(with(prune, {"heads,neurons", "--method", "first_order", "--max_steps", "3", "-o",
                        "again", "--threads", "1"}),
           folder.path());
  EXPECT_EQ(read_file(folder.path() / "pruned/parameters.safetensors"),
            read_file(folder.path() / "again/parameters.safetensors"));
  // The smaller model can be quantized natively and trained with adapters.
  run_json({"quantize", "pruned", "--native", "int(bits=8,per=row)", "--keep_slower", "--data",
            kReviewsFile, "-o", "native"},
           folder.path());
  run_json({"train", "pruned", "--lora", "r=2", "--data", kReviewsFile, "--max_steps", "4", "--lr",
            "1e-2", "-o", "adapter"},
           folder.path());
  run_json({"lora", "merge", "pruned", "--adapter", "adapter", "-o", "merged"}, folder.path());
  const auto logits = [&](const Words& model) {
    return run_json(with(with({"predict"}, model), {"a dull film"}), folder.path())["logits"]
        .get<std::vector<double>>();
  };
  const std::vector<double> beside = logits({"pruned", "--adapter", "adapter"}),
                            merged = logits({"merged"}), alone = logits({"pruned"});
  for (std::size_t i = 0; i < beside.size(); ++i) {
    EXPECT_NEAR(beside[i], merged[i], 1e-6 * std::max(1.0, std::fabs(beside[i])));
    EXPECT_NE(beside[i], alone[i]);
  }
}

TEST(SmallerShapes, LayersAndNeuronsLeaveAModelOfAPlainConfig) {
  const TemporaryFolder folder;
  const Words prune = {"prune", kModel, "--data", kReviewsFile, "--structure"};
  const Json pruned = run_json(with(prune, {"layers,neurons", "-o", "pruned"}), folder.path());
  EXPECT_EQ(pruned["pruning"], "drop_layers(keep=1); prune_structure(structure=\"neurons\")");
  const Json config = read_json(folder.path() / "pruned/config.json");
  EXPECT_EQ(config["num_hidden_layers"], 1);
  EXPECT_EQ(config["intermediate_size"], 256);
  EXPECT_FALSE(fs::exists(folder.path() / "pruned/graph.hone"));
  EXPECT_TRUE(fs::exists(folder.path() / "pruned/model.safetensors"));
  const auto refuse = [&](const std::string& fragment, const Words& words) {
    expect_refusal(fragment, with(prune, with(words, {"-o", "none"})), folder.path(), 2);
  };
  refuse("some of heads, neurons and layers, each once", {"heads,rows"});
  refuse("--mode prunes single weights", {"heads", "--mode", "mase"});
  refuse("supports --method l1, l2 and first_order", {"heads", "--method", "random"});
  refuse("supports --method l1, l2 and first_order", {"heads", "--method", "sparsegpt"});
  refuse("layers are removed at equal distances", {"layers", "--scope", "global"});
  refuse("chooses heads and neurons", {"weights", "--method", "l2"});
  expect_refusal("--sparsity: expected a share from 0 to below 1",
                 with(prune, {"heads", "--sparsity", "1", "-o", "none"}), folder.path(), 2);
  run_json({"quantize", kModel, "--format", "bf16", "--data", kReviewsFile, "-o", "rounded"},
           folder.path());
  expect_refusal("rounded: it is already quantized",
                 {"prune", "rounded", "--structure", "heads", "--data", kReviewsFile, "-o", "none"},
                 folder.path());
}

// Training continues from the remaining unrounded weights.
TEST(SmallerShapes, LayersAndTokensGoFromUnroundedWeightsToo) {
  const TemporaryFolder folder;
  const auto unrounded = [&](const std::string& model) {
    return read_safetensors(folder.path() / model / "unrounded.safetensors").tensors;
  };
  write_file(folder.path() / "recipe.toml",
             "default = 'integer(width=6,frac=4)'\n"
             "[[rule]]\nop = 'embedding'\nweight = 'integer(width=6,frac=4)'\n");
  run_json({"quantize", kModel, "--recipe", "recipe.toml", "--qat", "--max_steps", "2", "--lr",
            "1e-3", "--data", kReviewsFile, "-o", "qat"},
           folder.path());
  const auto before = unrounded("qat");
  const std::string table = "bert.embeddings.word_embeddings.weight",
                    first = "bert.encoder.layer.0.intermediate.dense.weight",
                    second = "bert.encoder.layer.1.intermediate.dense.weight";

  run_json({"prune", "qat", "--structure", "layers", "--data", kReviewsFile, "-o", "shallow"},
           folder.path());
  const auto shallow = unrounded("shallow");
  EXPECT_EQ(shallow.count(second), 0);
  EXPECT_TRUE(
      std::ranges::equal(shallow.at(first).values<float>(), before.at(first).values<float>()));
  const Json trained = run_json({"prune", "qat", "--structure", "layers", "--max_steps", "2",
                                 "--data", kReviewsFile, "-o", "trained"},
                                folder.path());
  EXPECT_EQ(trained["arithmetic"], "simulated");
  EXPECT_EQ(trained["format"], "integer(width=6,frac=4)");
  EXPECT_NE(read_page(folder.path() / "trained/report.html").find("Both models are quantized"),
            std::string::npos);
  EXPECT_EQ(unrounded("trained").count(first), 1);

  run_json({"trim", "qat", "--data", kReviewsFile, "-o", "trimmed"}, folder.path());
  const auto trimmed = unrounded("trimmed");
  EXPECT_LT(trimmed.at(table).size(0), before.at(table).size(0));
  EXPECT_TRUE(std::ranges::equal(trimmed.at(table).slice(0, 0, 1).values<float>(),
                                 before.at(table).slice(0, 0, 1).values<float>()));
  EXPECT_TRUE(
      std::ranges::equal(trimmed.at(second).values<float>(), before.at(second).values<float>()));
  run_json({"train", "trimmed", "--max_steps", "1", "--data", kReviewsFile, "-o", "on"},
           folder.path());
}

// Returns the index of the first token that `hone trim` removes.
std::int64_t first_token_that_goes(const fs::path& before, const fs::path& after) {
  const std::vector<std::string> tokens = split(read_file(before / "vocab.txt"), '\n'),
                                 kept = split(read_file(after / "vocab.txt"), '\n');
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (kept[i] != tokens[i]) return static_cast<std::int64_t>(i);
  return std::ssize(kept);
}

// A scale shared by all rows is recomputed from the remaining ones, so that the stored table equals the computed one.
TEST(SmallerShapes, ATableOfOneScaleIsRoundedByTheRowsThatStay) {
  const TemporaryFolder folder;
  const std::string table = "bert.embeddings.word_embeddings.weight";
  const auto stored = [&](const std::string& model) {
    return read_safetensors(folder.path() / model / "model.safetensors").tensors;
  };
  run_json({"trim", kModel, "--data", kReviewsFile, "-o", "plain"}, folder.path());
  // The row with the largest value is removed.
  fs::copy(kModel, folder.path() / "model", fs::copy_options::recursive);
  TensorMap tensors = stored("model");
  std::vector<float> values(tensors.at(table).values<float>().begin(),
                            tensors.at(table).values<float>().end());
  values[static_cast<std::size_t>(128 * first_token_that_goes(kModel, folder.path() / "plain"))] =
      9;
  tensors[table] = Tensor::of<float>(tensors.at(table).sizes(), values);
  write_safetensors(folder.path() / "model/model.safetensors", tensors, {});
  write_file(folder.path() / "recipe.toml",
             "default = 'none'\n"
             "[[rule]]\nop = 'embedding'\nweight = 'int(bits=4,scale=dynamic)'\n");
  run_json({"quantize", "model", "--recipe", "recipe.toml", "--qat", "--max_steps", "1", "--data",
            kReviewsFile, "-o", "qat"},
           folder.path());
  run_json({"trim", "qat", "--data", kReviewsFile, "-o", "trimmed"}, folder.path());
  run_json({"pack", "trimmed", "-o", "packed"}, folder.path());
  run_json({"unpack", "packed", "-o", "unpacked"}, folder.path());
  const Tensor rounded = stored("trimmed").at(table), again = stored("unpacked").at(table);
  EXPECT_TRUE(std::ranges::equal(rounded.values<float>(), again.values<float>()));
  const auto largest = [](const Tensor& tensor) {
    return std::ranges::max(tensor.values<float>(), {}, [](float x) { return std::fabs(x); });
  };
  EXPECT_GT(std::fabs(largest(rounded)), 0) << "by the scale of the row that is gone all were 0";
}

Words shrinking(const std::string& model, const std::string& structure, const std::string& steps,
                const std::string& output) {
  return {"prune",        model, "--structure",  structure, "--data", kReviewsFile,
          "--max_steps",  steps, "--save_steps", "2",       "--lr",   "1e-3",
          "--batch_size", "4",   "--quiet",      "-o",      output};
}

std::string weights_of(const fs::path& model) {
  const fs::path own = model / "parameters.safetensors";
  return read_file(fs::exists(own) ? own : model / "model.safetensors");
}

TEST(SmallerShapes, AfterAKillGivesTheSameBits) {
  const TemporaryFolder folder;
  run_json({"quantize", kModel, "--weight_format", "int(bits=4,per=row)", "--qat", "--max_steps",
            "2", "--data", kReviewsFile, "-o", "qat"},
           folder.path());
  // Heads and neurons ranked by the loss, and layers of a model trained through quantizers.
  for (const auto& [model, structure] :
       {std::pair<std::string, std::string>(kModel, "heads,neurons"), {"qat", "layers"}}) {
    run_well(shrinking(model, structure, "12", structure + "-whole"), folder.path());
    const std::string name = structure + "-killed";
    const Ending ending = run_hone_until(
        shrinking(model, structure, "12", name), folder.path(), SIGKILL,
        [&] { return fs::exists(folder.path() / (name + ".partial/checkpoint-4")); });
    if (ending.code != 0)
      run_well(with(shrinking(model, structure, "12", name), {"--resume"}), folder.path());
    EXPECT_TRUE(weights_of(folder.path() / name) ==
                weights_of(folder.path() / (structure + "-whole")))
        << structure;
  }
  EXPECT_TRUE(read_file(folder.path() / "layers-killed/unrounded.safetensors") ==
              read_file(folder.path() / "layers-whole/unrounded.safetensors"));
}

// 50 kills at random moments, in as many runs as needed.
TEST(SmallerShapes, LongManyKillsGiveTheSameBits) {
  const TemporaryFolder folder;
  const auto command = [](const std::string& output) {
    return with(shrinking(kModel, "heads,neurons,layers", "150", output),
                {"--method", "first_order"});
  };
  run_well(command("whole"), folder.path());
  expect_same_after_kills(50, folder.path(), command, [&](const std::string& name) {
    return weights_of(folder.path() / name) == weights_of(folder.path() / "whole");
  });
}

}  // namespace
}  // namespace hone::testing
