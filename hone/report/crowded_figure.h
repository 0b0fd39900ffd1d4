#pragma once

#include <optional>

#include "hone/report/figure.h"

/// A second look at figures whose curves lie close to each other beside a few points that lie far away.
namespace hone {

/// Returns the figure with its first panel zoomed in, along y, to where its curves crowd: to the better two thirds of the points
/// of its series, with their spreads; where the axis does not say which end is better, to the narrowest window that holds two
/// thirds of them. References that are near join it. Panels with the same x axis label show of each series the points that the
/// first panel shows, the same x, and zoom in to them; others are zoomed in as the first one, if they crowd. Nothing is returned
/// where the first panel has one series, or its window, with the spreads, is more than half as high as all that is drawn there,
/// or its points have fewer than three heights. The title says that it is the second look, and its note which references and curves lie
/// outside.
std::optional<Figure> zoomed_to_crowd(Figure figure);

}  // namespace hone
