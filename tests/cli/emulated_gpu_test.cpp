#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

// Tests that run commands with --device cuda on the emulated GPU (tests/cuda/emulated) and compare them with the CPU.
// The host compiler builds libraries from the kernels, which takes minutes in a fresh build folder.
namespace hone::testing {
namespace {

using Words = std::vector<std::string>;

/// Makes the started programs load the emulated driver, NVRTC and cuBLASLt.
class LongEmulatedGpu : public ::testing::Test {
 protected:
  LongEmulatedGpu() {
    const fs::path libraries = HONE_EMULATED_GPU;
    for (const auto& [name, value] :
         std::map<std::string, std::string>{{"LD_LIBRARY_PATH", libraries.string()},
                                            {"HONE_EMULATED", (libraries / "kept").string()},
                                            {"HONE_EMULATION", HONE_EMULATION},
                                            {"XDG_CACHE_HOME", (libraries / "cache").string()}}) {
      const char* const set = std::getenv(name.c_str());
      before_[name] = set == nullptr ? "" : set;
      ::setenv(name.c_str(), value.c_str(), 1);
    }
    folder_.file("config.json",
                 R"({"model_type": "bert", "hidden_size": 16, "num_hidden_layers": 2,
                     "num_attention_heads": 2, "intermediate_size": 32,
                     "max_position_embeddings": 32})");
    std::string rows = "text,label\n";
    for (int i = 0; i < 40; ++i)
      rows +=
          fmt::format("\"film {}, {}\",{}\n", i, i % 2 ? "fine" : "dull", i % 2 ? "good" : "bad");
    folder_.file("reviews.csv", rows);
    run_well(with({"train", "config.json"}, {"--max_steps", "20", "--lr", "1e-2"}, "model"),
             folder());
  }
  ~LongEmulatedGpu() override {
    for (const auto& [name, value] : before_)
      value.empty() ? ::unsetenv(name.c_str()) : ::setenv(name.c_str(), value.c_str(), 1);
  }

  const fs::path& folder() const { return folder_.path(); }

  static Words with(Words words, const Words& more, const std::string& output) {
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--data", "reviews.csv", "--quiet", "--threads", "1"});
    if (!output.empty()) words.insert(words.end(), {"-o", output});
    return words;
  }

  // Runs a command on the CPU and on the GPU, and returns both results. The folder names contain the device.
  std::pair<Json, Json> both(const Words& words, const Words& more = {}) {
    const std::string name = fmt::format("out-{}", ++outputs_);
    Json results[2];
    for (const bool on_gpu : {false, true}) {
      const char* const device = on_gpu ? "cuda" : "cpu";
      const std::string output = fmt::format("{}-{}", name, device);
      Words all = with(words, more, output);
      all.insert(all.end(), {"--device", device, "--json"});
      const Ending ending = run_hone(all, folder());
      EXPECT_TRUE(ending.code == 0 || ending.code == 3)
          << fmt::format("{}: {}", fmt::join(all, " "), ending.messages);
      EXPECT_EQ(read_json(folder() / output / "settings.json")["device"],
                on_gpu ? "cuda:0, Test GPU, products of fp32 in fp32" : "cpu:0");
      results[on_gpu] = parse_json(ending.output, all[0]);
    }
    return {results[0], results[1]};
  }

