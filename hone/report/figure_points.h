#pragma once

#include <string>

#include "hone/report/figure_layout.h"

/// What can be pointed at in a figure: its points, with what is told of each.
namespace hone {

/// "PTQ, 8.4: Width (bits) 8, Accuracy (%) 88.45 (87 to 89.9); tried twice": label of the series, name of the point, values where
/// axes have labels, the ends of its spread, detail. A value that has a name on its axis is told by that.
std::string point_text(const Panel& panel, const Series& series, const Point& point);

/// The points that are in view as elements that are not seen, over the drawing in an SVG of the figure's size: for each
/// series a group of class "points", in it for each point a circle whose title is `point_text`. A line whose points have neither
/// name nor detail has at most 400 of them; without names nothing is told of lines that are drawn faintly, nor of edges.
std::string points_svg(const Figure& figure, const FigureLayout& layout);

}  // namespace hone
