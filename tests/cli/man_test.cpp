#include <gtest/gtest.h>

#include "hone/base/process.h"
#include "hone/base/text.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

std::string manual() { return run_well({"man"}, fs::temp_directory_path()).output; }

TEST(Manual, HasEveryCommandOfTheHelp) {
  const std::string text = manual();
  EXPECT_TRUE(text.starts_with(".TH HONE 1 "));
  for (const std::string& command : command_names()) {
    EXPECT_NE(text.find("\n.SS hone " + command), std::string::npos) << command;
  }
  EXPECT_NE(text.find("\n.SS hone lora SUBCOMMAND [options]\n"), std::string::npos);
  EXPECT_NE(text.find("\n.SS hone lora merge MODEL [options]\n"), std::string::npos);
  for (const char* section : {"NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS"})
    EXPECT_NE(text.find(fmt::format("\n.SH {}\n", section)), std::string::npos) << section;
  EXPECT_NE(text.find("\n.TP\n.B \\-\\-learning_rate, \\-\\-lr FLOAT\n"), std::string::npos);
}

// roff treats a line that begins with a dot or an apostrophe as a command.
TEST(Manual, UsesNoOtherMacros) {
  for (const std::string& line : split(manual(), '\n')) {
    EXPECT_FALSE(line.starts_with("'")) << line;
    if (!line.starts_with(".")) continue;
    const std::string macro = line.substr(0, line.find(' '));
    const std::string known[] = {".TH", ".SH", ".SS", ".TP", ".PP",
                                 ".B",  ".I",  ".EX", ".EE", ".br"};
    EXPECT_NE(std::ranges::find(known, macro), std::end(known)) << line;
  }
}

TEST(Manual, IsTypesetWithoutAWarning) {
  const TemporaryFolder folder;
  folder.file("hone.1", manual());
  std::string page;
  try {
    page = run_program({"groff", "-man", "-Tascii", "-wall", "-P-cbou", "hone.1"}, folder.path(),
                       "groff");
  } catch (const UserError& error) {
    GTEST_SKIP() << error.what();
  }
  EXPECT_EQ(page.find("warning: "), std::string::npos) << page.substr(0, 400);
  EXPECT_NE(page.find("hone quantize MODEL [options]"), std::string::npos);
  EXPECT_NE(page.find("--format 'integer(width=8,frac=4)'"), std::string::npos);
}

}  // namespace
}  // namespace hone::testing
