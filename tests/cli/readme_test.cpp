#include <gtest/gtest.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "hone/base/text.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

// Runs the commands of the README.
namespace hone::testing {
namespace {

fs::path project() { return test_data().parent_path(); }

std::string readme() { return read_file(project() / "README.md"); }

// Returns the arguments of each line in ```sh blocks that begins with "hone ", in order. A line may continue after a
// backslash and end in a comment.
std::vector<std::vector<std::string>> command_lines(const std::string& page) {
  std::vector<std::vector<std::string>> lines;
  bool shell = false;
  std::string whole;
  for (const std::string& line : split(page, '\n')) {
    if (line.starts_with("```")) shell = line == "```sh";
    whole += line;
    if (shell && whole.ends_with("\\")) {
      whole.pop_back();
      continue;
    }
    const std::string command = whole.substr(0, whole.find(" #"));
    whole.clear();
    if (!shell || !command.starts_with("hone ")) continue;
    std::vector<std::string> words = shell_words(command);
    words.erase(words.begin());
    words.erase(std::ranges::find_if(
                    words, [](const std::string& word) { return word == "|" || word == ">"; }),
                words.end());
    if (words.front().starts_with("-")) continue;
    lines.push_back(words);
  }
  return lines;
}

std::vector<fs::path> pages() {
  std::vector<fs::path> found = {project() / "README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(project() / "docs"))
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  return found;
}

const std::string& help_of(std::vector<std::string> words) {
  static std::map<std::vector<std::string>, std::string> known;
  std::string& help = known[words];
  words.emplace_back("--help-all");
  if (help.empty()) help = run_well(words, fs::temp_directory_path()).output;
  return help;
}

// Returns whether the help of a command, or of the subcommand named by its first argument, lists the option.
bool has_option(const std::vector<std::string>& line, const std::string& option) {
  std::vector<std::string> words = {line.front()};
  if (line.size() > 1 && !line[1].starts_with("-")) words.push_back(line[1]);
  return std::regex_search(help_of(words), std::regex("(^|[ ,])" + option + "[ ,\n]"));
}

// Returns 6,000 short tickets of two teams.
std::string tickets() {
  std::string text = "body,team\n";
  const std::vector<std::string> sales = {"price", "offer", "discount", "contract", "quote"};
  const std::vector<std::string> support = {"broken", "crash", "error", "slow", "password"};
  for (std::size_t i = 0; i < 6000; ++i) {
    const std::vector<std::string>& words = i % 2 == 0 ? sales : support;
    text += fmt::format("\"{} and {}, case {}\",{}\n", words[i % 5], words[(i / 5) % 5], i,
                        i % 2 == 0 ? "sales" : "support");
  }
  return text;
}

TEST(Readme, IsShort) {
  const std::string text = readme();
  EXPECT_LE(split(text, '\n').size(), 200u);
  std::istringstream words(text);
  EXPECT_LE(std::distance(std::istream_iterator<std::string>(words), {}), 1300);
}

TEST(Readme, ShowsTheWholeWay) {
  std::set<std::string> shown;
  for (const auto& line : command_lines(readme())) shown.insert(line.front());
  for (const char* command : {"train", "eval", "shrink", "predict", "quantize", "prune", "compare"})
    EXPECT_TRUE(shown.contains(command)) << command;
}

TEST(Pages, NameCommandsThatExist) {
  const std::vector<std::string> names = command_names();
  const std::regex mention("`hone ([a-z][a-z-]+)");
  for (const fs::path& page : pages()) {
    const std::string text = read_file(page);
    for (std::sregex_iterator it(text.begin(), text.end(), mention), end; it != end; ++it)
      EXPECT_NE(std::ranges::find(names, (*it)[1].str()), names.end()) << page << " " << it->str();
  }
}

TEST(Pages, UseOptionsThatExist) {
  int lines = 0;
  for (const fs::path& page : pages())
    for (const auto& line : command_lines(read_file(page))) {
      ++lines;
      for (const std::string& word : line) {
        if (!word.starts_with("--") && !(word.size() == 2 && word[0] == '-')) continue;
        EXPECT_TRUE(has_option(line, word.substr(0, word.find('='))))
            << page << ": hone " << line.front() << " " << word;
      }
    }
  EXPECT_GT(lines, 100);
}

TEST(Pages, LinkToFilesThatExist) {
  const std::regex link("\\]\\(([^)#: ]+)(#[^)]*)?\\)|src(?:set)?=\"([^\":]+)\"");
  for (const fs::path& page : pages()) {
    const std::string text = read_file(page);
    for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it) {
      const std::string target = (*it)[1].matched ? (*it)[1] : (*it)[3];
      EXPECT_TRUE(fs::exists(page.parent_path() / target)) << page << " " << target;
    }
  }
}

TEST(Pages, AreInTheNavigationOfTheSite) {
  const std::string navigation = read_file(project() / "mkdocs.yml");
  for (const fs::path& page : pages()) {
    const fs::path name = page.lexically_relative(project() / "docs");
    if (page.filename() == "README.md") continue;
    EXPECT_NE(navigation.find(name.string()), std::string::npos) << name;
  }
}

TEST(Pages, CommandsAreThoseOfTheProgram) {
  EXPECT_EQ(read_file(project() / "docs/reference/commands.md"),
            run_well({"man", "--markdown"}, fs::temp_directory_path()).output)
      << "build/bin/hone man --markdown > docs/reference/commands.md";
}

TEST(Pages, OfMaseNameOptionsThatExist) {
  const std::string text = read_file(project() / "docs/guides/from-mase.md");
  std::string help;
  for (const std::string& name : command_names()) help += help_of({name});
  const std::regex option("(--[a-z_]+)");
  std::set<std::string> options(std::sregex_token_iterator(text.begin(), text.end(), option, 1),
                                {});
  options.erase("--help");
  EXPECT_GT(options.size(), 20u);
  for (const std::string& one : options)
    EXPECT_TRUE(std::regex_search(help, std::regex(one + "[ ,\n]"))) << one;
}

TEST(Readme, LongEveryCommandOfTheReadmeRuns) {
  const TemporaryFolder folder;
  ::setenv("XDG_CACHE_HOME", (folder.path() / "cache").c_str(), 1);
  fs::create_directory_symlink(project() / "examples", folder.path() / "examples");
  folder.file("tickets.csv", tickets());
  for (const auto& line : command_lines(readme())) {
    const Ending ending = run_hone(line, folder.path());
    // The test split may not confirm the choice made on validation, which is a valid result.
    const bool may_fail = line.front() == "shrink" && ending.code == 3;
    EXPECT_TRUE(ending.code == 0 || may_fail)
        << fmt::format("{}", fmt::join(line, " ")) << ending.messages;
  }
}

}  // namespace
}  // namespace hone::testing
