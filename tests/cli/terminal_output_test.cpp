#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "hone/base/text.h"
#include "hone/report/text_layout.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone::testing {
namespace {

/// Returns what `hone ARGUMENTS` prints to both streams on a terminal with `columns` columns, with an environment
/// variable set.
std::string on_terminal(const std::vector<std::string>& arguments, unsigned short columns,
                        const char* variable = "TERM", const char* value = "xterm") {
  winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  int terminal = -1;
  const pid_t process = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (process == 0) {
    ::unsetenv("COLUMNS");
    ::unsetenv("NO_COLOR");
    ::setenv(variable, value, 1);
    std::vector<std::string> words = {HONE_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  std::string shown;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(terminal, buffer, sizeof buffer)) > 0;)
    shown.append(buffer, static_cast<std::size_t>(got));
  int status = 0;
  ::waitpid(process, &status, 0);
  ::close(terminal);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << shown;
  std::erase(shown, '\r');
  return shown;
}

// Returns the lines of `text` that are wider than `columns`, except those of a single word.
std::string too_wide(const std::string& text, std::size_t columns) {
  std::string wide;
  for (const std::string& line : split(text, '\n')) {
    const bool breakable = trim(line).find(' ') != std::string_view::npos;
    if (breakable && display_width(line) > columns) wide += line + "\n";
  }
  return wide;
}

std::size_t occurrences(std::string_view text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(Screen, HelpFitsEveryWidth) {
  std::vector<std::string> names = command_names();
  for (const unsigned short columns : std::initializer_list<unsigned short>{40, 80, 160}) {
    EXPECT_EQ(too_wide(on_terminal({"--help"}, columns), columns), "");
    for (const std::string& name : names)
      for (const char* help : {"--help", "--help-all"})
        EXPECT_EQ(too_wide(on_terminal({name, help}, columns), columns), "") << name;
  }
}

TEST(Screen, TablesAndSentencesFitEveryWidth) {
  const std::vector<std::vector<std::string>> commands = {
      {"formats"},
      {"formats", "int(bits=4)"},
      {"plan", "tiny", "--format", "integer(width=8,frac=4)"},
      {"inspect", "tiny", "--no_graph"},
      {"schema"},
      {"tokenize", "tiny", "--data", "synth:lookup?n=20", "--examples", "2"},
      {"predict", workshop() / "model", "--data", workshop() / "reviews.csv"},
      {"eval", workshop() / "model", "--data", workshop() / "reviews.csv"}};
  for (const auto& command : commands) {
    for (const unsigned short columns : std::initializer_list<unsigned short>{40, 80, 160})
      EXPECT_EQ(too_wide(on_terminal(command, columns), columns), "") << command[0];
  }
}

TEST(Screen, ManyRunsAreATableWhereItFits) {
  const TemporaryFolder folder;
  for (const char* format :
       {"int(bits=2)", "int(bits=3)", "int(bits=4)", "int(bits=5)", "int(bits=6)", "int(bits=8)"})
    run_well({"quantize", workshop() / "model", "--weight_format", format, "--data",
              workshop() / "reviews.csv", "-o", folder.path() / format},
             folder.path());
  const std::vector<std::string> command = {"runs", folder.path()};
  for (const unsigned short columns : std::initializer_list<unsigned short>{80, 160}) {
    const std::string shown = on_terminal(command, columns, "NO_COLOR", "1");
    EXPECT_NE(shown.find("\nFolder"), std::string::npos) << columns << "\n" << shown;
    EXPECT_EQ(too_wide(shown, columns), "");
    for (const char* header : {"Accuracy", "Change (points)", "Predictions changed", "Verdict"})
      EXPECT_LE(occurrences(shown, header), 1) << header << "\n" << shown;
  }
  EXPECT_EQ(too_wide(on_terminal(command, 40, "NO_COLOR", "1"), 40), "");
}

TEST(Screen, ColoursAreForTerminalsThatWantThem) {
  const std::vector<std::string> command = {"inspect", "tiny", "--no_graph"};
  const std::string escape = "\x1b[2m";  // escape sequence of dim headers
  EXPECT_NE(on_terminal(command, 80).find(escape), std::string::npos);
  EXPECT_EQ(on_terminal(command, 80, "NO_COLOR", "1").find(escape), std::string::npos);
  EXPECT_EQ(on_terminal(command, 80, "TERM", "dumb").find(escape), std::string::npos);
  std::vector<std::string> never = command, always = command;
  never.insert(never.end(), {"--color", "never"});
  always.insert(always.end(), {"--color", "always"});
  EXPECT_EQ(on_terminal(never, 80).find(escape), std::string::npos);
  EXPECT_EQ(run_well(command, fs::temp_directory_path()).output.find('\x1b'), std::string::npos);
  EXPECT_NE(run_well(always, fs::temp_directory_path()).output.find(escape), std::string::npos);
}

// Continued lines of a graph are indented further. A name that does not fit stays whole, so that it can be copied.
TEST(Screen, GraphsFitEveryWidth) {
  for (const unsigned short columns : std::initializer_list<unsigned short>{40, 80}) {
    const std::string shown = on_terminal({"inspect", "tiny"}, columns);
    EXPECT_EQ(too_wide(shown, columns), "") << columns;
    EXPECT_NE(shown.find("bert.encoder.layer.0.attention.self.query.weight"), std::string::npos);
  }
}

TEST(Screen, PipesGetWholeLines) {
  const std::string output =
      run_well({"plan", "tiny", "--format", "integer(width=8,frac=4)"}, fs::temp_directory_path())
          .output;
  EXPECT_NE(output.find("bert.encoder.layer.0.attention.output.dense"), std::string::npos);
  EXPECT_NE(too_wide(output, 80), "") << "nothing is broken for 80 columns";
}

TEST(Screen, AColourThatThereIsNotIsAnError) {
  const Ending ending = run_hone({"doctor", "--color", "blue"}, fs::temp_directory_path());
  EXPECT_EQ(ending.code, 2);
  EXPECT_NE(ending.messages.find("never"), std::string::npos) << ending.messages;
}

TEST(Screen, AJobIsFinishedAlsoWhereNobodyReadsWhatItSays) {
  const TemporaryFolder folder;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  const pid_t process =
      start_hone({"quantize", workshop() / "model", "--format", "integer(width=8,frac=4)", "--data",
                  workshop() / "reviews.csv", "-o", "out"},
                 folder.path(), {.input = STDIN_FILENO, .output = ends[1], .messages = ends[1]});
  ::close(ends[1]);
  EXPECT_EQ(wait_for(process), 128 + SIGPIPE) << "as of other programs";
  EXPECT_TRUE(path_exists(folder.path() / "out" / "results.json"));
  EXPECT_FALSE(path_exists(folder.path() / "out.partial"));
}

// Scripts must not take it for success, nor people for a bug.
TEST(Screen, AFullStandardOutputIsAnError) {
  const TemporaryFolder folder;
  const fs::path model = workshop() / "model", text = folder.file("one.txt", "a text\n");
  for (const std::string& command :
       {std::string("--help"), std::string("formats"), std::string("formats --json"),
        std::string("schema train"), fmt::format("inspect '{}'", model.string()),
        fmt::format("predict '{}' --data '{}'", model.string(), text.string())}) {
    const fs::path messages = folder.path() / "messages";
    const int status = std::system(
        fmt::format("'{}' {} > /dev/full 2> '{}'", HONE_PROGRAM, command, messages.string())
            .c_str());
    EXPECT_EQ(WEXITSTATUS(status), 1) << command;
    EXPECT_NE(
        read_file(messages).find("error: standard output: cannot write: No space left on device"),
        std::string::npos)
        << command << ": " << read_file(messages);
  }
}

}  // namespace
}  // namespace hone::testing
