#pragma once

#include <optional>

#include "hone/report/figure.h"

/// A second look at figures whose curves lie close to each other beside a few points that lie far away.
namespace hone {

/// The figure with each panel zoomed in, along y, to where its curves crowd: the narrowest window that holds two
/// thirds of the points of its series, with their spreads. A panel of one series, or one whose window, with the
/// spreads, is more than half as high as all that is drawn there, or of one height but for rounding, stays as it is; nothing where all of them do. The title says that
/// it is the second look.
std::optional<Figure> zoomed_to_crowd(Figure figure);

}  // namespace hone
