#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "hone/base/text.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

// What the README tells newcomers to type, typed.
namespace hone::testing {
namespace {

std::string readme() { return read_file(test_data().parent_path() / "README.md"); }

// The arguments of the lines of the README's ```sh blocks that begin with "hone ", in their order.
std::vector<std::vector<std::string>> command_lines() {
  std::vector<std::vector<std::string>> lines;
  bool shell = false;
  for (const std::string& line : split(readme(), '\n')) {
    if (line.starts_with("```")) shell = line == "```sh";
    if (!shell || !line.starts_with("hone ")) continue;
    std::vector<std::string> words = shell_words(line);
    words.erase(words.begin());
    lines.push_back(words);
  }
  return lines;
}

TEST(Readme, ShowsTheWholeWay) {
  std::set<std::string> shown;
  for (const auto& line : command_lines()) shown.insert(line.front());
  for (const char* command : {"train", "eval", "quantize", "predict", "inspect", "draw", "bench"})
    EXPECT_TRUE(shown.contains(command)) << command;
}

TEST(Readme, NamesCommandsThatExist) {
  const std::string text = readme();
  const std::regex mention("`hone ([a-z]+)");
  std::set<std::string> names;
  for (std::sregex_iterator it(text.begin(), text.end(), mention), end; it != end; ++it)
    names.insert((*it)[1]);
  for (const auto& line : command_lines()) names.insert(line.front());
  for (const std::string& name : names) run_well({name, "--help"}, fs::temp_directory_path());
}

TEST(Readme, UsesFlagsThatExist) {
  for (const auto& line : command_lines()) {
    const std::string help =
        run_well({line.front(), "--help-all"}, fs::temp_directory_path()).output;
    for (const std::string& word : line) {
      if (!word.starts_with("-")) continue;
      const std::regex flag("(^|[ ,])" + word + "[ ,\n]");
      EXPECT_TRUE(std::regex_search(help, flag)) << line.front() << " " << word << "\n" << help;
    }
  }
}

// Tables of the guide for those who come from other programs, where "not yet" must stay honest.
TEST(FromMase, NamesCommandsAndFlagsThatExist) {
  const std::string text = read_file(test_data().parent_path() / "docs/from-mase.md");
  std::string help;
  for (const std::string& name : command_names())
    help += run_well({name, "--help-all"}, fs::temp_directory_path()).output;
  const auto all = [&](const std::string& pattern) {
    const std::regex regex(pattern);
    return std::set<std::string>(std::sregex_token_iterator(text.begin(), text.end(), regex, 1),
                                 std::sregex_token_iterator());
  };
  const std::vector<std::string> names = command_names();
  for (const std::string& name : all("(?:`|\n)hone ([a-z]+)"))
    EXPECT_NE(std::ranges::find(names, name), names.end()) << name;
  const std::set<std::string> flags = all("(--[a-z_]+)");
  EXPECT_GT(flags.size(), 20);
  for (const std::string& flag : flags)
    EXPECT_TRUE(std::regex_search(help, std::regex(flag + "[ ,\n]"))) << flag;
}

TEST(Readme, LongEveryCommandOfTheReadmeRuns) {
  const TemporaryFolder folder;
  ::setenv("XDG_CACHE_HOME", (folder.path() / "cache").c_str(), 1);
  fs::create_directory_symlink(test_data().parent_path() / "examples", folder.path() / "examples");
  for (const auto& line : command_lines()) run_well(line, folder.path());
}

}  // namespace
}  // namespace hone::testing
