#pragma once

#include <string>

#include "hone/report/figure_layout.h"

/// The points of a figure that react to the mouse, with their descriptions.
namespace hone {

/// Returns "PTQ, 8.4: Width (bits) 8, Accuracy (%) 88.45 (87 to 89.9); tried twice": label of the series, name of the
/// point, values on axes with labels, the ends of its spread, detail. A value with a tick label is shown by it.
std::string point_text(const Panel& panel, const Series& series, const Point& point);

/// Returns the visible points as transparent elements on top of an SVG of the figure's size. Each series is a group of
/// class "points" with a circle for each point, whose title is `point_text`. A line whose points have neither name nor
/// detail has at most 400 of them. Faint lines and edges without names have none.
std::string points_svg(const Figure& figure, const FigureLayout& layout);

}  // namespace hone
