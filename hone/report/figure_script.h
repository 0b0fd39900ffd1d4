#pragma once

#include <string>
#include <string_view>

#include "hone/report/figure.h"

namespace hone {

/// The data of all points: a comment line with the names of the columns, then for each series that
/// has points a block of lines (panel from 1, series, x, y, low, high, the x and y it is drawn at,
/// name), separated by tabs; two empty lines between blocks. Behind one of steps with a band stands another with the corners of that.
/// Throws `UserError` for an axis range that cannot be shown.
std::string figure_data(const Figure& figure);

/// The gnuplot script that draws `name`.tsv to `name`.svg and `name`.png, or one of them:
/// `pictures` are the endings.
/// Throws `UserError` for an axis range that cannot be shown.
std::string figure_script(const Figure& figure, std::string_view name,
                          std::string_view pictures = "svg png");

}  // namespace hone
