#include "hone/report/figure.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>

#include "hone/base/error.h"
#include "hone/base/process.h"
#include "hone/report/figure_layout.h"
#include "hone/report/figure_script.h"

namespace hone {
namespace {

/// Provides a folder for figures, and skips the test without gnuplot.
class WriteFigure : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("hone_figure_test_{}", ::getpid());
    fs::create_directories(folder_);
    try {
      run_program({"gnuplot", "--version"}, folder_, "gnuplot-nox");
    } catch (const UserError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  /// Returns the message of the error that `write_figure` throws with PATH set to `path`.
  std::string failure_with_path(const std::string& path) const {
    const std::string usual = std::getenv("PATH");
    ::setenv("PATH", path.c_str(), 1);
    std::string message;
    try {
      write_figure({.panels = {Panel{}}}, folder_ / "figure");
    } catch (const UserError& error) {
      message = error.what();
    }
    ::setenv("PATH", usual.c_str(), 1);
    return message;
  }

  fs::path folder_;
};

Figure example() {
  Panel accuracy{
      .title = "Accuracy", .x = {.label = "Width (bits)"}, .y = {.label = "Accuracy (%)"}};
  accuracy.series = {{.label = "PTQ",
                      .points = {{4, 50, 48, 52}, {8, 82}, {16, 84, 83, 85}},
                      .spread = Spread::bars},
                     {.label = "QAT",
                      .points = {{4, 79}, {8, 84}, {16, 84}},
                      .draw = Draw::steps,
                      .spread = Spread::band}};
  accuracy.references = {{83.8, "fp32 83.8"}};
  Panel flips{.x = {.label = "Width (bits)"}, .y = {.label = "Flips (%)", .logarithmic = true}};
  flips.series = {
      {.label = "PTQ", .points = {{4, 48}, {8, kNoValue}, {16, 0}}, .draw = Draw::points}};
  return {.title = "Fixed point", .panels = {accuracy, flips}};
}

// Returns the size in a PNG file: two big-endian words after the signature and the header of the first chunk.
std::pair<unsigned, unsigned> png_size(const std::string& png) {
  const auto word = [&](std::size_t at) {
    unsigned value = 0;
    for (std::size_t i = at; i < at + 4; ++i)
      value = value << 8 | static_cast<unsigned char>(png[i]);
    return value;
  };
  return {word(16), word(20)};
}

TEST(FigureData, HasABlockForEachSeriesThatHasPoints) {
  Figure figure;
  figure.panels.resize(2);
  figure.panels[0].series = {{.label = "a\tb", .points = {{1, 0.5, 0.25, 0.75}, {2, kNoValue}}},
                             {.label = "none"}};
  figure.panels[1].series = {{.points = {{1e-9, 1e300}}}};
  EXPECT_EQ(figure_data(figure),
            "# panel\tseries\tx\ty\tlow\thigh\tdrawn_x\tdrawn_y\tname\n"
            "1\ta b\t1\t0.5\t0.25\t0.75\t1\t0.5\t\n"
            "1\ta b\t2\tnan\tnan\tnan\t2\tnan\t\n"
            "\n\n"
            "2\t\t1e-09\t1e+300\tnan\tnan\t1e-09\t1e+300\t\n");
}

TEST(FigureData, HasTheCornersOfABandAroundSteps) {
  Figure figure;
  figure.panels.resize(1);
  figure.panels[0].series = {{.label = "best",
                              .points = {{1, 2, 1, 3}, {4, 6, 5, 7}},
                              .draw = Draw::steps,
                              .spread = Spread::band}};
  EXPECT_EQ(figure_data(figure),
            "# panel\tseries\tx\ty\tlow\thigh\tdrawn_x\tdrawn_y\tname\n"
            "1\tbest\t1\t2\t1\t3\t1\t2\t\n"
            "1\tbest\t4\t6\t5\t7\t4\t6\t\n"
            "\n\n"
            "1\tbest\t1\t2\t1\t3\t1\t2\t\n"
            "1\tbest\t4\t2\t1\t3\t4\t2\t\n"
            "1\tbest\t4\t6\t5\t7\t4\t6\t\n");
  const std::string script = figure_script(figure, "figure");
  EXPECT_NE(script.find("index 1 using 7:(column(5)):(column(6)) with filledcurves"),
            std::string::npos)
      << script;
  EXPECT_NE(script.find("index 0 using 7:(column(8)) with steps"), std::string::npos) << script;
}

TEST(FigureScript, QuotesTextSoThatItCannotBecomeCommands) {
  Figure figure = example();
  figure.title = "it's `date` \"x\"\nquit";
  figure.panels[0].references[0].label = "';system'rm';'";
  const std::string script = figure_script(figure, "name");
  EXPECT_NE(script.find("it''s `date` \"x\" quit"), std::string::npos);
  EXPECT_NE(script.find("set label ''';system''rm'';''' at"), std::string::npos);
}

TEST_F(WriteFigure, LabelsOfReferencesHaveAHalo) {
  Figure figure = example();
  EXPECT_NE(draw_svg(figure, folder_).find("paint-order=\"stroke\""), std::string::npos);
  figure.panels[0].references.clear();
  EXPECT_EQ(draw_svg(figure, folder_).find("paint-order"), std::string::npos);
}

TEST_F(WriteFigure, LeavesPicturesDataAndScript) {
  write_figure(example(), folder_ / "figure.v1");
  EXPECT_EQ(files(), 4u);
  EXPECT_EQ(read_file(folder_ / "figure.v1.tsv"), figure_data(example()));
  EXPECT_EQ(read_file(folder_ / "figure.v1.gp"), figure_script(example(), "figure.v1"));
  const std::string png = read_file(folder_ / "figure.v1.png"),
                    svg = read_file(folder_ / "figure.v1.svg");
  EXPECT_EQ(png_size(png), std::pair(1600u, 1000u));
  EXPECT_TRUE(svg.ends_with("</svg>\n\n")) << "the picture is cut short";
  for (const char* text : {"Fixed point", "PTQ", "QAT", "Accuracy (%)", "fp32 83.8", "Flips (%)"}) {
    EXPECT_NE(svg.find(text), std::string::npos) << text;
  }
  EXPECT_NE(svg.find("DejaVu Sans, Verdana, sans-serif"), std::string::npos);
}

TEST_F(WriteFigure, TheScriptDrawsTheSamePictureAgain) {
  write_figure(example(), folder_ / "figure");
  const std::string png = read_file(folder_ / "figure.png");
  fs::remove(folder_ / "figure.png");
  run_program({"gnuplot", "--default-settings", "figure.gp"}, folder_, "gnuplot-nox");
  EXPECT_EQ(read_file(folder_ / "figure.png"), png);
}

TEST_F(WriteFigure, ShowsTextAsItStands) {
  Figure figure = example();
  figure.title = "a_b^2 {c} 100% 'q' \\n @ & ~ é";
  figure.panels[0].x.ticks = {{4, "50%_{x}"}};
  write_figure(figure, folder_ / "figure");
  const std::string svg = read_file(folder_ / "figure.svg");
  EXPECT_NE(svg.find("a_b^2 {c} 100% 'q' \\n @ &amp; ~ é"), std::string::npos);
  EXPECT_NE(svg.find("50%_{x}"), std::string::npos);
}

TEST_F(WriteFigure, DrawsWhatHasNoPoints) {
  Figure figure = example();
  figure.panels[0].series.clear();
  figure.panels[1].series = {{.label = "gap", .points = {{1, kNoValue}}}, {.label = "none"}};
  write_figure(figure, folder_ / "figure");
  const std::string svg = read_file(folder_ / "figure.svg");
  const std::size_t first = svg.find("no data");
  ASSERT_NE(first, std::string::npos);
  EXPECT_NE(svg.find("no data", first + 1), std::string::npos);
}

TEST_F(WriteFigure, TellsTheValuesOfPoints) {
  write_figure(example(), folder_ / "figure");
  const std::string svg = read_file(folder_ / "figure.svg");
  EXPECT_NE(svg.find("<title>PTQ: Width (bits) 8, Accuracy (%) 82</title>"), std::string::npos)
      << svg;
  EXPECT_EQ(svg.find("gnuplot_svg"), std::string::npos) << "no script is called";
}

TEST_F(WriteFigure, TellsTheNamesOfPoints) {
  Panel panel{.x = {.label = "Bits"}};
  Point point{8, 40};
  point.name = "it's mxint";
  panel.series = {{.label = "kept", .points = {point}, .draw = Draw::points, .with_names = true},
                  {.label = "row", .points = {point}, .draw = Draw::bars}};
  write_figure({.panels = {panel}}, folder_ / "figure");
  const std::string svg = read_file(folder_ / "figure.svg");
  EXPECT_NE(svg.find("<title>kept, it&#39;s mxint: Bits 8</title>"), std::string::npos) << svg;
  EXPECT_NE(svg.find("<title>row, it&#39;s mxint: Bits 8</title>"), std::string::npos) << svg;
}

TEST_F(WriteFigure, DrawsPointsThatHaveNoPlace) {
  for (const bool logarithmic : {false, true}) {
    Panel panel{.x = {.label = "x"}, .y = {.label = "y", .logarithmic = logarithmic}};
    panel.series = {{.label = "gap", .points = {{1, kNoValue}, {2, 3}}},
                    {.label = "out", .points = {{1, -1}, {2, 0}}},
                    {.label = "nowhere", .points = {{kNoValue, 1}, {1, 1}}},
                    {.label = "far", .points = {{1, INFINITY}, {2, INFINITY}}}};
    write_figure({.panels = {panel}}, folder_ / "figure");
    EXPECT_NE(read_file(folder_ / "figure.svg").find("</svg>"), std::string::npos);
  }
}

TEST(FigureScript, TellsCoincidingCurvesApart) {
  Panel panel{.x = {.label = "x"}, .y = {.label = "y"}};
  for (const char* label : {"a", "b", "c", "d"})
    panel.series.push_back({.label = label, .points = {{1, 1}, {2, 2}}});
  const std::string script = figure_script({.panels = {panel}}, "figure");
  for (const char* dash : {"dt 1", "dt (14,7)", "dt (5,5)"})
    EXPECT_NE(script.find(dash), std::string::npos) << dash;
}

TEST(FigureScript, SaysWhereAnAxisIsLogarithmic) {
  Panel panel{.x = {.label = "Width"}, .y = {.label = "Flips", .logarithmic = true}};
  panel.series = {{.points = {{1, 1}, {2, 10}}}};
  const std::string script = figure_script({.panels = {panel}}, "figure");
  EXPECT_NE(script.find("'Flips, logarithmic'"), std::string::npos) << script;
  EXPECT_EQ(script.find("'Width, logarithmic'"), std::string::npos);
}

TEST(FigureScript, ColoursWhatSaysSomething) {
  Panel panel{.x = {.label = "x"}, .y = {.label = "y"}};
  panel.series = {
      {.label = "front", .points = {{1, 1}, {2, 2}}, .draw = Draw::edge, .tone = Tone::quiet},
      {.label = "lost", .points = {{1, 1}}, .draw = Draw::points, .tone = Tone::bad}};
  const std::string script = figure_script({.panels = {panel}}, "figure");
  EXPECT_NE(script.find("steps lc rgb '#666666'"), std::string::npos) << script;
  EXPECT_NE(script.find("point lc rgb '#D55E00' pt 5"), std::string::npos) << script;
  EXPECT_EQ(script.find("point lc rgb '#666666'"), std::string::npos) << "an edge has no markers";
}

TEST(FigureScript, DrawsACircleAroundAPoint) {
  Panel panel{.x = {.label = "x"}, .y = {.label = "y"}};
  panel.series = {{.label = "PTQ", .points = {{4, 50}, {8, 82.5}}}};
  const std::string plain = figure_script({.panels = {panel}}, "figure");
  EXPECT_EQ(plain.find("8,82.5 point"), std::string::npos) << plain;
  panel.series[0].points[1].is_ringed = true;
  const std::string script = figure_script({.panels = {panel}}, "figure");
  EXPECT_NE(script.find("set label '' at first 8,82.5 point"), std::string::npos) << script;
}

TEST(FigureScript, WritesEachLineOfAWrappedLabel) {
  Panel panel{.title = "Mean of the first n calls of a fresh process", .y = {.label = "ms"}};
  panel.series = {
      {.label = "packed, linear layers only, each decoded as a whole", .points = {{0, 0}, {1, 1}}}};
  const Figure narrow = narrow_figure({.panels = {panel}}).value();
  const FigureLayout layout = lay_out(narrow);
  const std::string script = figure_script(narrow, "figure");
  for (const std::string& line : layout.legend[0].lines)
    EXPECT_NE(script.find("set label '" + line + "' at screen"), std::string::npos) << script;
  for (const std::string& line : layout.panels[0].title.lines)
    EXPECT_NE(script.find("{/:Bold=14 " + line + "}"), std::string::npos) << script;
}

TEST(FigureScript, BreaksTheLinesOfNamesOnAnAxis) {
  Panel panel = example().panels[0];
  panel.y.ticks = {{50, "weights in\n\"fp32\", 50%"}, {84, "it's"}};
  const std::string script = figure_script({.panels = {panel}}, "figure");
  EXPECT_NE(script.find(R"(set ytics ("weights in\n\"fp32\", 50%%" 50, 'it''s' 84))"),
            std::string::npos)
      << script;
}

TEST(FigureScript, DrawsSingleValuesFaintlyBehindTheirMean) {
  Panel panel{.x = {.label = "x"}, .y = {.label = "y"}};
  panel.series = {{.label = "loss", .points = {{1, 1}, {2, 2}}, .draw = Draw::faint},
                  {.label = "loss", .points = {{1, 1.5}, {2, 1.5}}, .draw = Draw::smooth}};
  const std::string script = figure_script({.panels = {panel}}, "figure");
  EXPECT_NE(script.find("lines lc rgb '#A00072B2' lw 1"), std::string::npos) << script;
  EXPECT_EQ(script.find("points lc rgb"), std::string::npos) << script;
  EXPECT_EQ(lay_out({.panels = {panel}}).legend.size(), 1);
}

TEST_F(WriteFigure, ReplacesAnEarlierFigure) {
  write_figure(example(), folder_ / "figure");
  Figure figure = example();
  figure.title = "Second";
  write_figure(figure, folder_ / "figure");
  EXPECT_NE(read_file(folder_ / "figure.svg").find("Second"), std::string::npos);
  EXPECT_EQ(files(), 4u);
}

TEST_F(WriteFigure, SaysWhatGnuplotRefused) {
  write_file(folder_ / "gnuplot", "#!/bin/sh\necho \"line 3: no $2\" >&2\nexit 1\n");
  fs::permissions(folder_ / "gnuplot", fs::perms::owner_all);
  EXPECT_EQ(failure_with_path(folder_.string() + ":" + std::getenv("PATH")),
            "figure: gnuplot ended with code 1: line 3: no figure.gp");
  EXPECT_EQ(files(), 1u) << "a failed figure leaves nothing behind";
}

TEST_F(WriteFigure, NamesThePackageWhereGnuplotIsMissing) {
  EXPECT_EQ(failure_with_path(folder_.string()),
            "figure: gnuplot is not installed; install the package gnuplot-nox");
  EXPECT_EQ(files(), 0u) << "a failed figure leaves nothing behind";
}

}  // namespace
}  // namespace hone
