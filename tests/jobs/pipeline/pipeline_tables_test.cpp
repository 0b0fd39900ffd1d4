#include "hone/jobs/pipeline/pipeline_tables.h"

#include <gtest/gtest.h>

#include "hone/base/error.h"
#include "tests/support/expect.h"

// Tests of a pipeline's tables and figures, for given results of stages.
namespace hone {
namespace {

/// A pipeline with given results of its stages.
struct PrintedStages {
  Pipeline pipeline;
  std::vector<StageOutcome> outcomes = {};
  StageStudies studies = {};
  fs::path folder = "nowhere";

  explicit PrintedStages(const std::string& text)
      : pipeline(parse_pipeline(text, "chain.toml", {{"search", {.searches = true}}}, {})) {
    for (const PipelineStage& stage : pipeline.stages)
      outcomes.push_back({.chosen_stage = stage.name});
  }
  PrintedStages& prints(const std::string& stage, Json result) {
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      if (pipeline.stages[i].name == stage) outcomes[i].result = std::move(result);
    return *this;
  }
  PipelineFindings findings() const { return {pipeline, outcomes, studies, folder}; }
  Table table() const { return pipeline_table(pipeline.tables.at(0), findings()); }
};

constexpr const char* kWidthTable = R"toml(
[stage.ptq]
each = [{ width = 16 }, { width = 8 }]
run = "quantize"
[table.widths]
by = "width"
[[table.widths.column]]
label = "PTQ, test"
stages = "ptq"
y = "after.eval_accuracy"
[[table.widths.column]]
label = "Margin SNR (dB)"
stages = "ptq"
y = "comparison.margin_snr_db"
[[table.widths.column]]
label = "Flips"
stages = "ptq"
y = "comparison.flip_share"
[[table.widths.column]]
label = "Answers changed"
stages = "ptq"
y = "comparison.flips"
)toml";

Json width_result(double accuracy, double snr) {
  return {{"after",
           {{"eval_accuracy", accuracy},
            {"eval_accuracy_interval", {accuracy - 0.02, accuracy + 0.02}},
            {"eval_samples", 2000}}},
          {"comparison",
           {{"margin_snr_db", snr},
            {"flip_share", 0.001},
            {"flip_interval", {0.0004, 0.0025}},
            {"flips", 2}}}};
}

TEST(PipelineTables, HoldNumbersWithIntervalsAndExamples) {
  PrintedStages found(kWidthTable);
  found.prints("ptq/16", width_result(0.75, 46.25)).prints("ptq/8", width_result(0.75, 4.5));
  EXPECT_EQ(to_csv(found.table()),
            "width,ptq_test,ptq_test_low,ptq_test_high,ptq_test_n,margin_snr_db,"
            "flips,flips_low,flips_high,answers_changed\r\n"
            "8,0.75,0.73,0.77,2000,4.5,0.001,0.0004,0.0025,2\r\n"
            "16,0.75,0.73,0.77,2000,46.25,0.001,0.0004,0.0025,2\r\n");
}

// Equal accuracies in all rows stay in the table.
TEST(PipelineTables, ShowEachResultInItsRow) {
  PrintedStages found(kWidthTable);
  found.prints("ptq/16", width_result(0.75, 46.25)).prints("ptq/8", width_result(0.75, 4.5));
  EXPECT_EQ(
      to_text(found.table()),
      "Width             PTQ, test  Margin SNR (dB)                 Flips  Answers changed\n"
      "─────  ────────────────────  ───────────────  ────────────────────  ───────────────\n"
      "    8  75.0% (73.0 to 77.0)             4.50  0.10% (0.04 to 0.25)                2\n"
      "   16  75.0% (73.0 to 77.0)             46.2  0.10% (0.04 to 0.25)                2\n");
}

TEST(PipelineTables, HoldTheMeanOfSeveralRuns) {
  PrintedStages found(R"toml(
[stage.search]
each = { sampler = ["grid", "tpe"], draw = [1, 2] }
run = "search"
[table.samplers]
by = "sampler"
[[table.samplers.column]]
label = "Best"
stages = "search"
y = "validation.eval_accuracy"
)toml");
  const auto best = [](double accuracy) -> Json {
    return {{"validation", {{"eval_accuracy", accuracy}}}};
  };
  found.prints("search/grid-1", best(0.5)).prints("search/grid-2", best(0.75));
  found.prints("search/tpe-1", best(0.25));
  EXPECT_EQ(to_csv(found.table()),
            "sampler,best,best_low,best_high,best_runs\r\n"
            "grid,0.625,0.5,0.75,2\r\n"
            "tpe,0.25,,,\r\n");
  EXPECT_EQ(display_column(found.table(), 1),
            (std::vector<std::string>{"62.5% (50.0 to 75.0, 2 runs)", "25.0%"}));
}

constexpr const char* kFormatTables = R"toml(
[stage.search]
each = { sampler = ["grid", "tpe"] }
run = "search"
[table.found]
by = "sampler"
[[table.found.column]]
label = "Best trial"
stages = "search"
y = "best.number + 1"
[[table.found.column]]
label = "Hidden size"
stages = "search"
y = "best.configuration.architecture.hidden_size"
[[table.found.column]]
label = "Layers by format"
stages = "search"
y = "tally.best.configuration.formats.*.weight"
[table.chosen]
rows = "best.configuration.formats"
stages = "search/tpe"
[[table.chosen.column]]
label = "Weights"
y = "weight"
[table.important]
rows = "importances"
stages = "search/tpe"
[[table.important.column]]
label = "Dimension"
y = "name"
[[table.important.column]]
label = "Importance"
y = "importance"
)toml";

