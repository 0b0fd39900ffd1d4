#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/report/figure.h"
#include "hone/report/figure_axis.h"

/// Where everything in a figure stands, in pixels of the SVG from its lower left corner.
namespace hone {

inline constexpr int kFontSize = 13;
inline constexpr int kPanelTitleSize = 14;
inline constexpr int kTitleSize = 17;

/// A guess of the width in pixels of text set in DejaVu Sans, on the generous side.
double text_width(std::string_view text, int font_size);

struct Box {
  double left = 0;
  double bottom = 0;
  double right = 0;
  double top = 0;
};

bool overlap(const Box& a, const Box& b);

/// The text in lines that are at most `width` pixels wide, broken at spaces where it is possible, and inside of words otherwise.
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

/// A reference line in view, and its label.
struct ReferenceLabel {
  Reference reference;
  std::vector<std::string> lines = {};  ///< one or two, the upper one first
  Box box = {};                         ///< around them; each line begins at its left
};

inline constexpr double kReferenceLine = 1.2 * kFontSize;  ///< height of a line of such a label

/// The name of a point, and where it stands.
struct PointName {
  std::string text;
  double x = 0;  ///< left end of the text
  double y = 0;  ///< its middle
};

inline constexpr int kNameSize = 11;

/// Where a point is drawn, in the units of the axes.
struct Place {
  double x = 0;
  double y = 0;
};

/// A text of a panel in lines that fit it, the first one on top.
struct WrappedText {
  std::vector<std::string> lines = {};
  double x = 0;  ///< left end or middle of the lines; of a rotated text, middle of the first line
  double y = 0;  ///< middle of the first line; of a rotated text, of all its lines
};

struct PanelLayout {
  Box plot;             ///< the area inside the axes
  WrappedText title;    ///< from its left end
  WrappedText x_label;  ///< around its middle
  WrappedText y_label;  ///< around its middle, rotated: further lines are further right
  AxisView x;
  AxisView y;
  std::vector<std::vector<Place>> places;  ///< of each point of each series
  std::vector<PointName> names;
  bool has_points = false;                       ///< any that can be drawn, in view or not
  std::vector<ReferenceLabel> reference_labels;  ///< one for each reference in view

  double pixel_x(double value) const;
  double pixel_y(double value) const;
};

struct FigureLayout {
  WrappedText title;                ///< from its left end
  std::vector<std::string> styles;  ///< distinct labels of series; the index is the style
  std::vector<LegendEntry> legend;
  std::vector<PanelLayout> panels;
};

inline constexpr double kFigureMargin = 16;

/// Throws `UserError` for an axis range that cannot be shown.
FigureLayout lay_out(const Figure& figure);

/// Returns whether any point is drawn sideways of its x, so that it covers no other one.
bool moves_points(const Figure& figure, const FigureLayout& layout);

/// The figure for a phone: 360 pixels wide, its panels one below the other, as high as that needs;
/// those with bars as high as they are. Nothing when the names on a y axis would leave the plot no
/// room.
std::optional<Figure> narrow_figure(Figure figure);

/// Index of the series' style in `styles`.
std::size_t style_of(const FigureLayout& layout, const Series& series);

}  // namespace hone
