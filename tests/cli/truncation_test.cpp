#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "hone/base/json.h"
#include "tests/cli/run_hone.h"

// Tests that the truncation of long texts can be chosen and is stored in models.
namespace hone::testing {
namespace {

using Words = std::vector<std::string>;

class TruncationOption : public ::testing::Test {
 protected:
  TruncationOption() {
    std::string rows = "text,label\n";
    for (int i = 0; i < 40; ++i)
      rows += fmt::format("one two three four five six seven {}, {}\n", i % 2 ? "eight" : "nine",
                          i % 2 ? "good" : "bad");
    folder_.file("texts.csv", rows);
    train("model", {"tiny"});
  }
  Ending train(const std::string& out, Words words) const {
    words.insert(words.begin(), "train");
    words.insert(words.end(),
                 {"--data", "texts.csv", "--max_steps", "2", "--max_seq_length", "6", "-o", out});
    return run_well(words, path());
  }
  // Returns the tokens of the first text without the special ones.
  std::string kept(const std::string& model, Words more = {}) const {
    more.insert(more.begin(), {"tokenize", model, "--data", "texts.csv", "--max_seq_length", "6"});
    const Words tokens = run_json(more, path())["texts"][0]["tokens"];
    return fmt::format("{}", fmt::join(tokens.begin() + 1, tokens.end() - 1, " "));
  }
  Json config(const std::string& model) const {
    return read_json(path() / model / "tokenizer_config.json");
  }
  const fs::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

constexpr const char *kHead = "one two three four", *kTail = "five six seven nine",
                     *kHeadTail = "one six seven nine";

TEST_F(TruncationOption, IsThatOfTheOptionOrOfTheModel) {
  EXPECT_EQ(kept("model"), kHead);
  EXPECT_EQ(kept("model", {"--truncation", "tail"}), kTail);
  EXPECT_EQ(kept("model", {"--truncation", "head_tail"}), kHeadTail);
  EXPECT_EQ(kept("tiny", {"--truncation", "tail"}), kTail);
  const Ending ending =
      run_hone({"eval", "model", "--data", "texts.csv", "--truncation", "end"}, path());
  EXPECT_EQ(ending.code, 2);
  EXPECT_NE(ending.messages.find("--truncation: expected head, tail or head_tail, got 'end'"),
            std::string::npos)
      << ending.messages;
}

TEST_F(TruncationOption, OfATrainingStaysWithItsModel) {
  const Ending fresh = train("fresh", {"tiny", "--truncation", "tail"});
  EXPECT_NE(fresh.messages.find("texts were truncated to 6 tokens (the last ones)"),
            std::string::npos)
      << fresh.messages;
  EXPECT_EQ(config("fresh")["truncation_side"], "left");
  EXPECT_EQ(kept("fresh"), kTail);
  const auto card = [&](const char* model) { return read_file(path() / model / "README.md"); };
  EXPECT_NE(card("fresh").find("more than 6 tokens are truncated: it reads the last tokens"),
            std::string::npos)
      << card("fresh");
  const Ending both = train("both", {"fresh", "--truncation", "head_tail"});
  EXPECT_NE(both.messages.find("warning: --truncation head_tail: "), std::string::npos)
      << both.messages;
  EXPECT_NE(card("both").find("no truncation like head_tail"), std::string::npos) << card("both");
  EXPECT_EQ(config("both")["hone_truncation"], "head_tail");
  EXPECT_EQ(kept("both"), kHeadTail);
  EXPECT_EQ(kept("both", {"--truncation", "head"}), kHead);
  train("again", {"both", "--truncation", "head"});
  EXPECT_EQ(config("again")["truncation_side"], "right");
  EXPECT_FALSE(config("again").contains("hone_truncation"));
  EXPECT_EQ(kept("again"), kHead);
  EXPECT_EQ(run_json({"inspect", "both"}, path())["limits"]["truncation"], "head_tail");
  // Quantizing truncates texts as the model's config says, and copies the setting.
  run_well({"quantize", "both", "--format", "integer(width=8,frac=4)", "--data", "texts.csv",
            "--max_seq_length", "6", "-o", "copy"},
           path());
  EXPECT_EQ(kept("copy"), kHeadTail);
}

TEST_F(TruncationOption, OfAnAdapterIsThatOfItsTraining) {
  train("adapter", {"model", "--lora", "r=2", "--truncation", "tail"});
  const Words predict = {"predict", "model", "--data", "texts.csv", "--max_seq_length", "6"};
  const auto messages = [&](const Words& more) {
    Words words = predict;
    words.insert(words.end(), more.begin(), more.end());
    return run_well(words, path()).messages;
  };
  EXPECT_NE(messages({}).find("were truncated to 6 tokens\n"), std::string::npos) << messages({});
  EXPECT_NE(messages({"--adapter", "adapter"}).find("were truncated to 6 tokens (the last ones)\n"),
            std::string::npos);
  run_well({"lora", "merge", "model", "--adapter", "adapter", "-o", "merged"}, path());
  EXPECT_EQ(kept("merged"), kTail);
}

}  // namespace
}  // namespace hone::testing
