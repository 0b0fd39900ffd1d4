#pragma once

#include <string>
#include <variant>
#include <vector>

#include "hone/report/table.h"

/// One self-contained HTML page: no network, no other files; it can be mailed. A small script sorts tables by the column
/// that is clicked, and tells of figures which point is pointed at; without it everything is there, unsorted.
///
///     Page page{.title = "my-model, 8 bits", .headline = "No difference found.", .sections = {}};
///     page.sections.push_back({"Result", {PageTable{table, "On 6 000 test texts"}}});
///     write_file("report.html", to_html(page));
///
/// All text is plain text; the page escapes it. It is laid out for phones, desktops and paper, in
/// light and in dark colours as the browser asks.
namespace hone {

struct Paragraph {
  std::string text;
};

struct Fact {
  std::string name;
  std::string value;
};

/// Names and values, one pair per line.
struct Facts {
  std::vector<Fact> rows;
};

struct PageTable {
  Table table;
  std::string caption = {};
};

/// A figure as written by `write_figure`.
struct PageFigure {
  std::string svg;  ///< the text of the SVG file
  /// The same points drawn for a phone; empty: `svg` there too, in a box that scrolls.
  std::string narrow_svg;
  std::string description;  ///< what it shows, for those who cannot see it
  std::string caption = {};
};

/// A text on which two models differ.
struct ChangedText {
  std::string text;
  std::string label;      ///< the right answer
  std::string parent;     ///< what the parent said
  std::string candidate;  ///< what the candidate says
};

struct ChangedTexts {
  std::vector<ChangedText> rows;
};

/// Text in a fixed-width font: a command line, a recipe, a log.
struct Preformatted {
  std::string text;
};

/// The sections of another page that `to_html` has made, a level lower, under its title and headline; without those from the
/// heading `until` on, if it has one that is called so.
struct EmbeddedPage {
  std::string html;
  std::string until = {};
};

using Block =
    std::variant<Paragraph, Facts, PageTable, PageFigure, ChangedTexts, Preformatted, EmbeddedPage>;

/// Without blocks it is left out.
struct Section {
  std::string heading;  ///< empty: none, as its block has one
  std::vector<Block> blocks;
  bool folded = false;  ///< shown by its heading alone until somebody opens it
};

struct Page {
  std::string title;     ///< what was done to what
  std::string headline;  ///< the result in a sentence
  std::string subtitle = {};
  std::vector<Section> sections;
};

/// The page as HTML 5, UTF-8. What is not UTF-8 is replaced.
std::string to_html(const Page& page);

}  // namespace hone
