#include "hone/base/progress.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

/// A screen and a clock that the test controls.
struct Desk {
  std::string written;
  double seconds = 100;

  ProgressOutput output(bool terminal) {
    return {.terminal = terminal,
            .write = [this](std::string_view text) { written += text; },
            .now_seconds = [this] { return seconds; }};
  }
};

TEST(ClockText, CountsSecondsToDays) {
  EXPECT_EQ(clock_text(0.9), "0:00");
  EXPECT_EQ(clock_text(67), "1:07");
  EXPECT_EQ(clock_text(11100), "3:05:00");
  EXPECT_EQ(clock_text(2 * 86400 + 61), "2 d 0:01:01");
}

TEST(Progress, AddsALineEveryTenSecondsToAFile) {
  Desk desk;
  {
    Progress progress("train", 100, {.unit = "steps", .output = desk.output(false)});
    for (int step = 1; step <= 25; ++step) {
      desk.seconds += 1;
      progress.update(step, "loss 0.5");
    }
  }
  EXPECT_EQ(desk.written,
            "train  10%  10/100 steps  0:10  1:30 left  1.00 steps/s  loss 0.5\n"
            "train  20%  20/100 steps  0:20  1:20 left  1.00 steps/s  loss 0.5\n"
            "train  25%  25/100 steps  0:25  1.00 steps/s  loss 0.5\n");
}

TEST(Progress, RewritesOneLineOnATerminal) {
  Desk desk;
  {
    Progress progress("read", 4, {.output = desk.output(true)});
    desk.seconds += 2;
    progress.update(2);
    desk.seconds += 0.05;
    progress.update(3);  // too soon to be shown
    desk.seconds += 1.95;
    progress.update(4);
  }
  EXPECT_EQ(desk.written,
            "\rread  50%  2/4  0:02  0:02 left  1.00/s\x1b[K"
            "\rread  100%  4/4  0:04  0:00 left  1.00/s\x1b[K"
            "\rread  100%  4/4  0:04  1.00/s\x1b[K\n");
}

TEST(Progress, CutsTheLineToTheTerminal) {
  Desk desk;
  ProgressOutput output = desk.output(true);
  output.columns = 8;
  Progress("é train", 4, {.output = output}).finish();
  EXPECT_EQ(desk.written, "\ré train\x1b[K\n");
}

// Returns the progress line on a terminal of this width.
std::string shown_at(int columns) {
  Desk desk;
  ProgressOutput output = desk.output(true);
  output.columns = columns;
  Progress progress("train", 3125, {.unit = "steps", .output = output});
  desk.seconds += 42;
  progress.update(1200, "loss 0.412", "padding 12%");
  return desk.written;
}

TEST(Progress, KeepsShareAndNoteOnANarrowTerminal) {
  const auto line = [](const std::string& text) { return "\r" + text + "\x1b[K"; };
  EXPECT_EQ(shown_at(120),
            line("train  38%  1,200/3,125 steps  0:42  1:07 left  28.6 steps/s  loss 0.412  "
                 "padding 12%"));
  EXPECT_EQ(shown_at(80),
            line("train  38%  1,200/3,125 steps  0:42  1:07 left  28.6 steps/s  loss 0.412"));
  EXPECT_EQ(shown_at(60), line("train  38%  1,200/3,125 steps  0:42  1:07 left  loss 0.412"));
  EXPECT_EQ(shown_at(38), line("train  38%  1:07 left  loss 0.412"));
  EXPECT_EQ(shown_at(24), line("train  38%  loss 0.412"));
}

TEST(Progress, CutsALongTitleBeforeTheShare) {
  Desk desk;
  ProgressOutput output = desk.output(true);
  output.columns = 40;
  Progress progress("PTQ int(bits=8,per=row,scale=dynamic)", 4, {.output = output});
  desk.seconds += 2;
  progress.update(2, "loss 0.4");
  EXPECT_EQ(desk.written, "\rPTQ int(bits=8,per=row,…  50%  loss 0.4\x1b[K");
}

TEST(Progress, SaysLinesAboveItself) {
  Desk desk;
  Progress terminal("train", 4, {.output = desk.output(true)});
  terminal.print_above("step 2");
  EXPECT_EQ(desk.written, "\rstep 2\x1b[K\n");
  desk.written.clear();
  terminal.print_above("step 2\n  best so far");
  EXPECT_EQ(desk.written, "\rstep 2\x1b[K\n\r  best so far\x1b[K\n");
  desk.written.clear();
  Progress file("train", 4, {.output = desk.output(false)});
  file.print_above("step 2");
  EXPECT_EQ(desk.written, "step 2\n");
}

TEST(Progress, MayVanishWhenItIsDone) {
  Desk desk;
  for (const bool terminal : {true, false}) {
    Progress progress("validate", 4,
                      {.end = ProgressEnd::vanishes, .output = desk.output(terminal)});
    progress.update(4);
  }
  EXPECT_EQ(desk.written, "\r\x1b[K");
}

TEST(Progress, QuietWritesNothing) {
  Desk desk;
  {
    ProgressOutput output = desk.output(false);
    output.quiet = true;
    Progress progress("train", 3, {.output = output});
    desk.seconds += 60;
    progress.update(2);
  }
  EXPECT_EQ(desk.written, "");
}

TEST(Progress, ShowsHowFarInterruptedWorkCame) {
  Desk desk;
  try {
    Progress progress("train", 10, {.output = desk.output(false)});
    desk.seconds += 4;
    progress.update(2);
    throw 1;
  } catch (int) {
  }
  EXPECT_EQ(desk.written, "train  20%  2/10  0:04  0.500/s\n");
}

TEST(Progress, ResumedWorkDoesNotCountWhatWasDoneBefore) {
  Desk desk;
  Progress progress("train", 1000, {.first = 900, .output = desk.output(false)});
  desk.seconds += 10;
  progress.update(920);
  EXPECT_EQ(desk.written, "train  92%  920/1,000  0:10  0:40 left  2.00/s\n");
}

TEST(Progress, TimeLeftFollowsAChangeOfSpeed) {
  Desk desk;
  Progress progress("train", 100000, {.output = desk.output(false)});
  std::int64_t done = 0;
  for (int i = 0; i < 10; ++i) desk.seconds += 10, progress.update(done += 1000);  // 100 per second
  for (int i = 0; i < 9; ++i)
    desk.seconds += 10, progress.update(done += 100);  // then 10 per second
  desk.written.clear();
  desk.seconds += 10;
  progress.update(done += 100);
  // 100 s after the change the old speed has the weight exp(-100/15) = 0.0013: 10 + 90 * 0.0013 = 10.1 per second.
  EXPECT_EQ(desk.written, "train  11%  11,000/100,000  3:20  2:26:39 left  10.1/s\n");
}

TEST(Progress, FinishesOnce) {
  Desk desk;
  {
    Progress progress("train", 0, {.output = desk.output(false)});
    progress.finish();
    progress.finish();
    progress.update(1);
  }
  EXPECT_EQ(desk.written, "train  0/0  0:00\n");
}

TEST(Progress, OfAnUnknownNumberCountsWhatIsDone) {
  Desk desk;
  {
    Progress progress("search", 0, {.unit = "trials", .output = desk.output(false)});
    desk.seconds += 20;
    progress.update(10, "best 0.8");
    desk.written.clear();
    progress.finish();
  }
  EXPECT_EQ(desk.written, "search  10 trials  0:20  0.500 trials/s  best 0.8\n");
}

}  // namespace
}  // namespace hone
