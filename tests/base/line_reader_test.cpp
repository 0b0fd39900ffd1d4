#include "hone/base/line_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "tests/support/expect.h"

namespace hone {
namespace {

using Lines = std::vector<std::string>;

class Pipe {
 public:
  Pipe() { HONE_ASSERT(::pipe(ends_) == 0, "no pipe"); }
  ~Pipe() {
    close();
    ::close(ends_[0]);
  }
  int end() const { return ends_[0]; }
  void write(std::string_view text) {
    ASSERT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void close() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  int ends_[2];
};

TEST(LineReader, GivesWhatIsThereAndWaitsForNoMore) {
  Pipe pipe;
  LineReader reader(pipe.end(), "pipe");
  pipe.write("one\ntwo\nthr");
  EXPECT_EQ(reader.next(10), (Lines{"one", "two"}));
  pipe.write("ee\n");
  EXPECT_EQ(reader.next(10), (Lines{"three"}));
}

TEST(LineReader, GivesNoMoreThanAsked) {
  Pipe pipe;
  LineReader reader(pipe.end(), "pipe");
  pipe.write("1\n2\n3\n4\n5\n");
  EXPECT_EQ(reader.next(2), (Lines{"1", "2"}));
  EXPECT_EQ(reader.next(2), (Lines{"3", "4"}));
  EXPECT_EQ(reader.next(2), (Lines{"5"}));
  pipe.close();
  EXPECT_TRUE(reader.next(2).empty());
  EXPECT_TRUE(reader.next(2).empty());
}

TEST(LineReader, WaitsForALine) {
  Pipe pipe;
  LineReader reader(pipe.end(), "pipe");
  std::thread writer([&] {
    ::usleep(20'000);
    pipe.write("late");
    ::usleep(20'000);
    pipe.write("r\n");
  });
  EXPECT_EQ(reader.next(10), (Lines{"later"}));
  writer.join();
}

TEST(LineReader, TakesAllKindsOfEnds) {
  Pipe pipe;
  LineReader reader(pipe.end(), "pipe");
  pipe.write("\xef\xbb\xbfmarked\r\n\n\r\n \xef\xbb\xbf\nlast\r");
  pipe.close();
  EXPECT_EQ(reader.next(10), (Lines{"marked", "", "", " \xef\xbb\xbf", "last"}));
  EXPECT_TRUE(reader.next(10).empty());
}

TEST(LineReader, EndsWithoutLines) {
  Pipe pipe;
  pipe.close();
  EXPECT_TRUE(LineReader(pipe.end(), "pipe").next(10).empty());
}

TEST(LineReader, RefusesLinesWithoutEnd) {
  Pipe pipe;
  LineReader reader(pipe.end(), "standard input");
  const std::string block(1 << 20, 'x');
  std::thread writer([&] {
    pipe.write("short\n");
    for (int i = 0; i < 64; ++i) pipe.write(block);
  });
  EXPECT_EQ(reader.next(1), (Lines{"short"}));
  expect_user_error("standard input: line 2 has more than 64 MiB", [&] { reader.next(1); });
  writer.join();
}

TEST(LineReader, SaysWhatCannotBeRead) {
  expect_user_error("pipe: cannot read: ",
                    [] { LineReader(/*none that is open*/ 1'000'000, "pipe").next(1); });
}

}  // namespace
}  // namespace hone
