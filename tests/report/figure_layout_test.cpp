#include "hone/report/figure_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/report/figure_places.h"

namespace hone {
namespace {

Panel panel_with(const std::vector<std::string>& series_labels) {
  Panel panel{.title = "Title", .x = {.label = "x"}, .y = {.label = "y"}};
  for (const std::string& label : series_labels) {
    panel.series.push_back({.label = label, .points = {{0, 0}, {1, 1}}});
  }
  return panel;
}

TEST(LayOut, SeriesOfOneLabelShareAStyleAndALegendEntry) {
  const Figure figure{.panels = {panel_with({"PTQ", "QAT"}), panel_with({"QAT", ""})}};
  const FigureLayout layout = lay_out(figure);
  ASSERT_EQ(layout.legend.size(), 2u) << "an empty label has no entry";
  EXPECT_EQ(layout.legend[0].label, "PTQ");
  EXPECT_EQ(layout.legend[1].label, "QAT");
  EXPECT_EQ(style_of(layout, figure.panels[0].series[1]),
            style_of(layout, figure.panels[1].series[0]));
  EXPECT_NE(style_of(layout, figure.panels[1].series[1]),
            style_of(layout, figure.panels[1].series[0]));
}

TEST(LayOut, KnowsWhetherPointsAreMovedSideways) {
  Figure figure{.panels = {panel_with({"one"}), panel_with({"PTQ", "QAT"})}};
  EXPECT_TRUE(moves_points(figure, lay_out(figure))) << "both curves have the same points";
  figure.panels.pop_back();
  figure.panels[0].series[0].points.push_back({std::nan(""), 1});
  EXPECT_FALSE(moves_points(figure, lay_out(figure)));
}

TEST(LayOut, LegendWrapsInsideTheFigureAndPushesThePlotDown) {
  std::vector<std::string> many;
  for (int i = 0; i < 20; ++i) many.push_back(fmt::format("block minifloat {}", i));
  const Figure figure{.panels = {panel_with(many)}};
  const FigureLayout layout = lay_out(figure), small = lay_out({.panels = {panel_with({"one"})}});
  for (std::size_t i = 0; i < layout.legend.size(); ++i) {
    const LegendEntry& entry = layout.legend[i];
    EXPECT_LE(entry.x + kLegendSampleWidth + text_width(entry.label, kFontSize), figure.width);
    if (i > 0 && entry.y == layout.legend[i - 1].y) {
      EXPECT_GT(entry.x,
                layout.legend[i - 1].x + kLegendSampleWidth + text_width(entry.label, kFontSize));
    }
  }
  EXPECT_LT(layout.legend.back().y, layout.legend.front().y);
  EXPECT_LT(layout.panels[0].plot.top, layout.legend.back().y);
  EXPECT_LT(layout.panels[0].plot.top, small.panels[0].plot.top);
}

TEST(LayOut, PanelsStandSideBySideOrStackedWithoutTouching) {
  Figure figure{.panels = {panel_with({"a"}), panel_with({"a"})}};
  figure.panels[1].series[0].points = {{0, 1000000}, {1, 2000000}};  // wide ticks
  const FigureLayout beside = lay_out(figure);
  EXPECT_LT(beside.panels[0].plot.right, beside.panels[1].y_label.x);
  EXPECT_EQ(beside.panels[0].plot.top, beside.panels[1].plot.top);
  EXPECT_LT(beside.panels[1].plot.right, figure.width);
  figure.stacked = true;
  const FigureLayout stacked = lay_out(figure);
  EXPECT_GT(stacked.panels[0].x_label.y, stacked.panels[1].plot.top);
  EXPECT_EQ(stacked.panels[0].plot.left, stacked.panels[1].plot.left);
  EXPECT_GT(stacked.panels[1].plot.bottom, 0);
}

TEST(LayOut, PlotsSideBySideHaveOneHeightWhateverTheirLabelsNeed) {
  Figure figure{.panels = {panel_with({"a"}), panel_with({"a"})}};
  figure.panels[1].title = figure.panels[1].x.label =
      "A text that is longer than the panel is wide, so that it takes more than one line";
  const FigureLayout layout = lay_out(figure);
  ASSERT_GT(layout.panels[1].x_label.lines.size(), layout.panels[0].x_label.lines.size());
  EXPECT_EQ(layout.panels[0].plot.bottom, layout.panels[1].plot.bottom);
  EXPECT_EQ(layout.panels[0].plot.top, layout.panels[1].plot.top);
  EXPECT_EQ(layout.panels[0].x_label.y, layout.panels[1].x_label.y);
}

TEST(LayOut, ReferenceLabelsStandWhereNoCurveIs) {
  // The curve is right above the line in the right half and far below it in the left half.
  Panel panel = panel_with({});
  panel.series.push_back({.points = {{0, 0}, {0.5, 0}, {0.55, 10.2}, {1, 10.2}}});
  panel.references = {{10, "baseline"}};
  const PanelLayout layout = lay_out({.panels = {panel}}).panels[0];
  ASSERT_EQ(layout.reference_labels.size(), 1u);
  const Box box = layout.reference_labels[0].box;
  const double line = layout.pixel_y(10);
  EXPECT_TRUE(box.top < line || box.right < layout.pixel_x(0.5));
  EXPECT_NEAR((box.bottom + box.top) / 2, line, 20);
}

TEST(LayOut, ReferenceLabelsStandWhereNoIntervalIs) {
  Panel panel = panel_with({});
  panel.x.range = Range{-0.5, 0.5};
  panel.series.push_back(
      {.points = {{0.4, 5, 0, 20}}, .draw = Draw::points, .spread = Spread::bars});
  panel.references = {{10, "before, one model"}};
  const PanelLayout layout = lay_out({.panels = {panel}}).panels[0];
  ASSERT_EQ(layout.reference_labels.size(), 1u);
  EXPECT_LT(layout.reference_labels[0].box.right, layout.pixel_x(0.4));
}

// On one line the label fits neither left of the first curve nor between two curves.
TEST(LayOut, ReferenceLabelsTakeTwoLinesWhereThoseAreFree) {
  Panel panel = panel_with({});
  for (const double x : {2.5, 5.0, 7.5, 10.0})
    panel.series.push_back({.points = {{x, 0}, {x, 20}}});
  panel.x.range = Range{0, 10};
  panel.references = {{10, "full precision, trained as long"}};
  const PanelLayout layout = lay_out({.panels = {panel}}).panels[0];
  const ReferenceLabel& label = layout.reference_labels.at(0);
  EXPECT_EQ(label.lines, (std::vector<std::string>{"full precision,", "trained as long"}));
  for (const Pixel& pixel : curve_pixels(panel, layout))
    EXPECT_FALSE(overlap(label.box, {pixel.x, pixel.y, pixel.x, pixel.y}));
}

TEST(LayOut, ReferenceLabelsDoNotLieOnTheEdgeOfABand) {
  Panel panel = panel_with({});
  panel.series.push_back(
      {.points = {{0, 5, 0, 10.5}, {1, 5, 0, 10.5}}, .draw = Draw::steps, .spread = Spread::band});
  panel.references = {{10, "baseline"}};
  const PanelLayout layout = lay_out({.panels = {panel}}).panels[0];
  const Box box = layout.reference_labels.at(0).box;
  const double edge = layout.pixel_y(10.5);
  EXPECT_TRUE(box.top < edge || edge < box.bottom);
}

// A label above the upper of two close lines would seem to belong to that one.
TEST(LayOut, NoOtherReferenceIsBetweenALabelAndItsLine) {
  Panel panel = panel_with({});
  panel.series.push_back({.points = {{0, 0}, {1, 100}}});
  panel.references = {{50, "lower"}, {51, "upper"}};
  const PanelLayout layout = lay_out({.panels = {panel}}).panels[0];
  EXPECT_LT(layout.reference_labels.at(0).box.top, layout.pixel_y(50));
  EXPECT_GT(layout.reference_labels.at(1).box.bottom, layout.pixel_y(51));
}

TEST(LayOut, LabelsOfNearReferencesCoverNeitherEachOtherNorARing) {
  Panel panel = panel_with({});
  panel.series.push_back({.points = {{0, 50}, {1, 75}, {3, 76.4}}, .draw = Draw::steps});
  panel.series[0].points[2].is_ringed = true;
  panel.references = {{76.35, "before the search"}, {75.05, "full precision, same training"}};
  const auto narrow = narrow_figure({.panels = {panel}});
  ASSERT_TRUE(narrow.has_value());
  const PanelLayout layout = lay_out(*narrow).panels[0];
  ASSERT_EQ(layout.reference_labels.size(), 2U);
  const Box upper = layout.reference_labels[0].box, lower = layout.reference_labels[1].box;
  EXPECT_FALSE(overlap(upper, lower));
  EXPECT_GT(upper.bottom, layout.pixel_y(76.35)) << "the axis goes on for it";
  const double x = layout.pixel_x(3), y = layout.pixel_y(76.4);
  for (const Box& box : {upper, lower}) EXPECT_FALSE(overlap(box, {x - 8, y - 8, x + 8, y + 8}));
}

TEST(LayOut, BreaksOrCutsLabelsOfReferencesThatAreWiderThanThePlot) {
  Panel panel = panel_with({"a"});
  panel.references = {{0.5, "the same model before anything was changed, trained for ten epochs"}};
  panel.references.push_back({0.1, std::string(100, 'w')});
  const PanelLayout layout = lay_out(*narrow_figure({.panels = {panel}})).panels[0];
  ASSERT_EQ(layout.reference_labels.size(), 2U);
  EXPECT_EQ(layout.reference_labels[0].lines.size(), 2U);
  EXPECT_EQ(layout.reference_labels[1].lines.size(), 1U);
  for (const ReferenceLabel& label : layout.reference_labels) {
    EXPECT_GE(label.box.left, layout.plot.left);
    EXPECT_LE(label.box.right, layout.plot.right);
  }
}

TEST(LayOut, ReferencesOutOfViewAreLeftOut) {
  Panel panel = panel_with({"a"});
  panel.y.range = Range{0, 1};
  panel.references = {{0.5, "in"}, {2, "out"}};
  const PanelLayout layout = lay_out({.panels = {panel}}).panels[0];
  ASSERT_EQ(layout.reference_labels.size(), 1u);
  EXPECT_EQ(layout.reference_labels[0].reference.label, "in");
}

TEST(LayOut, KnowsWhenThereIsNothingToDraw) {
  EXPECT_TRUE(lay_out({.panels = {panel_with({"a"})}}).panels[0].has_points);
  Panel panel = panel_with({});
  panel.series.push_back({.points = {{1, kNoValue}}});
  EXPECT_FALSE(lay_out({.panels = {panel}}).panels[0].has_points);
}

TEST(LayOut, RefusesFiguresWithoutRoomOrPanels) {
  EXPECT_THROW(lay_out({.panels = {panel_with({"a"})}, .width = 100}), InternalError);
  EXPECT_THROW(lay_out({}), InternalError);
}

TEST(LayOut, ShortensNamesOnTheYAxisThatLeaveNoRoom) {
  Panel panel = panel_with({"one"});
  panel.y.ticks = {{0, "format: " + std::string(300, 'a')}, {1, "none"}};
  const PanelLayout layout = lay_out({.panels = {panel}, .width = 600}).panels[0];
  EXPECT_GT(layout.plot.right - layout.plot.left, 200);
  EXPECT_TRUE(layout.y.ticks[0].label.starts_with("format: "));
  EXPECT_LT(text_width(layout.y.ticks[0].label, kFontSize), 300);
  EXPECT_EQ(layout.y.ticks[1].label, "none");
}

TEST(LayOut, NamesOnTheXAxisDoNotRunIntoEachOther) {
  Panel panel = panel_with({"one"});
  panel.x.ticks = {{0, "4.2"}, {0.01, "6.3"}, {0.5, "8.4"}, {1, "16.8"}};
  const FigureLayout layout = lay_out({.panels = {panel}});
  std::vector<std::string> names;
  for (const Tick& tick : layout.panels[0].x.ticks) names.push_back(tick.label);
  EXPECT_EQ(names, (std::vector<std::string>{"4.2", "", "8.4", "16.8"}));
}

TEST(NarrowFigure, StacksPanelsUnderALegendOfAnyLength) {
  std::vector<std::string> many;
  for (int i = 0; i < 20; ++i) many.push_back(fmt::format("block minifloat {}", i));
  const Figure wide{.panels = {panel_with(many), panel_with(many)}, .width = 1000};
  const std::optional<Figure> narrow = narrow_figure(wide);
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->width, 360);
  const FigureLayout layout = lay_out(*narrow);
  EXPECT_LT(layout.panels[1].plot.top, layout.panels[0].plot.bottom);
  for (const PanelLayout& panel : layout.panels)
    EXPECT_GT(panel.plot.top - panel.plot.bottom, 150) << "room to see something";
  EXPECT_LT(narrow_figure({.panels = {panel_with({"one"})}})->height, narrow->height / 2)
      << "the legend takes lines of its own";
}

TEST(NarrowFigure, WrapsWhatIsWiderThanAPhone) {
  Panel panel = panel_with({"packed, linear layers only, each decoded as a whole", "eager"});
  panel.title = "Mean of the first n calls of a fresh process";
  panel.x.label = "Resident memory of the process, as a share of the weights in fp32 (%)";
  panel.y.label = "Time of moving the bytes / time of decoding them (%)";
  const Figure narrow = narrow_figure({.panels = {panel, panel}}).value();
  const FigureLayout layout = lay_out(narrow);
  ASSERT_EQ(layout.legend.size(), 2U);
  EXPECT_GT(layout.legend[0].lines.size(), 1U);
  EXPECT_LT(
      layout.legend[1].y,
      layout.legend[0].y - kLineHeight * static_cast<double>(layout.legend[0].lines.size() - 1))
      << "below all lines of the first";
  const auto fits = [](const std::vector<std::string>& lines, int size, double left, double right) {
    EXPECT_GT(lines.size(), 1U);
    for (const std::string& line : lines) EXPECT_LE(left + text_width(line, size), right) << line;
  };
  fits(layout.legend[0].lines, kFontSize, layout.legend[0].x + kLegendSampleWidth + kLegendTextGap,
       narrow.width);
  for (const PanelLayout& one : layout.panels) {
    fits(one.title.lines, kPanelTitleSize, one.title.x, narrow.width);
    fits(one.x_label.lines, kFontSize, 0, narrow.width);
    fits(one.y_label.lines, kFontSize, 0, narrow.height / 2.0);
    EXPECT_GT(one.plot.top - one.plot.bottom, 150);
    EXPECT_LT(one.title.y, one.plot.top + 14 + 4 * kLineHeight);
    EXPECT_GT(one.title.y - kLineHeight * static_cast<double>(one.title.lines.size() - 1),
              one.plot.top);
    EXPECT_LT(one.y_label.x + kLineHeight * static_cast<double>(one.y_label.lines.size() - 1),
              one.plot.left);
    EXPECT_GT(one.x_label.y - kLineHeight * static_cast<double>(one.x_label.lines.size() - 1), 0);
  }
  const double second = layout.panels[1].title.y + kLineHeight / 2;
  EXPECT_GT(layout.panels[0].x_label.y -
                kLineHeight * static_cast<double>(layout.panels[0].x_label.lines.size() - 1),
            second)
      << "panels do not touch";
}

TEST(NarrowFigure, KeepsTheLastNameOfTheXAxisInside) {
  Panel panel = panel_with({"one"});
  panel.x.ticks = {{0, "65,536"}, {1, "117,440,512"}};
  const Figure narrow = narrow_figure({.panels = {panel}}).value();
  const PanelLayout layout = lay_out(narrow).panels[0];
  EXPECT_LE(layout.pixel_x(1) + text_width("117,440,512", kFontSize) / 2, narrow.width);
}

TEST(Wrapped, BreaksAtSpacesAndInsideOfWordsThatAreTooLong) {
  const auto lines = wrapped("grid: mean of 3, lowest to highest", kFontSize, 150);
  ASSERT_GT(lines.size(), 1U);
  std::string all;
  for (const std::string& line : lines) {
    EXPECT_LE(text_width(line, kFontSize), 150);
    all += (all.empty() ? "" : " ") + line;
  }
  EXPECT_EQ(all, "grid: mean of 3, lowest to highest");
  EXPECT_EQ(wrapped("short", kFontSize, 150), std::vector<std::string>{"short"});
  const auto parts = wrapped("äääääääääääääää", kFontSize, 50);
  ASSERT_GT(parts.size(), 1U);
  std::string whole;
  for (const std::string& part : parts) {
    EXPECT_EQ(part.size() % 2, 0U) << "no character is cut";
    whole += part;
  }
  EXPECT_EQ(whole, "äääääääääääääää");
}

TEST(NarrowFigure, CutsNamesThatLeaveNoRoom) {
  Panel panel = panel_with({"one"});
  panel.y.ticks = {{0.5, "bert.encoder.layer.0.attention.self.query"}};
  const std::optional<Figure> narrow = narrow_figure({.panels = {panel}});
  ASSERT_TRUE(narrow);
  const std::string& name = narrow->panels[0].y.ticks[0].label;
  EXPECT_TRUE(name.ends_with("tion.self.query")) << name;
  EXPECT_LE(text_width(name, kFontSize), 180);
}

TEST(NarrowFigure, IsNoneWhereCutNamesAreAlike) {
  Panel panel = panel_with({"one"});
  panel.y.ticks = {{0.5, "bert.encoder.layer.0.attention.self.query"},
                   {0.6, "bert.encoder.layer.1.attention.self.query"}};
  EXPECT_FALSE(narrow_figure({.panels = {panel}}));
}

TEST(NarrowFigure, WritesLongNamesOfBarsOnTwoLines) {
  Panel panel = panel_with({"one"});
  panel.series[0].draw = Draw::bars;
  panel.y.ticks = {{0, "weights of layer norms in fp32"}, {1, "header"}};
  const Figure narrow = narrow_figure({.panels = {panel}}).value();
  const std::vector<Tick> ticks = lay_out(narrow).panels[0].y.ticks;
  EXPECT_EQ(std::ranges::count(ticks[0].label, '\n'), 1);
  EXPECT_EQ(ticks[0].label.find("…"), std::string::npos) << "nothing is cut";
  EXPECT_EQ(ticks[1].label, "header");
  for (int i = 2; i < 40; ++i)
    panel.y.ticks.push_back({static_cast<double>(i), fmt::format("{}", i)});
  const Figure crowded = narrow_figure({.panels = {panel}}).value();
  EXPECT_EQ(crowded.panels[0].y.ticks[0].label.find('\n'), std::string::npos) << "no room for two";
}

TEST(NarrowFigure, IsAsHighAsItsBars) {
  Panel panel = panel_with({"one"});
  panel.series[0].draw = Draw::bars;
  EXPECT_GE(narrow_figure({.panels = {panel}, .height = 1200})->height, 1200);
}

}  // namespace
}  // namespace hone
