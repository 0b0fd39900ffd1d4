#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "hone/base/text.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone::testing {
namespace {

std::string help_of(const std::string& command) {
  return run_well({command, "--help"}, fs::temp_directory_path()).output;
}

// Returns the help of a command, or of its subcommand if one is given.
std::string all_help_of(const std::string& command, const std::string& subcommand = "") {
  std::vector<std::string> words = {command, "--help-all"};
  if (!subcommand.empty()) words.insert(words.begin() + 1, subcommand);
  return run_well(words, fs::temp_directory_path()).output;
}

// Returns the example command line in a command's help, whose lines may end in a backslash.
std::vector<std::string> example_of(const std::string& command) {
  const std::string help = help_of(command);
  constexpr std::string_view kTitle = "Example:\n  ";
  const std::size_t begin = help.find(kTitle);
  EXPECT_NE(begin, std::string::npos) << help;
  std::string line;
  for (const std::string& part : split(help.substr(begin + kTitle.size()), '\n')) {
    const bool goes_on = part.ends_with("\\");
    line += part.substr(0, part.size() - (goes_on ? 1 : 0));
    if (!goes_on) break;
  }
  std::vector<std::string> words = shell_words(line);
  // Removes the shell's redirection of the output.
  const auto redirection = std::ranges::find(words, ">");
  words.erase(redirection, words.end());
  return words;
}

TEST(Help, ListsCommandsThatHelpThemselves) {
  const std::vector<std::string> names = command_names();
  EXPECT_GE(names.size(), 17);
  for (const std::string& name : names) {
    const std::vector<std::string> example = example_of(name);
    ASSERT_GE(example.size(), 2) << name;
    EXPECT_EQ(example[0], "hone");
    EXPECT_EQ(example[1], name);
  }
}

TEST(Help, ListsEveryCommandOnALineOfItsOwn) {
  const std::vector<std::string> lines =
      split(run_well({"--help"}, fs::temp_directory_path()).output, '\n');
  EXPECT_LE(lines.size(), 70);
  for (const std::string& line : lines) EXPECT_LE(line.size(), 80) << line;
}

TEST(Help, SummarizesEveryCommandInAtMostTenWords) {
  for (const std::string& name : command_names()) {
    const std::string help = help_of(name);
    const std::string summary = help.substr(0, help.find('\n'));
    EXPECT_LE(std::ranges::count(summary, ' '), 9) << summary;
  }
}

TEST(Help, OfShrinkExplainsTheExitCodeAndTheFolderOfAResultThatIsNotShown) {
  const std::string manual = run_well({"man"}, fs::temp_directory_path()).output;
  const std::string reference = run_well({"man", "--markdown"}, fs::temp_directory_path()).output;
  const std::regex folder("FOLDER/unproven"), code("Exit\\s+code\\s+3:");
  for (const std::string& text : {help_of("shrink"), manual, reference}) {
    EXPECT_TRUE(std::regex_search(text, folder)) << text.substr(0, 400);
    EXPECT_TRUE(std::regex_search(text, code)) << text.substr(0, 400);
  }
}

TEST(Help, ShowsFewOptionsOnOneLineEach) {
  for (const std::string& name : command_names()) {
    int options = 0;
    for (const std::string& line : split(help_of(name), '\n')) {
      EXPECT_LE(line.size(), 80) << name;
      options += line.starts_with("  -");
    }
    EXPECT_LE(options, 22) << name;
  }
}

TEST(Help, ShowsEveryOptionWhenAskedForAll) {
  const std::string common = help_of("train"), all = all_help_of("train");
  EXPECT_EQ(common.find("--adam_beta1"), std::string::npos);
  EXPECT_NE(common.find("--validation_split"), std::string::npos);
  EXPECT_NE(common.find("More options: hone train --help-all"), std::string::npos);
  EXPECT_NE(all.find("--adam_beta1"), std::string::npos);
  EXPECT_EQ(all.find("More options"), std::string::npos);
}

TEST(Help, HasExamplesWithFlagsThatExist) {
  for (const std::string& name : command_names()) {
    const std::vector<std::string> example = example_of(name);
    const std::vector<std::string> subcommands = subcommand_names(name);
    const bool is_of_subcommand =
        example.size() > 2 && std::ranges::find(subcommands, example[2]) != subcommands.end();
    const std::string help = all_help_of(name, is_of_subcommand ? example[2] : "");
    for (const std::string& word : example) {
      if (!word.starts_with("-")) continue;
      EXPECT_TRUE(std::regex_search(help, std::regex("\n  (-., )?([^\n]*, )?" + word + "[ ,\n]")))
          << name << " " << word << "\n"
          << help;
    }
  }
}

TEST(Help, IsNamedToWhoeverMistypesAFlag) {
  for (const std::string& name : command_names()) {
    const Ending ending = run_hone({name, "--hepl"}, fs::temp_directory_path());
    EXPECT_EQ(ending.code, 2) << name;
    EXPECT_EQ(ending.messages,
              fmt::format("error: hone {0}: unexpected argument '--hepl'; did you mean '--help'? "
                          "See `hone {0} --help`\n",
                          name));
  }
}

TEST(Help, OfASubcommandHasItsOwnOptionsAlone) {
  const auto help = [](std::vector<std::string> words) {
    words.emplace_back("--help-all");
    return run_well(words, fs::temp_directory_path()).output;
  };
  const std::string bench = help({"bench"}), linear = help({"bench", "linear"});
  EXPECT_NE(bench.find("\n  hone bench linear "), std::string::npos) << bench;
  EXPECT_NE(bench.find("--batch_size"), std::string::npos) << bench;
  EXPECT_EQ(bench.find("--sparsity"), std::string::npos) << bench;
  EXPECT_NE(linear.find("Usage: hone bench linear [OPTIONS]"), std::string::npos) << linear;
  EXPECT_NE(linear.find("Example:\n  hone bench linear "), std::string::npos) << linear;
  EXPECT_NE(linear.find("--sparsity"), std::string::npos) << linear;
  for (const char* other : {"--batch_size", "--elements", "--dtype", "--iterations"})
    EXPECT_EQ(linear.find(other), std::string::npos) << other << "\n" << linear;
  const std::string manual = run_well({"man"}, fs::temp_directory_path()).output;
  EXPECT_NE(manual.find("\n.SS hone bench linear [options]\n"), std::string::npos);
}

TEST(Help, OfACommandThatNeedsASubcommandListsThem) {
  const std::string lora = all_help_of("lora"), merge = all_help_of("lora", "merge");
  EXPECT_NE(lora.find("Usage: hone lora SUBCOMMAND [OPTIONS]"), std::string::npos) << lora;
  EXPECT_EQ(lora.find("--adapter FOLDER"), std::string::npos) << lora;
  EXPECT_EQ(subcommand_names("lora"), std::vector<std::string>{"merge"});
  EXPECT_NE(merge.find("Usage: hone lora merge MODEL --adapter FOLDER -o FOLDER [OPTIONS]"),
            std::string::npos)
      << merge;
  EXPECT_NE(merge.find("--batch_size"), std::string::npos) << merge;
  EXPECT_EQ(all_help_of("lora", "fold"), lora);
}

TEST(Help, LongExamplesOfSubcommandsOfBenchRun) {
  const TemporaryFolder folder;
  for (const char* name : {"linear", "attention", "dequantize"}) {
    const std::string help = run_well({"bench", name, "--help"}, fs::temp_directory_path()).output;
    const std::size_t begin = help.find("Example:\n  ") + std::string_view("Example:\n  ").size();
    std::vector<std::string> words =
        shell_words(help.substr(begin, help.find('\n', begin) - begin));
    words.erase(words.begin());
    run_well(words, folder.path());
  }
}

// Runs them in the order of a newcomer. Leaves out shrinking, which takes minutes and has its own tests.
TEST(Help, LongEveryExampleRuns) {
  const TemporaryFolder folder;
  const auto run = [&](const std::string& name) {
    std::vector<std::string> words = example_of(name);
    words.erase(words.begin());
    run_well(words, folder.path());
  };
  std::vector<std::string> names = command_names();
  for (const char* first : {"train", "quantize"}) {
    run(first);
    std::erase(names, first);
  }
  std::erase(names, "shrink");
  ::setenv("XDG_CACHE_HOME", (folder.path() / "cache").c_str(), 1);
  fs::copy(test_data().parent_path() / "examples/pipelines/compress.toml", folder.path());
  fs::copy(test_data().parent_path() / "examples/searches/bits.toml", folder.path() / "space.toml");
  fs::create_directory_symlink("my-model", folder.path() / "old-model");
  run_well({"train", "my-model", "--lora", "r=2", "--data", "synth:negation?seed=7&n=300",
            "--max_steps", "1", "-o", "my-adapter"},
           folder.path());
  for (const std::string& name : names) run(name);
}

TEST(Help, IsWhatAnEmptyCommandLineGets) {
  const Ending ending = run_hone({}, fs::temp_directory_path());
  EXPECT_EQ(ending.code, 2);
  EXPECT_EQ(ending.output, "");
  EXPECT_EQ(ending.messages, run_well({"--help"}, fs::temp_directory_path()).output);
}

TEST(Help, ShowsDefaults) {
  const std::string help = all_help_of("train");
  EXPECT_NE(help.find("(default: 8)"), std::string::npos) << help;
  EXPECT_NE(help.find("(default: 5e-05)"), std::string::npos);
  EXPECT_NE(help.find("  --no_shuffle  "), std::string::npos);
  EXPECT_EQ(help.find("[]"), std::string::npos);
}

TEST(Help, VersionIsOneLine) {
  const std::string version = run_well({"--version"}, fs::temp_directory_path()).output;
  EXPECT_TRUE(version.starts_with("hone "));
  EXPECT_EQ(split(version, '\n').size(), 2);  // nothing follows the newline
}

}  // namespace
}  // namespace hone::testing
