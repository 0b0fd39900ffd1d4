#include "hone/jobs/job_result.h"
#include "hone/study/result.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone::testing {
namespace {

Invocation invocation() {
  return {.name = "quantize",
          .command = "hone quantize my-model --format 'int(bits=8)'",
          .settings = {{"seed", 42}, {"quiet", false}, {"format", "int(bits=8)"}},
          .defaults = {{"seed", 0}, {"quiet", false}, {"format", ""}}};
}

JobResult example() {
  return {.fields = {{"accuracy", 0.5}},
          .document = {.title = "my-model in 8 bits",
                       .headline = "No difference found.",
                       .sections = {{"Result", {Paragraph{"It is as good."}}}},
                       .notes = {"3 texts were cut", "a label is odd"}},
          .basis = {"simulated int(bits=8)", 1, "reviews.csv", "test 40 texts", "honest: as ever"}};
}

TEST(WriteReport, LeavesEverythingBesideTheResult) {
  const TemporaryFolder folder;
  write_report(example(), invocation(), folder.path(), quiet_context());
  const Json settings = read_json(folder.path() / "settings.json");
  EXPECT_EQ(settings["schema_version"], kSchemaVersion);
  EXPECT_EQ(settings["command"], "quantize");
  EXPECT_EQ(settings["command_line"], invocation().command);
  EXPECT_EQ(settings["settings"], invocation().settings);
  EXPECT_GE(settings["seconds"], 0);
  const Json machine = read_json(folder.path() / "machine.json");
  EXPECT_EQ(machine["threads"], 1);
  EXPECT_TRUE(machine.contains("processor"));
  EXPECT_EQ(read_json(folder.path() / "results.json"), result_of("quantize", example().fields));
  const std::string log = read_file(folder.path() / "run.log");
  EXPECT_TRUE(log.starts_with(settings["start"].get<std::string>() + " hone quantize my-model"));
  EXPECT_TRUE(read_file(folder.path() / "report.md").starts_with("# my-model in 8 bits\n"));
  EXPECT_NE(log.find("\n3 texts were cut\na label is odd\ndone after 0:00\n"), std::string::npos)
      << log;
}

TEST(WriteReport, SaysOnThePageWhatItStandsOn) {
  const TemporaryFolder folder;
  write_report(example(), invocation(), folder.path(), quiet_context());
  const std::string page = read_file(folder.path() / "report.html");
  for (const char* part :
       {"<h1>No difference found.</h1>", "It is as good.", "<p>3 texts were cut</p>",
        "<dd>simulated int(bits=8)</dd>", "<dd>1; variation over seeds", "<dd>reviews.csv</dd>",
        "<dd>test 40 texts</dd>", "<dd>honest: as ever</dd>",
        "<pre>hone quantize <span>my-model</span> <span>--format</span> "
        "<span>&#39;int(bits=8)&#39;</span></pre>",
        "<dt>seed</dt><dd>42</dd>", "<dd>int(bits=8)</dd>", "settings.json has all 3",
        "<dt>Processor</dt>"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_EQ(page.find("<dt>quiet</dt>"), std::string::npos) << "it has its default";
}

TEST(WriteReport, NamesSettingsByTheirOptions) {
  const TemporaryFolder folder;
  JobResult result = example();
  result.document.notes = {"fixed by `seed`; repeat with `hone bench`"};
  write_report(result, invocation(), folder.path(), quiet_context());
  const std::string page = read_file(folder.path() / "report.html");
  for (const char* code : {"<code>--seed</code>", "<code>hone bench</code>"})
    EXPECT_NE(page.find(code), std::string::npos) << code;
  const std::string text = read_file(folder.path() / "report.md");
  EXPECT_NE(text.find("Fixed by `--seed`; repeat with `hone bench`"), std::string::npos) << text;
}

TEST(WriteReport, LeavesResultsToJobsThatWriteThemselves) {
  const TemporaryFolder folder;
  JobResult result = example();
  result.fields = nullptr;
  result.basis.seeds = 5;
  result.document.notes.clear();
  write_report(result, invocation(), folder.path(), quiet_context());
  EXPECT_FALSE(fs::exists(folder.path() / "results.json"));
  const std::string page = read_file(folder.path() / "report.html");
  EXPECT_NE(page.find("<dt>Seeds</dt><dd>5</dd>"), std::string::npos);
  EXPECT_EQ(page.find("Notes"), std::string::npos);
}

TEST(Basis, CountsThePartsAndSaysWhereChoicesWereMade) {
  EncodedSplits data = tiny_splits();
  data.identity.splits = {{.split = "train", .rows = 32}, {.split = "test", .rows = 40}};
  EXPECT_EQ(basis_of("x.csv", data, "fp32").splits, "train 32, test 40 texts");
  data.identity.splits[1].sample = "40 of 90 of them, drawn by seed 3";
  EXPECT_EQ(basis_of("x.csv", data, "fp32").splits,
            "train 32, test 40 texts; test: 40 of 90 of them, drawn by seed 3");
  data.identity.splits[1].sample.clear();
  data.validation = data.test;
  data.validation_source = {ValidationOrigin::test, "the test part"};
  data.protocol = Protocol::original;
  const Basis basis = basis_of("x.csv", data, "fp32", 3);
  EXPECT_EQ(basis.splits, "train 32, test 40 texts; validation: the test part");
  EXPECT_TRUE(basis.protocol.ends_with("too good")) << basis.protocol;
  EXPECT_EQ(basis.seeds, 3);
  EXPECT_EQ(basis.arithmetic, "fp32");
}

Figure figure() {
  return {.title = "A title",
          .panels = {{.series = {{.label = "one", .points = {{0, 0}, {1, 1}}}}}}};
}

TEST(FigureBlock, HasTheNoteOfTheFigureInItsCaption) {
  const TemporaryFolder folder;
  std::vector<std::string> notes;
  Figure noted = figure();
  noted.note = "The circle marks the highest measured value.";
  const Block block = figure_block(noted, folder.path() / "curve", "a line", notes);
  EXPECT_EQ(std::get<PageFigure>(block).caption,
            "A title. The circle marks the highest measured value.");
  EXPECT_EQ(read_file(folder.path() / "curve.svg").find("circle marks"), std::string::npos);
}

TEST(FigureBlock, IsDrawnForFilesPagesAndPhones) {
  const TemporaryFolder folder;
  std::vector<std::string> notes;
  const Block block = figure_block(figure(), folder.path() / "curve", "a line", notes);
  EXPECT_EQ(notes, std::vector<std::string>{});
  const PageFigure& drawn = std::get<PageFigure>(block);
  EXPECT_EQ(drawn.caption, "A title");
  EXPECT_EQ(drawn.description, "a line");
  EXPECT_EQ(drawn.svg.find("A title"), std::string::npos) << "the caption says it";
  EXPECT_NE(drawn.narrow_svg.find("width=\"360\""), std::string::npos);
  EXPECT_NE(read_file(folder.path() / "curve.svg").find("A title"), std::string::npos);
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder.path())) ++files;
  EXPECT_EQ(files, 4) << "svg, png, tsv, gp and nothing else";
}

// An empty PATH hides gnuplot.
TEST(FigureBlock, OfAMachineWithoutGnuplotIsASentence) {
  const TemporaryFolder empty, folder;
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", empty.path().c_str(), 1);
  std::vector<std::string> notes;
  const Block block = figure_block(figure(), folder.path() / "curve", "a line", notes);
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_EQ(notes.size(), 1);
  EXPECT_TRUE(notes[0].starts_with("curve was not drawn: ")) << notes[0];
  EXPECT_NE(notes[0].find("gnuplot"), std::string::npos) << notes[0];
  EXPECT_EQ(std::get<Paragraph>(block).text, notes[0]);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace hone::testing
