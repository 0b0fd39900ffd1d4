#include "hone/app/learning_curve.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

Json step(double epoch, double loss) {
  return {{"loss", loss}, {"epoch", epoch}, {"step", static_cast<int>(10 * epoch)}};
}

Json evaluation(double epoch, Json loss, double accuracy) {
  return {{"eval_loss", loss},
          {"eval_accuracy", accuracy},
          {"eval_accuracy_interval", {accuracy - 0.1, accuracy + 0.1}},
          {"epoch", epoch},
          {"step", static_cast<int>(10 * epoch)}};
}

// What the figure was drawn from; "" when there is none.
std::string drawn(const std::vector<Json>& lines) {
  const TemporaryFolder folder;
  std::vector<std::string> notes;
  const Section section = learning_curve_section(lines, "a title", folder.path() / "curve", notes);
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(section.blocks.empty(), !fs::exists(folder.path() / "curve.svg"));
  if (section.blocks.empty()) return "";
  EXPECT_TRUE(std::holds_alternative<PageFigure>(section.blocks[0]));
  for (const char* file : {"curve.svg", "curve.png", "curve.gp"})
    EXPECT_TRUE(fs::exists(folder.path() / file)) << file;
  return read_file(folder.path() / "curve.tsv");
}

TEST(LearningCurve, ShowsLossAndAccuracyAgainstEpochs) {
  const std::string data = drawn({step(0.5, 0.75), step(1, 0.5), evaluation(1, 0.625, 0.7)});
  for (const char* fragment : {"training loss\t0.5\t0.75", "training loss\t1\t0.5",
                               "validation loss\t1\t0.625", "validation accuracy\t1\t70\t60\t80"})
    EXPECT_NE(data.find(fragment), std::string::npos) << fragment << " in\n" << data;
}

TEST(LearningCurve, LeavesOutWhatWasNotMeasured) {
  const std::string losses = drawn({step(1, 0.75), step(2, 0.5)});
  EXPECT_NE(losses.find("training loss"), std::string::npos);
  EXPECT_EQ(losses.find("validation"), std::string::npos);
  const std::string accuracy = drawn({step(1, 0.75), evaluation(1, nullptr, 0.5), step(2, 0.5)});
  EXPECT_NE(accuracy.find("validation accuracy\t1\t50"), std::string::npos) << accuracy;
  EXPECT_EQ(accuracy.find("validation loss\t"), std::string::npos) << accuracy;
  Json diverged = evaluation(1, nullptr, 0.5);
  diverged["eval_accuracy"] = nullptr;
  EXPECT_EQ(drawn({step(1, 0.75), diverged, step(2, 0.5)}).find("validation"), std::string::npos);
}

TEST(LearningCurve, OfFewerThanTwoStepsIsNone) {
  EXPECT_EQ(drawn({}), "");
  EXPECT_EQ(drawn({step(1, 0.5), evaluation(1, 0.5, 0.5), evaluation(2, 0.5, 0.5)}), "");
}

TEST(LearningCurve, IsATableToo) {
  Json logged = step(0.5, 0.75);
  logged["learning_rate"] = 1e-3;
  logged["grad_norm"] = 2.5;
  EXPECT_EQ(to_csv(learning_curve_table({logged, evaluation(1, 0.625, 0.75)})),
            "step,epoch,loss,learning_rate,grad_norm,eval_loss,eval_accuracy,eval_accuracy_low,"
            "eval_accuracy_high\r\n"
            "5,0.5,0.75,0.001,2.5,,,,\r\n"
            "10,1,,,,0.625,0.75,0.65,0.85\r\n");
}

// Programs are looked for in PATH.
TEST(LearningCurve, OfAMachineWithoutGnuplotIsAWarning) {
  const TemporaryFolder empty;
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", empty.path().c_str(), 1);
  const TemporaryFolder folder;
  std::vector<std::string> notes;
  const Section section = learning_curve_section({step(1, 0.75), step(2, 0.5)}, "a title",
                                                 folder.path() / "curve", notes);
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(notes[0].starts_with("curve was not drawn: ")) << notes[0];
  EXPECT_NE(notes[0].find("gnuplot"), std::string::npos) << notes[0];
  EXPECT_EQ(section.blocks.size(), 1u);  // the page says so too
  EXPECT_TRUE(fs::exists(folder.path() / "curve.csv"));
  EXPECT_FALSE(fs::exists(folder.path() / "curve.svg"));
}

}  // namespace
}  // namespace hone
