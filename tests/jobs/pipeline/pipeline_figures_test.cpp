#include "hone/jobs/pipeline/pipeline_figures.h"

#include <gtest/gtest.h>

#include "hone/base/error.h"
#include "hone/base/process.h"
#include "hone/base/text.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

std::size_t count_of(const std::string& text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++count;
  return count;
}

/// A pipeline with given results and logs of its stages, whose first figure is drawn.
class DrawnStages : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      run_program({"gnuplot", "--version"}, folder_.path(), "gnuplot-nox");
    } catch (const UserError& error) {
      GTEST_SKIP() << error.what();
    }
    fs::create_directories(folder_.path() / kFigures);
  }

  // Returns the caption. `results` are keyed by the names of stages.
  std::string caption(const std::string& text, const std::map<std::string, Json>& results = {}) {
    const Pipeline pipeline = parse_pipeline(text, "chain.toml", {}, {});
    std::vector<StageOutcome> outcomes;
    for (const PipelineStage& stage : pipeline.stages) {
      outcomes.push_back({.chosen_stage = stage.name});
      if (results.contains(stage.name)) outcomes.back().result = results.at(stage.name);
    }
    const StageStudies studies;
    const fs::path folder = folder_.path();
    Section section;
    std::vector<std::string> notes;
    draw_pipeline_figure(pipeline.figures.at(0), {pipeline, outcomes, studies, folder}, section,
                         notes);
    EXPECT_EQ(notes, std::vector<std::string>());
    const auto* figure = std::get_if<PageFigure>(&section.blocks.at(0));
    return figure == nullptr ? "no figure" : figure->caption;
  }
  void log(const std::string& stage, const std::string& lines) {
    fs::create_directories(folder_.path() / stage);
    write_file(folder_.path() / stage / "training_log.jsonl", lines);
  }
  // Returns the number of circles in the script of the figure.
  std::size_t circles(const std::string& at = "") const {
    std::size_t count = 0;
    for (const std::string& line : split(read_file(folder_.path() / kFigures / "one.gp"), '\n'))
      if (line.find("pt 6 ps 1.8") != std::string::npos && line.find(at) != std::string::npos)
        ++count;
    return count;
  }

  TemporaryFolder folder_;
};

Json accuracy(double value) { return {{"after", {{"eval_accuracy", value}}}}; }

constexpr const char* kWidths = R"toml(
[settings]
data = "imdb"
[stage.ptq]
each = { width = [4, 8] }
run = "quantize"
[stage.qat]
each = { width = [4, 8] }
run = "quantize"
[figure.one]
title = "Accuracy by width"
x = "width"
y = "after.eval_accuracy"
[[figure.one.curve]]
stages = "ptq"
[[figure.one.curve]]
stages = "qat"
)toml";

TEST_F(DrawnStages, MarkTheBestMeasuredValue) {
  const std::string said = caption(kWidths, {{"ptq/4", accuracy(0.5)},
                                             {"ptq/8", accuracy(0.75)},
                                             {"qat/4", accuracy(0.625)},
                                             {"qat/8", accuracy(0.875)}});
  EXPECT_EQ(said, "Accuracy by width. The circle marks the highest measured value.");
  EXPECT_EQ(circles(), 1U);
  EXPECT_EQ(circles("at first 8,87.5 "), 1U);
}

// The x values can be results, too, such as latencies.
TEST_F(DrawnStages, TakeTheirPlacesFromTheirResults) {
  std::string text(kWidths);
  text.replace(text.find("x = \"width\""), 11, "x = \"times.0.ms\"");
  const auto timed = [](double value, double ms) {
    Json result = accuracy(value);
    result["times"] = Json::array({{{"ms", ms}}});
    return result;
  };
  caption(text, {{"ptq/4", timed(0.5, 1.5)},
                 {"ptq/8", timed(0.75, 0.5)},
                 {"qat/4", timed(0.625, 2)},
                 {"qat/8", timed(0.875, 0.25)}});
  EXPECT_EQ(circles("at first 0.25,87.5 "), 1U);
}

TEST_F(DrawnStages, MarkAllCurvesThatReachTheBestValue) {
  const std::string said = caption(kWidths, {{"ptq/4", accuracy(0.5)},
                                             {"ptq/8", accuracy(0.875)},
                                             {"qat/4", accuracy(0.875)},
                                             {"qat/8", accuracy(0.875)}});
  EXPECT_EQ(said,
            "Accuracy by width. Circles mark the highest measured value. Points that would cover "
            "each other are moved sideways.");
  EXPECT_EQ(circles(), 2U) << "the first of each curve";
}

constexpr const char* kLosses = R"toml(
[stage.further]
run = "train"
[figure.one]
title = "Loss by epoch"
x = "epoch"
y = "loss"
[[figure.one.curve]]
label = "training"
stages = "further"
)toml";

constexpr const char* kLog = R"({"epoch": 1, "loss": 0.5, "eval_loss": 0.25}
{"epoch": 2, "loss": 0.375, "eval_loss": 0.75}
{"epoch": 3, "loss": 0.125, "eval_loss": 1}
)";

TEST_F(DrawnStages, MarkNoTrainingLoss) {
  log("further", kLog);
  EXPECT_EQ(caption(kLosses), "Loss by epoch");
  EXPECT_EQ(circles(), 0U);
  const std::string with_validation = std::string(kLosses) + R"toml(
[[figure.one.curve]]
label = "validation"
stages = "further"
y = "eval_loss"
)toml";
  EXPECT_EQ(caption(with_validation),
            "Loss by epoch. The circle marks the lowest measured value of validation.");
  EXPECT_EQ(circles(), 1U);
  EXPECT_EQ(circles("at first 1,0.25 "), 1U);
}

TEST_F(DrawnStages, NameThePanelsThatHaveCircles) {
  log("further", kLog);
  std::string text(kLosses);
  text.replace(
      text.find("y = \"loss\""), 10,
      "y = [\"eval_loss\", \"loss\"]\ny_label = [\"Loss, validation\", \"Loss, training\"]");
  EXPECT_EQ(caption(text),
            "Loss by epoch. The circle marks the lowest measured value of “Loss, validation”.");
}

TEST_F(DrawnStages, WriteWhatPublishedValuesAre) {
  const std::string published = std::string("published_on = \"imdb\"\n") + kWidths + R"toml(
[[published]]
what = "QAT at 4 bits"
value = "79%"
source = "report 9"
figure = "one"
marks = [[4, 0.79]]
)toml";
  caption(published, {{"ptq/4", accuracy(0.5)},
                      {"ptq/8", accuracy(0.75)},
                      {"qat/4", accuracy(0.625)},
                      {"qat/8", accuracy(0.875)}});
  const std::string script = read_file(folder_.path() / kFigures / "one.gp");
  EXPECT_EQ(count_of(script, "set label 'QAT at 4 bits' at"), 1U) << script;
}

}  // namespace
}  // namespace hone
