#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

// Tests of inputs that are pipes, circular links or folders of seeds, and of diverging training.
namespace hone::testing {
namespace {

using Words = std::vector<std::string>;

class Strangers : public ::testing::Test {
 protected:
  Strangers() { fs::copy(workshop(), folder_.path(), fs::copy_options::recursive); }
  fs::path at(const fs::path& path) const { return folder_.path() / path; }

  // A program that hangs is killed, which gives another exit code.
  void expect_error(const std::string& fragment, const Words& words) const {
    const auto start = std::chrono::steady_clock::now();
    const Ending ending = run_hone_until(words, folder_.path(), SIGKILL, [&] {
      return std::chrono::steady_clock::now() - start > std::chrono::seconds(60);
    });
    EXPECT_EQ(ending.code, 1) << fmt::format("{}", fmt::join(words, " ")) << ending.messages;
    EXPECT_NE(ending.messages.find(fragment), std::string::npos)
        << fmt::format("{}\n", fmt::join(words, " ")) << ending.messages;
    EXPECT_EQ(ending.messages.find("internal error"), std::string::npos) << ending.messages;
  }
  /// Expects `problem` for every file that commands read, each in turn replaced by `make`.
  void expect_of_all(const std::string& problem, void (*make)(const fs::path&)) const {
    const Words eval = {"eval", "model", "--data", "reviews.csv"};
    const auto with = [&](const Words& more) {
      Words words = eval;
      words.insert(words.end(), more.begin(), more.end());
      return words;
    };
    const std::pair<const char*, Words> cases[] = {
        {"reviews.csv", eval},
        {"model/config.json", eval},
        {"model/model.safetensors", eval},
        {"model/vocab.txt", eval},
        {"model/tokenizer_config.json", eval},
        {"model/config.json", {"train", "model", "--data", "reviews.csv", "-o", "new"}},
        {"model/model.safetensors", {"convert", "model", "-o", "new"}},
        {"model/model.safetensors",
         {"formats", "bf16", "--input", "model/model.safetensors", "-o", "new"}},
        {"recipe.toml",
         {"quantize", "model", "--recipe", "recipe.toml", "--data", "reviews.csv", "-o", "new"}},
        {"plugin.so", with({"--plugin", "plugin.so"})},
    };
    for (const auto& [file, words] : cases) {
      const fs::path path = at(file), before = at("before");
      const bool was = fs::exists(path);
      if (was) fs::rename(path, before);
      make(path);
      expect_error(fs::path(file).filename().string() + ": " + problem, words);
      fs::remove(path);
      if (was) fs::rename(before, path);
      EXPECT_FALSE(fs::exists(at("new")));
    }
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Strangers, PipesAreNotWaitedFor) {
  expect_of_all("expected a file, found a pipe",
                [](const fs::path& path) { ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0); });
}

TEST_F(Strangers, LinksInACircleAreSaidToBe) {
  expect_of_all("cannot access: its links form a cycle",
                [](const fs::path& path) { fs::create_symlink(path.filename(), path); });
  fs::create_directory_symlink("circle", at("circle"));
  for (const Words& words :
       {Words{"eval", "circle", "--data", "reviews.csv"},
        Words{"eval", "model", "--data", "circle"}, Words{"eval", "circle/x", "--data", "circle"},
        Words{"train", "model", "--data", "circle/*.csv", "-o", "new"}})
    expect_error("its links form a cycle", words);
  expect_error("circle: is a link that cannot be followed",
               {"train", "model", "--data", "reviews.csv", "-o", "circle"});
}

TEST_F(Strangers, AFolderOfSeedsNamesItsModels) {
  fs::create_directory(at("seeds"));
  fs::copy(at("model"), at("seeds/seed-42"), fs::copy_options::recursive);
  fs::copy(at("model"), at("seeds/seed-43"), fs::copy_options::recursive);
  expect_error(
      "seeds: is a folder with one model per seed; give one of them: seeds/seed-42, "
      "seeds/seed-43",
      {"eval", "seeds", "--data", "reviews.csv"});
}

TEST_F(Strangers, LearningRatesThatDestroyTheModelLeaveNone) {
  // The only loss is computed before the step, so it is finite.
  expect_error("training diverged at step 1: ", {"train", "model", "--data", "reviews.csv",
                                                 "--max_steps", "1", "--lr", "1e39", "-o", "new"});
  expect_error("training diverged at step ", {"train", "model", "--data", "reviews.csv",
                                              "--max_steps", "3", "--lr", "1e38", "-o", "new"});
  // The weights are finite, but the loss is not. The checkpoint is removed.
  expect_error(
      "1: the loss on the validation split is not finite; try a lower --lr than ",
      {"train", "model", "--data", "reviews.csv", "--max_steps", "1", "--lr", "1e37", "-o", "new"});
  EXPECT_EQ(entries(at("")), (Words{"model", "reviews.csv"}));
}

}  // namespace
}  // namespace hone::testing