TEST(PipelineTables, CallFormatsAndDimensionsInWordsAndComputeFormulas) {
  PrintedStages found(kFormatTables);
  const auto best = [](int number, const Json& formats) -> Json {
    return {{"best",
             {{"number", number},
              {"configuration", {{"architecture", {{"hidden_size", 64}}}, {"formats", formats}}}}},
            {"importances",
             {{{"name", "hidden_size"}, {"importance", 0.9962}},
              {{"name", "rate"}, {"importance", 0.0038}}}}};
  };
  found.prints("search/grid", best(0, {{"a", {{"weight", "int(bits=4)"}}},
                                       {"b", {{"weight", "int(bits=8)"}}},
                                       {"c", {{"weight", "int(bits=8)"}}}}));
  found.prints("search/tpe", best(3, {{"a", {{"weight", "none"}}},
                                      {"b", {{"weight", "int(bits=8)"}}},
                                      {"c", {{"weight", "int(bits=4)"}}}}));
  EXPECT_EQ(display_column(found.table(), 1), (std::vector<std::string>{"1", "4"}));
  // If all layers have the same format, only its parameters are shown.
  EXPECT_EQ(display_column(found.table(), 3),
            (std::vector<std::string>{"2 int(bits=8), 1 int(bits=4)", "2 int, 1 full precision"}));
  const auto table = [&](std::size_t index) {
    return pipeline_table(found.pipeline.tables.at(index), found.findings());
  };
  EXPECT_EQ(display_column(table(1), 1),
            (std::vector<std::string>{"full precision", "int(bits=8)", "int(bits=4)"}));
  EXPECT_EQ(display_column(table(2), 0), (std::vector<std::string>{"Hidden size", "rate"}));
  EXPECT_EQ(display_column(table(2), 1), (std::vector<std::string>{"100%", "< 1%"}));
}

TEST(PipelineTables, RefuseLabelsThatMakeOneColumn) {
  std::string text = kWidthTable;
  text.replace(text.find("Margin SNR (dB)"), 15, "PTQ test!");
  try {
    parse_pipeline(text, "chain.toml", {{"search", {.searches = true}}}, {});
    FAIL() << "two columns with one name were accepted";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("'ptq_test'"), std::string::npos) << error.what();
  }
}

TEST(PipelineFigures, HaveTicksAtTheValuesThatWereTested) {
  const TemporaryFolder folder;
  PrintedStages found(std::string(kWidthTable) + R"toml(
[figure.widths]
x = "width"
y = "after.eval_accuracy"
[[figure.widths.curve]]
stages = "ptq"
)toml");
  found.folder = folder.path();
  fs::create_directories(folder.path() / "figures");
  found.prints("ptq/16", width_result(0.75, 46.25)).prints("ptq/8", width_result(0.5, 4.5));
  Section section;
  std::vector<std::string> notes;
  draw_pipeline_figure(found.pipeline.figures.at(0), found.findings(), section, notes);
  EXPECT_TRUE(notes.empty());
  const std::string script = read_file(folder.path() / "figures/widths.gp");
  EXPECT_NE(script.find("set xtics ('8' 8, '16' 16)"), std::string::npos) << script;
  EXPECT_NE(script.find("after.eval_accuracy (%)"), std::string::npos) << "a share is in percent";
}

}  // namespace
}  // namespace hone
