#pragma once

#include <vector>

#include "hone/report/figure_layout.h"

/// The positions of points and their names, chosen so that none covers another.
namespace hone {

struct Pixel {
  double x = 0;
  double y = 0;
};

/// Returns the position of each point of each series. A point moves sideways if its marker or interval would cover
/// those of another series, or of a point of its own series at the same x. It stays nearer to its own x than to that of
/// another point. Each series has its own share of a row for its bars. `layout` needs the plot and the axes.
std::vector<std::vector<Place>> places_of(const Panel& panel, const PanelLayout& layout);

/// Returns the pixels of the lines, intervals and edges of bands of a panel, sampled every few pixels; for series
/// without lines, their points. `layout` needs the places too.
std::vector<Pixel> curve_pixels(const Panel& panel, const PanelLayout& layout);

/// Returns the names of points in series with names, each next to its point where it covers no marker, interval, line,
/// label or other name. Names without such a position are left out. `layout` needs all but the names.
std::vector<PointName> place_names(const Panel& panel, const PanelLayout& layout,
                                   const std::vector<Pixel>& curves);

}  // namespace hone