 private:
  TemporaryFolder folder_;
  std::map<std::string, std::string> before_;
  int outputs_ = 0;
};

// Expects all evaluation losses in two results to be close, and returns how many there are.
int expect_near_losses(const Json& expected, const Json& got, const std::string& where) {
  // Both compute in fp32 but sum in different orders over a few training steps, and formats may round a value to its
  // neighbour.
  constexpr double kLoss = 2e-2;
  int losses = 0;
  if (expected.is_structured()) {
    EXPECT_EQ(expected.size(), got.size()) << where;
    if (expected.size() != got.size()) return 0;
    auto other = got.begin();
    for (auto one = expected.begin(); one != expected.end(); ++one, ++other) {
      const std::string key = expected.is_object() ? one.key() : "";
      if (key == "eval_loss" && one->is_number()) {
        EXPECT_NEAR(one->get<double>(), other->get<double>(), kLoss) << where;
        ++losses;
      } else {
        losses += expect_near_losses(*one, *other, where + "." + key);
      }
    }
  }
  return losses;
}

TEST_F(LongEmulatedGpu, PrunesTrimsAndMergesAsTheCpuDoes) {
  const Words few = {"--max_steps", "2", "--batch_size", "8"};
  Words movement = {"prune", "model", "--method", "movement", "--schedule", "cubic"};
  movement.insert(movement.end(), few.begin(), few.end());
  Words adapter = {"train", "model", "--lora", "r=2"};
  adapter.insert(adapter.end(), few.begin(), few.end());
  run_well(with(adapter, {}, "adapter"), folder());
  for (const Words& words : {Words{"prune", "model", "--method", "wanda"},
                             {"prune", "model", "--method", "first_order"},
                             {"prune", "model", "--method", "sparsegpt"},
                             movement,
                             {"prune", "model", "--structure", "heads", "--method", "first_order"},
                             {"trim", "model", "--keep_tokens", "40"},
                             {"lora", "merge", "model", "--adapter", "adapter"}}) {
    const auto [expected, got] = both(words);
    const std::string name = fmt::format("{}", fmt::join(words, " "));
    EXPECT_GT(expect_near_losses(expected["before"], got["before"], name), 0) << name;
    EXPECT_GT(expect_near_losses(expected["after"], got["after"], name), 0) << name;
  }
}

TEST_F(LongEmulatedGpu, StudiesAsTheCpuDoes) {
  for (const Words& words :
       {Words{"compare", "model", "model"},
        {"choose", "model", "model"},
        {"compare-formats", "model", "--candidate", "int(bits=8)"},
        {"sparsities", "model", "--sparsities", "0.5", "--methods", "l1"},
        {"widths", "model", "--widths", "8.4", "--max_steps", "2", "--batch_size", "8"}}) {
    const auto [expected, got] = both(words);
    EXPECT_GT(expect_near_losses(expected, got, words[0]), 0) << words[0];
  }
  const auto [expected, got] = both({"sensitivity", "model", "--formats", "int(bits=4)"});
  ASSERT_EQ(got["layers"].size(), expected["layers"].size());
  for (std::size_t i = 0; i < got["layers"].size(); ++i) {
    EXPECT_EQ(got["layers"][i]["layer"], expected["layers"][i]["layer"]);
  }
  both({"statistics", "model"});
}

TEST_F(LongEmulatedGpu, ChoosesAndSearchesAsTheCpuDoes) {
  write_file(folder() / "space.toml", "[training]\nmax_steps = [1, 2]\nbatch_size = 8\n");
  const auto [expected, got] =
      both({"search", "model", "--recipe", "space.toml", "--trials", "2", "--no_cache"});
  EXPECT_EQ(got["trials"], expected["trials"]);
  EXPECT_EQ(got["best"]["parameters"], expected["best"]["parameters"]);
  const auto [bits, bits_there] =
      both({"allocate", "model", "--formats", "int(bits=8),int(bits=2)", "--budget",
            "average_bits<=6", "--candidates", "2", "--swaps", "0", "--no_cache"});
  EXPECT_EQ(bits_there["average_bits"], bits["average_bits"]);
  both({"shrink", "model", "--only", "quantize", "--budget", "2m", "--max_evaluations", "1",
        "--no_cache"});
}

// tests/jobs/execution_mode_test.cpp and tests/cuda check the results of each executor.
TEST_F(LongEmulatedGpu, RunsEveryExecutorThatItHas) {
  for (const Words& what : {Words{}, {"--train"}}) {
    Words words = {"bench",        "config.json", "--batch_size", "2",    "--tokens",  "8",
                   "--iterations", "6",           "--process",    "warm", "--threads", "1",
                   "--device",     "cuda"};
    words.insert(words.end(), what.begin(), what.end());
    const Json times = run_json(words, folder());
    Words names;
    for (const Json& executor : times["executors"]) names.push_back(executor["executor"]);
    EXPECT_EQ(names, (Words{"eager", "interpreter", "graph"}));
    EXPECT_EQ(times["not_run"][0]["executor"], "compiled");
    EXPECT_EQ(times["device"], "cuda:0, Test GPU, products of fp32 in fp32");
  }
}

}  // namespace
}  // namespace hone::testing
