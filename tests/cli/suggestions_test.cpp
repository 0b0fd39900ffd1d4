#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "hone/base/text.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

// Tests of suggestions for misspelled names.
namespace hone::testing {
namespace {

// Returns NAME in "did you mean 'NAME'?".
std::optional<std::string> proposed(const std::string& messages) {
  constexpr std::string_view kQuestion = "did you mean '";
  const std::size_t at = messages.find(kQuestion);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t begin = at + kQuestion.size();
  return messages.substr(begin, messages.find('\'', begin) - begin);
}

// Returns the options in the help of a command.
std::vector<std::string> options_of(const std::string& command) {
  const std::string help = run_well({command, "--help-all"}, fs::temp_directory_path()).output;
  std::vector<std::string> options;
  for (const std::string& line : split(help, '\n')) {
    const std::size_t at = line.find("--");
    if (!line.starts_with("  -") || at == std::string::npos) continue;
    options.push_back(line.substr(at, line.find_first_of(" ,", at) - at));
  }
  return options;
}

class Suggestion : public ::testing::Test {
 protected:
  std::string messages(const std::vector<std::string>& words) const {
    return run_hone(words, folder_.path()).messages;
  }
  /// Expects the suggestion `name` for the command line `words`.
  void expect(const std::optional<std::string>& name, const std::vector<std::string>& words) const {
    const std::string said = messages(words);
    EXPECT_EQ(proposed(said), name) << fmt::format("{}: {}", fmt::join(words, " "), said);
  }
  TemporaryFolder folder_;
};

TEST_F(Suggestion, OfAnOptionIsTakenByTheCommand) {
  int count = 0;
  for (const std::string& command : command_names()) {
    const std::vector<std::string> options = options_of(command);
    for (std::size_t i = 0; i < options.size(); i += 6) {
      const std::string slip = options[i] + "x";
      const std::optional<std::string> name = proposed(messages({command, slip + "=1"}));
      if (!name) continue;  // a required option is missing
      ++count;
      const std::string after = messages({command, *name + "=1"});
      for (const char* refusal : {"unexpected argument", " is an option of ", " requires --"})
        EXPECT_EQ(after.find(refusal), std::string::npos)
            << command << " " << slip << ": " << *name << ": " << after;
    }
  }
  EXPECT_GT(count, 50);
}

TEST_F(Suggestion, OfAnOptionHeedsTheOthersOnTheLine) {
  expect("--split", {"predict", "model", "--data", "texts.csv", "--splt", "all"});
  expect(std::nullopt, {"predict", "model", "text", "--splt", "all"});
  expect("--learning_rate", {"train", "tiny", "--learning_rat", "1"});
  expect(std::nullopt, {"train", "tiny", "--lr", "2", "--learning_rat", "1"});
  expect("--output_dir", {"train", "tiny", "--output", "out"});  // the only option with this prefix
  expect("--tokens", {"bench", "tiny", "--token", "8"});
  expect(std::nullopt, {"bench", "attention", "--token", "8"});
}

TEST_F(Suggestion, OfAPassCanBeApplied) {
  expect("insert_lora", {"pass", "tiny", "insert_lore", "r=4", "-o", "out"});
  expect(std::nullopt, {"pass", "tiny", "fuse_unpac", "-o", "out"});  // a pass that only runs apply
}

TEST_F(Suggestion, OfAStageIsACommandForStages) {
  folder_.file("slip.toml", "[stage.a]\nrun = \"doctr\"\n");
  expect(std::nullopt, {"run", "slip.toml", "--dry_run"});
  folder_.file("slip.toml", "[stage.a]\nrun = \"quantise\"\n");
  expect("quantize", {"run", "slip.toml", "--dry_run"});
}

// Answers to options of other programs name only options that this command has.
TEST_F(Suggestion, InPlaceOfAForeignOptionIsOneOfTheCommand) {
  EXPECT_NE(messages({"train", "tiny", "--fp16"}).find("--precision bf16"), std::string::npos);
  for (const char* command : {"inspect", "tokenize", "runs"}) {
    const std::string said = messages({command, "--fp16"});
    EXPECT_NE(said.find("unexpected argument '--fp16'"), std::string::npos) << said;
    EXPECT_EQ(said.find("--precision"), std::string::npos) << said;
  }
}

TEST_F(Suggestion, OfDataThatStandsAloneNamesItsOption) {
  const std::string said = messages({"train", "tiny", "texts.csv", "-o", "out"});
  EXPECT_NE(said.find("unexpected argument 'texts.csv'; data are given here as --data"),
            std::string::npos)
      << said;
}

TEST_F(Suggestion, RepeatsTheWordAsItWasTyped) {
  const std::string said = messages({"train", "tiny", "--Learning-Rat", "1"});
  EXPECT_NE(said.find("unexpected argument '--Learning-Rat'; did you mean '--learning_rate'?"),
            std::string::npos)
      << said;
}

}  // namespace
}  // namespace hone::testing
