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
///     // Writes out/accuracy.svg, .png, .gp and .tsv.
///     write_figure({.title = "Fixed point", .panels = {panel}}, "out/accuracy");
///
/// Series with the same label have the same color and marker in all panels and share one legend entry. The colors are
/// distinct with any color vision; markers and dashes repeat the distinction, and show curves that coincide. If a
/// marker or an interval would cover that of another series, it moves a little sideways; its values do not change. The
/// SVG shows the values of the point under the mouse, and a page those of the nearest one (report/figure_points.h).
namespace hone {

inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

/// A point that has a NaN or infinite x or y leaves a gap. `low` and `high` are the ends of its
/// spread, in units of y.
struct Point {
  double x = 0;
  double y = 0;
  double low = kNoValue;
  double high = kNoValue;
  std::string name = {};    ///< shown with its values
  std::string detail = {};  ///< shown after them when the mouse is over it
  bool is_ringed = false;   ///< has a circle around it, like the best one of a figure
};

enum class Draw {
  curve,   ///< straight lines with a marker at each point
  line,    ///< straight lines with a few markers, for many points
  smooth,  ///< straight lines without markers: the mean of `faint` series
  steps,   ///< each value holds until the next point, with a few markers: best so far
  points,  ///< markers alone
  faint,   ///< a thin, light line without markers: single values behind their mean
  edge,    ///< steps without markers: the bound of the points of other series
  bars,  ///< from the y axis to the point, along x, with a marker at its end; several series share a row
};

/// Whether its points have markers.
constexpr bool has_markers(Draw draw) {
  return draw != Draw::faint && draw != Draw::smooth && draw != Draw::edge;
}

enum class Spread { none, bars, band };

struct Series {
  std::string label = {};  ///< in the legend; an empty one has no entry
  std::vector<Point> points = {};
  Draw draw = Draw::curve;
  Spread spread = Spread::none;  ///< how `low` and `high` of the points are drawn
  /// Writes the names of the points next to them if there is room, in the order of the series. Equal names are written
  /// once in a panel, those of bars at each.
  bool with_names = false;
  Tone tone = Tone::plain;  ///< its color if that has a meaning; otherwise a color of its own
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
  std::string label = {};  ///< one line; on a y axis with a line break two
};

/// The better end of an axis; a zoomed figure contains it.
enum class BetterEnd : std::uint8_t { unknown, low, high };

struct Axis {
  std::string label = {};
  /// Draws values of 0 on a logarithmic y axis at its lower end, which is then marked "0"; leaves out negative values,
  /// and those of x.
  bool logarithmic = false;
  std::optional<Range> range = std::nullopt;  ///< zooms in; otherwise all points are visible
  /// Names of categories, or the tested values. Otherwise round numbers, whole ones if all values are whole.
  std::vector<Tick> ticks = {};
  /// Whether ticks are whole numbers if at least two fit, even with other values between them, as for epochs.
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
  bool stacked = false;  ///< panels below each other; otherwise side by side
  int width = 800;       ///< of the SVG in pixels; the PNG is twice as wide and high
  int height = 500;
  std::string note = {};  ///< sentences for the caption on a page
};

/// Writes `stem`.svg and `stem`.png, and their sources: `stem`.tsv (columns panel, series, x, y, low, high, the x and y
/// it is drawn at, name) and `stem`.gp, which draws them again with `gnuplot NAME.gp` in their folder. Each file is
/// written atomically. Throws `UserError` if gnuplot is missing or fails, or a file cannot be written.
void write_figure(const Figure& figure, const fs::path& stem);

/// Returns the text of the SVG. gnuplot works in a temporary folder inside `folder`. Throws `UserError` as
/// `write_figure` does.
std::string draw_svg(const Figure& figure, const fs::path& folder);

}  // namespace hone
