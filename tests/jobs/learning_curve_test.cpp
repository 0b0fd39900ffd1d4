#include "hone/jobs/learning_curve.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

StepRecord step(std::int64_t number, double epoch, double loss) {
  return {number, epoch, loss, /*grad_norm=*/2.5, /*learning_rate=*/1e-3};
}

Json evaluation(std::int64_t number, double epoch, Json loss, double accuracy) {
  return {{"eval_metric", "accuracy"},
          {"eval_loss", loss},
          {"eval_accuracy", accuracy},
          {"eval_accuracy_interval", {accuracy - 0.125, accuracy + 0.125}},
          {"epoch", epoch},
          {"step", number}};
}

TrainingLog log_of(const std::vector<StepRecord>& steps, const std::vector<Json>& lines = {}) {
  TrainingLog log;
  for (const StepRecord& record : steps) log.add_step(record);
  for (const Json& line : lines) log.write(line);
  return log;
}

// Returns the data of the figure, or "" if there is none.
std::string drawn(const TrainingLog& log) {
  const TemporaryFolder folder;
  std::vector<std::string> notes;
  const Section section = learning_curve_section(log, "a title", folder.path() / "curve", notes);
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(section.blocks.empty(), !fs::exists(folder.path() / "curve.svg"));
  if (section.blocks.empty()) return "";
  EXPECT_TRUE(std::holds_alternative<PageFigure>(section.blocks[0]));
  for (const char* file : {"curve.svg", "curve.png", "curve.gp"})
    EXPECT_TRUE(fs::exists(folder.path() / file)) << file;
  return read_file(folder.path() / "curve.tsv");
}

const std::vector<StepRecord> kTwoSteps = {step(1, 0.5, 0.75), step(2, 1, 0.5)};

TEST(LearningCurve, ShowsLossAndAccuracyAgainstEpochs) {
  const std::string data =
      drawn(log_of(kTwoSteps, {evaluation(1, 0.5, 0.75, 0.5), evaluation(2, 1, 0.625, 0.75)}));
  for (const char* fragment :
       {"training loss\t0.5\t0.75", "training loss\t1\t0.5", "validation loss\t1\t0.625",
        "2\tvalidation accuracy\t0.5\t50", "2\tvalidation accuracy\t1\t75\t62.5\t87.5"})
    EXPECT_NE(data.find(fragment), std::string::npos) << fragment << " in\n" << data;
}

TEST(LearningCurve, LeavesOutWhatWasNotMeasured) {
  const std::string losses = drawn(log_of(kTwoSteps));
  EXPECT_NE(losses.find("training loss"), std::string::npos);
  EXPECT_EQ(losses.find("validation"), std::string::npos);
  const std::string accuracy =
      drawn(log_of(kTwoSteps, {evaluation(1, 0.5, nullptr, 0.25), evaluation(2, 1, nullptr, 0.5)}));
  EXPECT_NE(accuracy.find("validation accuracy\t1\t50"), std::string::npos) << accuracy;
  EXPECT_EQ(accuracy.find("validation loss\t"), std::string::npos) << accuracy;
  Json diverged = evaluation(2, 1, nullptr, 0.5);
  diverged["eval_accuracy"] = nullptr;
  EXPECT_EQ(drawn(log_of(kTwoSteps, {diverged})).find("validation"), std::string::npos);
}

TEST(LearningCurve, HasNoPanelForOnePoint) {
  const std::string data = drawn(log_of(kTwoSteps, {evaluation(2, 1, 0.625, 0.75)}));
  EXPECT_NE(data.find("validation loss\t1\t0.625"), std::string::npos) << "beside training's";
  EXPECT_EQ(data.find("validation accuracy"), std::string::npos) << data;
}

TEST(LearningCurve, DrawsLossesOfOtherTermsApart) {
  TrainingLog log =
      log_of(kTwoSteps, {evaluation(1, 0.5, 0.75, 0.5), evaluation(2, 1, 0.625, 0.75)});
  log.set_added_loss("distillation");
  const std::string data = drawn(log);
  EXPECT_NE(data.find("1\ttraining loss with distillation\t1\t0.5"), std::string::npos) << data;
  EXPECT_NE(data.find("2\tvalidation loss\t1\t0.625"), std::string::npos) << data;
}

TEST(LearningCurve, ShowsMeansOfManySteps) {
  std::vector<StepRecord> steps;
  for (int i = 1; i <= 801; ++i) steps.push_back(step(i, i, i));
  const std::string data = drawn(log_of(steps));
  EXPECT_NE(data.find("training loss, mean of 3 steps\t2\t2"), std::string::npos) << data;
  EXPECT_NE(data.find("\t800\t800"), std::string::npos);
  // As many single values, drawn faintly, as means.
  EXPECT_EQ(std::ranges::count(data, '\n'), 1 + 267 + 2 + 267);
}

TEST(LearningCurve, OfFewerThanTwoStepsIsNone) {
  EXPECT_EQ(drawn(log_of({})), "");
  EXPECT_EQ(drawn(log_of({step(1, 1, 0.5)}, {evaluation(1, 1, 0.5, 0.5)})), "");
}

TEST(LearningCurve, IsATableToo) {
  EXPECT_EQ(to_csv(learning_curve_table(log_of(kTwoSteps, {evaluation(2, 1, 0.625, 0.75)}))),
            "step,epoch,loss,learning_rate,grad_norm,eval_loss,eval_accuracy,eval_accuracy_low,"
            "eval_accuracy_high\r\n"
            "1,0.5,0.75,0.001,2.5,,,,\r\n"
            "2,1,0.5,0.001,2.5,0.625,0.75,0.625,0.875\r\n");
}

// An empty PATH hides gnuplot.
TEST(LearningCurve, OfAMachineWithoutGnuplotIsAWarning) {
  const TemporaryFolder empty;
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", empty.path().c_str(), 1);
  const TemporaryFolder folder;
  std::vector<std::string> notes;
  const Section section =
      learning_curve_section(log_of(kTwoSteps), "a title", folder.path() / "curve", notes);
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(notes[0].starts_with("curve was not drawn: ")) << notes[0];
  EXPECT_NE(notes[0].find("gnuplot"), std::string::npos) << notes[0];
  EXPECT_EQ(section.blocks.size(), 1u);  // the page contains the warning, too
  EXPECT_FALSE(fs::exists(folder.path() / "curve.svg"));
  EXPECT_TRUE(fs::exists(folder.path() / "curve.csv"));
}

}  // namespace
}  // namespace hone
