#pragma once

#include <string>
#include <string_view>

namespace hone {

/// Whether the points of a figure have descriptions, or only positions: another drawing of the same figure has them.
enum class PointTexts { with, without };

/// Converts a figure's SVG (see `write_figure`) for use inside an HTML page:
/// - removes the prolog, height and gnuplot's own titles, so that the style sheet may narrow it; keeps the titles of
///   points if `texts` says so;
/// - replaces colors by custom properties, `figure_colours_css`, so that it follows light and dark;
/// - inlines shapes where they are used; draws a marker at many positions once, at the corners of a line;
/// - in a figure with many points, turns them into lists that only the page's script reads: `data-at`, "x,y x,y …", and
///   `data-texts`, a line for each point. If texts differ only in numbers, these lines contain the numbers, and
///   `data-form` is the text with a U+E000 for each;
/// - removes empty groups;
/// - prefixes ids by `prefix`, so that a page can contain several figures;
/// - sets `description` for screen readers.
/// Throws `UserError` for a text that is no SVG.
std::string inline_svg(std::string_view svg, std::string_view prefix, std::string_view description,
                       PointTexts texts = PointTexts::with);

/// Returns the same figure in the colors for a dark background.
std::string dark_svg(std::string_view svg);

/// Returns the declarations of the custom properties: "--figure-ink:#333333;…".
std::string figure_colours_css(bool dark);

}  // namespace hone
