#include <gtest/gtest.h>

#include <sstream>

#include "hone/base/text.h"
#include "tests/cli/run_hone.h"

namespace hone::testing {
namespace {

std::string help_of(const std::string& command) {
  return run_well({command, "--help"}, fs::temp_directory_path()).output;
}

TEST(Help, ListsCommandsThatHelpThemselves) {
  const std::string help = run_well({"--help"}, fs::temp_directory_path()).output;
  int commands = 0;
  for (const std::string& line : split(help, '\n')) {
    std::istringstream words(line);
    std::string name;
    if (!line.starts_with("  ") || !(words >> name)) continue;
    ++commands;
    const std::string own = help_of(name);
    EXPECT_NE(own.find("Example:\n  hone " + name + " "), std::string::npos) << own;
  }
  EXPECT_GE(commands, 9);
}

TEST(Help, IsWhatAnEmptyCommandLineGets) {
  const Ending ending = run_hone({}, fs::temp_directory_path());
  EXPECT_EQ(ending.code, 2);
  EXPECT_EQ(ending.output, "");
  EXPECT_EQ(ending.messages, run_well({"--help"}, fs::temp_directory_path()).output);
}

TEST(Help, ShowsDefaultsAsWords) {
  const std::string help = help_of("train");
  EXPECT_NE(help.find("texts per step (default 8)"), std::string::npos) << help;
  EXPECT_NE(help.find("at the start; falls linearly to 0 (default 5e-05)"), std::string::npos);
  EXPECT_NE(help.find("folder to write (required)"), std::string::npos);
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
