#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/file.h"
#include "hone/report/text_layout.h"

/// Figures: panels of curves, drawn by gnuplot as SVG and PNG.
///
///     Panel panel{.x = {.label = "Width (bits)"}, .y = {.label = "Accuracy (%)"}};
///     panel.series.push_back({.label = "PTQ", .points = {{4, 50.1}, {8, 82.3}, {16, 83.7}}});
///     panel.references.push_back({.y = 83.8, .label = "fp32 83.8"});
///     write_figure({.title = "Fixed point", .panels = {panel}}, "out/accuracy");   //
///     out/accuracy.svg, .png, .gp, .tsv
///
/// Series with the same label have the same colour and marker in all panels and share one entry of
/// the legend. The colours are told apart with any colour vision; markers and dashes repeat the
/// distinction, and show curves that coincide. Where a marker or an interval would cover that of
/// another series it stands beside it, a little sideways; its values are those it has. The SVG tells
/// them of the point that the mouse is over, and a page of the one that is nearest (report/figure_points.h).
namespace hone {

inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

/// A point that has a NaN or infinite x or y leaves a gap. `low` and `high` are the ends of its
/// spread, in units of y.
struct Point {
  double x = 0;
  double y = 0;
  double low = kNoValue;
  double high = kNoValue;
  std::string name = {};    ///< told with its values
  std::string detail = {};  ///< told behind them to whoever points at it: what it stands for
  bool is_ringed = false;   ///< has a circle around it, as the best one of a figure
};

enum class Draw {
  curve,   ///< straight lines with a marker at each point
  line,    ///< straight lines with a few markers, for many points
  smooth,  ///< straight lines without markers: the mean of what is `faint`
  steps,   ///< each value holds until the next point, with a few markers: best so far
  points,  ///< markers alone
  faint,   ///< a thin, light line without markers: single values behind the line of their mean
  edge,    ///< steps without markers: what bounds the points of other series
  bars,    ///< from the y axis to the point, along x, with a marker at its end; series that share
           ///< the room of a row stand one below the other
};

/// Whether points of it have markers.
constexpr bool has_markers(Draw draw) {
  return draw != Draw::faint && draw != Draw::smooth && draw != Draw::edge;
}

enum class Spread { none, bars, band };

struct Series {
  std::string label = {};  ///< in the legend; an empty one has no entry
  std::vector<Point> points = {};
  Draw draw = Draw::curve;
  Spread spread = Spread::none;  ///< how `low` and `high` of the points show
  /// The names of the points are written beside them, where there is room: the points of the first series first. Equal names are
  /// written once in a panel, those of bars at each.
  bool with_names = false;
  Tone tone = Tone::plain;  ///< its colour, where that says something; otherwise one of its own
};

/// A dashed horizontal line: a baseline.
struct Reference {
  double y = 0;
  std::string label = {};
};

struct Range {
  double low = 0;
  double high = 0;
};

struct Tick {
  double value = 0;
  std::string label = {};  ///< on a y axis of one line or, with a line break, two
};

/// Which end of an axis is the better one; a figure that is zoomed in contains it.
enum class BetterEnd : std::uint8_t { unknown, low, high };

struct Axis {
  std::string label = {};
  /// Values of 0 on a logarithmic y axis are drawn at its lower end, which is then marked "0";
  /// negative ones and those of x are left out.
  bool logarithmic = false;
  std::optional<Range> range = std::nullopt;  ///< zooms in; otherwise all points are seen
  /// Names of categories, or the values that were tested; otherwise round numbers, whole ones where all values are whole.
  std::vector<Tick> ticks = {};
  /// Whether ticks are whole numbers where two of them fit, although values lie between them, as those of epochs do.
  bool whole_ticks = false;
  BetterEnd better = BetterEnd::unknown;
};

struct Panel {
  std::string title = {};
  Axis x = {};
  Axis y = {};
  std::vector<Series> series = {};
  std::vector<Reference> references = {};
};

struct Figure {
  std::string title = {};
  std::vector<Panel> panels = {};
  bool stacked = false;  ///< panels one below the other; otherwise side by side
  int width = 800;       ///< of the SVG in pixels; the PNG has twice as many each way
  int height = 500;
  std::string note = {};  ///< sentences for the caption on a page
};

/// Writes `stem`.svg and `stem`.png, and beside them what they were drawn from: `stem`.tsv (columns
/// panel, series, x, y, low, high, the x and y it is drawn at, name) and `stem`.gp, which draws them
/// again by `gnuplot NAME.gp` in their folder. Each file appears whole. Throws `UserError` if gnuplot
/// is missing or fails, or a file cannot be written.
void write_figure(const Figure& figure, const fs::path& stem);

/// The text of the SVG alone. gnuplot works in a folder inside of `folder` that is gone afterwards.
/// Throws `UserError` as `write_figure` does.
std::string draw_svg(const Figure& figure, const fs::path& folder);

}  // namespace hone
