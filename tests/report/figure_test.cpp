#include "hone/report/figure.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>

#include "hone/base/error.h"
#include "hone/report/figure_script.h"
#include "hone/report/gnuplot.h"

namespace hone {
namespace {

/// A folder for the figures of a test, and gnuplot to draw them.
class WriteFigure : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("hone_figure_test_{}", ::getpid());
    fs::create_directories(folder_);
    try {
      write_file(folder_ / "nothing.gp", "");
      run_gnuplot(folder_, "nothing.gp");
      fs::remove(folder_ / "nothing.gp");
      fs::remove(folder_ / "gnuplot.log");
    } catch (const UserError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
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

// The size that a PNG file says it has: two big-endian words after the signature and the head of
// the first chunk.
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
            "# panel\tseries\tx\ty\tlow\thigh\n"
            "1\ta b\t1\t0.5\t0.25\t0.75\n"
            "1\ta b\t2\tnan\tnan\tnan\n"
            "\n\n"
            "2\t\t1e-09\t1e+300\tnan\tnan\n");
}

TEST(FigureScript, QuotesTextSoThatItCannotBecomeCommands) {
  Figure figure = example();
  figure.title = "it's `date` \"x\"\nquit";
  figure.panels[0].references[0].label = "' ; system 'rm' ; '";
  const std::string script = figure_script(figure, "name");
  EXPECT_NE(script.find("it''s `date` \"x\" quit"), std::string::npos);
  EXPECT_NE(script.find("set label ''' ; system ''rm'' ; ''' at"), std::string::npos);
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
  run_gnuplot(folder_, "figure.gp");
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

TEST_F(WriteFigure, ReplacesAnEarlierFigure) {
  write_figure(example(), folder_ / "figure");
  Figure figure = example();
  figure.title = "Second";
  write_figure(figure, folder_ / "figure");
  EXPECT_NE(read_file(folder_ / "figure.svg").find("Second"), std::string::npos);
  EXPECT_EQ(files(), 4u);
}

TEST_F(WriteFigure, SaysWhatGnuplotRefused) {
  write_file(folder_ / "bad.gp", "set nonsense\n");
  try {
    run_gnuplot(folder_, "bad.gp");
    FAIL() << "nonsense was accepted";
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with("figure: gnuplot ended with code 1: ")) << message;
    EXPECT_NE(message.find("set nonsense"), std::string::npos) << message;
  }
}

TEST_F(WriteFigure, NamesThePackageWhereGnuplotIsMissing) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", folder_.c_str(), 1);
  std::string message;
  try {
    write_figure(example(), folder_ / "figure");
  } catch (const UserError& error) {
    message = error.what();
  }
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(message,
            "figure: gnuplot is not installed; install the package gnuplot-nox (apt install "
            "gnuplot-nox)");
  EXPECT_EQ(files(), 0u) << "a failed figure leaves nothing behind";
}

}  // namespace
}  // namespace hone
