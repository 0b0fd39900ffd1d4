#pragma once

#include <string>
#include <string_view>

namespace hone {

/// A figure's SVG (see `write_figure`) made fit to stand inside of an HTML page:
/// - without prolog, height and gnuplot's own titles; the style sheet may narrow it; the values of points, which a
///   browser shows when the mouse is over them, stay;
/// - colours are custom properties, `figure_colours_css`, so that it follows light and dark;
/// - ids begin with `prefix`, so that several can stand in one page;
/// - `description` is what a screen reader says.
/// Throws `UserError` for a text that is no SVG.
std::string inline_svg(std::string_view svg, std::string_view prefix, std::string_view description);

/// The declarations of the custom properties: "--figure-ink:#333333;…".
std::string figure_colours_css(bool dark);

}  // namespace hone
