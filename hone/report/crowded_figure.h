#pragma once

#include <optional>

#include "hone/report/figure.h"

/// A zoomed copy of figures whose curves are close to each other while a few points are far away.
namespace hone {

/// Returns the figure with the y axis of its first panel zoomed in to the better two thirds of the points, with their
/// spreads. If the axis does not say which end is better, it zooms in to the narrowest window with two thirds of the
/// points. References nearby are included. Other panels with the same x axis label show, of each series, the points at
/// the same x as in the first panel, and zoom in to them. The remaining panels are zoomed in like the first one, if
/// they are crowded. Returns none if the first panel has one series, if its window, with the spreads, is more than half
/// as high as all its points, or if the window has fewer than three distinct heights. The title says that the figure is
/// zoomed in; the note lists the references and curves outside.
std::optional<Figure> zoomed_to_crowd(Figure figure);

}  // namespace hone
