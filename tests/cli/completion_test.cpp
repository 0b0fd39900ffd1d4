#include <gtest/gtest.h>

#include <algorithm>

#include "hone/base/process.h"
#include "hone/base/text.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

std::string script_for(const std::string& shell) {
  return run_well({"completion", shell}, fs::temp_directory_path()).output;
}

/// bash with hone's script, in a folder with files of several kinds.
class BashCompletion : public ::testing::Test {
 protected:
  BashCompletion() {
    folder_.file("completion.bash", script_for("bash"));
    folder_.file("a file.csv", "");
    folder_.file("recipe.toml", "");
    fs::create_directory(folder_.path() / "my-model");
  }
  /// What bash would offer for the last of the words of a line, sorted.
  std::vector<std::string> offers(const std::vector<std::string>& words) const {
    const std::string script =
        "source ./completion.bash\nCOMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1))\n"
        "$(complete -p hone | sed 's/.*-F \\([^ ]*\\).*/\\1/')\nprintf '%s\\n' "
        "\"${COMPREPLY[@]}\"\n";
    std::vector<std::string> command = {"bash", "--norc", "-c", script, "bash"};
    command.insert(command.end(), words.begin(), words.end());
    std::vector<std::string> found =
        split(trim(run_program(command, folder_.path(), "bash")), '\n');
    std::ranges::sort(found);
    return found;
  }
  using Words = std::vector<std::string>;
  TemporaryFolder folder_;
};

TEST_F(BashCompletion, KnowsCommands) {
  EXPECT_EQ(offers({"hone", "qu"}), Words{"quantize"});
  const Words all = offers({"hone", ""});
  for (const char* command : {"train", "doctor", "completion", "--help"})
    EXPECT_TRUE(std::ranges::count(all, command)) << command;
}

TEST_F(BashCompletion, KnowsTheFlagsOfACommand) {
  EXPECT_EQ(offers({"hone", "train", "--learn"}), Words{"--learning_rate"});
  EXPECT_EQ(offers({"hone", "train", "tiny", "--learning-r"}), Words{"--learning_rate"});
  EXPECT_EQ(offers({"hone", "predict", "--learn"}), Words{});
}

TEST_F(BashCompletion, KnowsValues) {
  EXPECT_EQ(offers({"hone", "eval", "my-model", "--split", ""}),
            (Words{"all", "test", "train", "validation"}));
  EXPECT_EQ(offers({"hone", "eval", "my-model", "--split", "=", "v"}), Words{"validation"});
  EXPECT_EQ(offers({"hone", "quantize", "my-model", "--weight-format", "mxi"}),
            (Words{"mxint", "mxint_hardware"}));
  EXPECT_EQ(offers({"hone", "completion", "z"}), Words{"zsh"});
  EXPECT_EQ(offers({"hone", "train", "tiny", "--lr", ""}), Words{});
}

TEST_F(BashCompletion, KnowsFilesAndFolders) {
  EXPECT_EQ(offers({"hone", "quantize", "m"}), Words{"my-model"});
  EXPECT_EQ(offers({"hone", "quantize", "my-model", "--recipe", "r"}), Words{"recipe.toml"});
  EXPECT_EQ(offers({"hone", "train", "tiny", "--data", "a"}), Words{"a file.csv"});
  EXPECT_EQ(offers({"hone", "train", "tiny", "-o", "r"}), Words{}) << "only folders";
}

// bash makes a word of the colon.
TEST_F(BashCompletion, KnowsBuiltInData) {
  EXPECT_EQ(offers({"hone", "train", "tiny", "--data", "synth:ne"}), Words{"synth:negation"});
  EXPECT_EQ(offers({"hone", "train", "tiny", "--data", "synth", ":", "ne"}), Words{"negation"});
  EXPECT_TRUE(
      std::ranges::count(offers({"hone", "train", "tiny", "--data", "synth", ":"}), "tail"));
}

// Their syntax, where they are installed.
TEST(Completion, OfOtherShellsParses) {
  const TemporaryFolder folder;
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    folder.file("script", script_for(shell));
    try {
      run_program({shell, "-c", "true"}, folder.path(), shell);
    } catch (const UserError&) {
      continue;
    }
    EXPECT_EQ(run_program({shell, "-n", "script"}, folder.path(), shell), "") << shell;
  }
}

TEST(Completion, OfOtherShellsHasEveryFlagOfTheHelp) {
  const std::string zsh = script_for("zsh"), fish = script_for("fish");
  EXPECT_TRUE(zsh.starts_with("#compdef hone\n"));
  for (const char* flag : {"learning_rate", "output_dir", "early_stopping_patience"}) {
    EXPECT_NE(zsh.find(fmt::format("'*--{}[", flag)), std::string::npos) << flag;
    EXPECT_NE(fish.find(fmt::format(" -l {} ", flag)), std::string::npos) << flag;
  }
}

TEST(Completion, OfAnUnknownShellNamesTheNearest) {
  const Ending ending = run_hone({"completion", "fihs"}, fs::temp_directory_path());
  EXPECT_EQ(ending.code, 2);
  EXPECT_EQ(
      ending.messages,
      "error: hone completion: expected bash, zsh or fish, got 'fihs'; did you mean 'fish'?\n");
}

}  // namespace
}  // namespace hone::testing
