#include "hone/base/terminal.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "hone/base/error.h"

namespace hone {
namespace {

/// Sets an environment variable while this object lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value, 1);
  }
  ~Variable() {
    if (before_) {
      ::setenv(name_, before_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// A terminal of 77 columns; `stream` is the program's end of it.
struct Terminal {
  Terminal() {
    winsize size{.ws_row = 24, .ws_col = 77, .ws_xpixel = 0, .ws_ypixel = 0};
    int program = -1;
    EXPECT_EQ(::openpty(&viewer, &program, nullptr, nullptr, &size), 0);
    stream = ::fdopen(program, "w");
  }
  ~Terminal() {
    std::fclose(stream);
    ::close(viewer);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  int viewer = -1;
  std::FILE* stream = nullptr;
};

TEST(TerminalColumns, AreThoseOfTheTerminalOrOfTheEnvironment) {
  const Terminal terminal;
  std::FILE* file = std::tmpfile();
  {
    const Variable nonsense("COLUMNS", "wide");
    EXPECT_EQ(terminal_columns(terminal.stream), 77);
    EXPECT_EQ(terminal_columns(file), 0) << "files have no width";
  }
  const Variable columns("COLUMNS", "40");
  EXPECT_EQ(terminal_columns(terminal.stream), 40);
  EXPECT_EQ(terminal_columns(file), 40) << "who sets it means it";
  std::fclose(file);
}

TEST(WantsColour, OnTerminalsThatHaveSome) {
  const Terminal terminal;
  std::FILE* file = std::tmpfile();
  const Variable usual("TERM", "xterm"), unset("NO_COLOR", "");
  EXPECT_TRUE(wants_colour(terminal.stream, ColourChoice::automatic));
  EXPECT_FALSE(wants_colour(file, ColourChoice::automatic));
  EXPECT_TRUE(wants_colour(file, ColourChoice::always));
  EXPECT_FALSE(wants_colour(terminal.stream, ColourChoice::never));
  {
    const Variable dumb("TERM", "dumb");
    EXPECT_FALSE(wants_colour(terminal.stream, ColourChoice::automatic));
  }
  const Variable none("NO_COLOR", "1");
  EXPECT_FALSE(wants_colour(terminal.stream, ColourChoice::automatic));
  EXPECT_TRUE(wants_colour(terminal.stream, ColourChoice::always)) << "a flag is newer";
  std::fclose(file);
}

TEST(ColourChoice, IsOneOfThree) {
  EXPECT_EQ(parse_colour_choice("auto"), ColourChoice::automatic);
  EXPECT_EQ(parse_colour_choice("always"), ColourChoice::always);
  EXPECT_EQ(parse_colour_choice("never"), ColourChoice::never);
  EXPECT_THROW(parse_colour_choice("yes"), UserError);
}

}  // namespace
}  // namespace hone
