#pragma once

#include <vector>

#include "hone/report/figure_layout.h"

/// Where points and their names are drawn, so that none covers another.
namespace hone {

struct Pixel {
  double x = 0;
  double y = 0;
};

/// Where each point of each series is drawn: where it lies, or sideways of it where its marker or interval would cover
/// those of another series, or of a point of its own series at the same x, but always nearer to its own x than to that of another
/// point. Each series has its own share of a row for its bars. `layout` has the plot and the axes.
std::vector<std::vector<Place>> places_of(const Panel& panel, const PanelLayout& layout);

/// Where the lines, intervals and edges of bands of a panel pass, sampled every few pixels; of series without lines, their
/// points. `layout` has the places too.
std::vector<Pixel> curve_pixels(const Panel& panel, const PanelLayout& layout);

/// The names of the series that are drawn with them, each beside its point where it covers neither a marker nor an
/// interval, a line, a label or another name; those without such a place are left out. `layout` has all but the names.
std::vector<PointName> place_names(const Panel& panel, const PanelLayout& layout,
                                   const std::vector<Pixel>& curves);

}  // namespace hone
