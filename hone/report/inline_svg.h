#pragma once

#include <string>
#include <string_view>

namespace hone {

/// Whether the points of a figure have what is told of them, or only their places: another drawing of the same has it.
enum class PointTexts { with, without };

/// A figure's SVG (see `write_figure`) made fit to stand inside of an HTML page:
/// - without prolog, height and gnuplot's own titles; the style sheet may narrow it; the titles of points stay if
///   `texts` says so;
/// - colours are custom properties, `figure_colours_css`, so that it follows light and dark;
/// - shapes that are used stand where they are used, but a marker at many places once: as the corners of a line;
/// - points of a figure that has many are lists, which only the page's script reads: `data-at`, "x,y x,y …", and `data-texts`, a
///   line for each point, or, where texts differ in numbers alone, those numbers, and `data-form` with a U+E000 for each;
/// - groups that hold nothing are left out;
/// - ids begin with `prefix`, so that several can stand in one page;
/// - `description` is what a screen reader says.
/// Throws `UserError` for a text that is no SVG.
std::string inline_svg(std::string_view svg, std::string_view prefix, std::string_view description,
                       PointTexts texts = PointTexts::with);

/// The same figure in the colours for a dark background.
std::string dark_svg(std::string_view svg);

/// The declarations of the custom properties: "--figure-ink:#333333;…".
std::string figure_colours_css(bool dark);

}  // namespace hone
