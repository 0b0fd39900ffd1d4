#pragma once

#include <string>
#include <string_view>

#include "hone/report/figure.h"

namespace hone {

/// Returns the data of all points: a comment line with the column names, then for each series with points a block of
/// lines (panel from 1, series, x, y, low, high, the x and y it is drawn at, name), separated by tabs. Two empty lines
/// separate blocks. A block of steps with a band is followed by one with the corners of the band. Throws `UserError`
/// for an axis range that cannot be shown.
std::string figure_data(const Figure& figure);

/// Returns the gnuplot script that draws `name`.tsv as `name`.svg and `name`.png, or one of them: `pictures` lists the
/// extensions. Throws `UserError` for an axis range that cannot be shown.
std::string figure_script(const Figure& figure, std::string_view name,
                          std::string_view pictures = "svg png");

}  // namespace hone
