#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/report/figure.h"
#include "hone/report/figure_axis.h"

/// The layout of a figure, in pixels of the SVG from its lower left corner.
namespace hone {

inline constexpr int kFontSize = 13;
inline constexpr int kPanelTitleSize = 14;
inline constexpr int kTitleSize = 17;

/// Returns an estimate of the width in pixels of text in DejaVu Sans, rather too large.
double text_width(std::string_view text, int font_size);

struct Box {
  double left = 0;
  double bottom = 0;
  double right = 0;
  double top = 0;
};

bool overlap(const Box& a, const Box& b);

/// Breaks text into lines of at most `width` pixels, at spaces if possible, otherwise inside words.
std::vector<std::string> wrapped(std::string_view text, int font_size, double width);

inline constexpr double kLineHeight = 20;

/// One distinct label of the figure's series.
struct LegendEntry {
  std::string label;
  std::vector<std::string> lines = {};  ///< the label, wrapped
  double x = 0;                         ///< left end of the sample of the line
  double y = 0;                         ///< middle of the first line of text
  bool line = false;                    ///< whether the sample has a line
  bool marker = false;                  ///< and a marker on it
  bool bar = false;                     ///< the line is as thick as a bar
  Tone tone = Tone::plain;
};

inline constexpr double kLegendSampleWidth = 26;
inline constexpr double kLegendTextGap = 6;  ///< between the sample and the text

/// A visible reference line and its label.
struct ReferenceLabel {
  Reference reference;
  std::vector<std::string> lines = {};  ///< one or two, the upper one first
  Box box = {};                         ///< around them; each line begins at its left
};

inline constexpr double kReferenceLine = 1.2 * kFontSize;  ///< height of a line of such a label

/// The name of a point and its position.
struct PointName {
  std::string text;
  double x = 0;  ///< left end of the text
  double y = 0;  ///< its middle
};

inline constexpr int kNameSize = 11;

/// The position of a drawn point, in the units of the axes.
struct Place {
  double x = 0;
  double y = 0;
};

/// A text of a panel in lines that fit it, the first one on top.
struct WrappedText {
  std::vector<std::string> lines = {};
  double x = 0;  ///< left end or middle of the lines; for a rotated text, middle of the first line
  double y = 0;  ///< middle of the first line; for a rotated text, of all its lines
};

struct PanelLayout {
  Box plot;             ///< the area inside the axes
  WrappedText title;    ///< x is its left end
  WrappedText x_label;  ///< x is its middle
  WrappedText y_label;  ///< rotated around its middle: further lines are further right
  AxisView x;
  AxisView y;
  std::vector<std::vector<Place>> places;  ///< of each point of each series
  std::vector<PointName> names;
  bool has_points = false;                       ///< any that can be drawn, visible or not
  std::vector<ReferenceLabel> reference_labels;  ///< one for each visible reference

  double pixel_x(double value) const;
  double pixel_y(double value) const;
};

struct FigureLayout {
  WrappedText title;                ///< x is its left end
  std::vector<std::string> styles;  ///< distinct labels of series; the index is the style
  std::vector<LegendEntry> legend;
  std::vector<PanelLayout> panels;
};

inline constexpr double kFigureMargin = 16;

/// Returns the layout. Throws `UserError` for an axis range that cannot be shown.
FigureLayout lay_out(const Figure& figure);

/// Returns whether any point moves sideways from its x, so that it covers no other one.
bool moves_points(const Figure& figure, const FigureLayout& layout);

/// Returns the figure for a phone: 360 pixels wide with its panels below each other, as high as necessary; panels with
/// bars keep their height. None if the names on a y axis leave no room for the plot.
std::optional<Figure> narrow_figure(Figure figure);

/// Returns the index of the series' style in `styles`.
std::size_t style_of(const FigureLayout& layout, const Series& series);

}  // namespace hone
