#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "hone/base/text.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

// What the README tells newcomers to type, typed.
namespace hone::testing {
namespace {

std::string readme() { return read_file(fs::path(HONE_TEST_DATA).parent_path() / "README.md"); }

// The words of a line as a shell splits it, without expansions: 'a b' and "a b" are one word.
std::vector<std::string> shell_words(std::string_view line) {
  std::vector<std::string> words;
  char quote = 0;
  bool inside = false;
  for (const char c : line) {
    if (quote != 0 ? c == quote : c == '\'' || c == '"') {
      quote = quote != 0 ? '\0' : c;
    } else if (quote == 0 && c == ' ') {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (c != '\'' && c != '"') words.back() += c;
  }
  return words;
}

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
    const std::string help = run_well({line.front(), "--help"}, fs::temp_directory_path()).output;
    for (const std::string& word : line) {
      if (!word.starts_with("-")) continue;
      const std::regex flag("(^|[ ,])" + word + "[ ,\n]");
      EXPECT_TRUE(std::regex_search(help, flag)) << line.front() << " " << word << "\n" << help;
    }
  }
}

TEST(Readme, LongEveryCommandOfTheReadmeRuns) {
  const TemporaryFolder folder;
  for (const auto& line : command_lines()) run_well(line, folder.path());
}

}  // namespace
}  // namespace hone::testing
