#include "hone/app/learning_curve.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

Json step(double epoch, double loss) { return {{"loss", loss}, {"epoch", epoch}}; }

Json evaluation(double epoch, Json loss, double accuracy) {
  return {{"eval_loss", loss},
          {"eval_accuracy", accuracy},
          {"eval_accuracy_interval", {accuracy - 0.1, accuracy + 0.1}},
          {"epoch", epoch}};
}

// What the figure was drawn from; "" when there is none.
std::string drawn(const std::vector<Json>& lines, std::string_view warning = "") {
  const TemporaryFolder folder;
  EXPECT_EQ(draw_learning_curve(lines, "a title", folder.path() / "curve"), warning);
  if (fs::is_empty(folder.path())) return "";
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

// Programs are looked for in PATH.
TEST(LearningCurve, OfAMachineWithoutGnuplotIsAWarning) {
  const TemporaryFolder empty;
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", empty.path().c_str(), 1);
  const TemporaryFolder folder;
  const std::string warning =
      draw_learning_curve({step(1, 0.75), step(2, 0.5)}, "a title", folder.path() / "curve");
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_TRUE(warning.starts_with("no learning curve was drawn: ")) << warning;
  EXPECT_NE(warning.find("gnuplot"), std::string::npos) << warning;
  EXPECT_FALSE(fs::exists(folder.path() / "curve.svg"));
}

}  // namespace
}  // namespace hone
