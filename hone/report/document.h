#pragma once

#include <string>
#include <variant>
#include <vector>

#include "hone/report/table.h"

/// The readable result of a job: a headline, key figures, then tables. Every command returns one, and the terminal,
/// HTML and Markdown show the same.
///
///     Document document{.title = "my-model, 8 bits", .headline = "2.0× smaller, accuracy not shown to be within 0.5 points"};
///     document.key_figures = {{"Size", "2.82 MiB → 1.44 MiB"}};
///     document.sections.push_back({"Result", {PageTable{table, "Test split, n = 6,000."}}});
///     print(to_text(document, style));
///     write_file("report.html", to_html(document));
///
/// All texts are plain; renderers escape them. The only markup in sentences is code in backticks
/// (report/inline_code.h).
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
  /// The same points drawn for a phone; empty: phones show `svg` in a scrolling box.
  std::string narrow_svg;
  std::string description;  ///< alternative text
  std::string caption = {};
  std::string file = {};  ///< its name next to the document; empty: not written to a file
};

/// An example on which two models differ.
struct ChangedText {
  std::string text;
  std::string label;      ///< the target
  std::string baseline;   ///< the baseline's prediction
  std::string candidate;  ///< the compressed model's
};

struct ChangedTexts {
  std::vector<ChangedText> rows;
};

/// Text in a fixed-width font: a command line, a recipe, a log.
struct Preformatted {
  std::string text;
};

/// Links to other pages, with their answers.
struct Chapters {
  struct Chapter {
    std::string file;  ///< "lab/1.1/report.html", from the folder of this page
    std::string title;
    std::string question = {};  ///< empty: the page states no question
    std::string answer;
  };
  std::vector<Chapter> rows;
};

using Block =
    std::variant<Paragraph, Facts, PageTable, PageFigure, ChangedTexts, Preformatted, Chapters>;

/// Returns a paragraph for each of `lines`.
std::vector<Block> paragraphs(const std::vector<std::string>& lines);

/// A section of a document. Sections without blocks are left out.
struct Section {
  std::string heading;  ///< empty: none, because its block has one
  std::vector<Block> blocks;
  /// A detail: HTML shows only its heading until it is opened, Markdown puts it at the end, the terminal omits it.
  bool folded = false;
};

/// A command that a reader may want to run next.
struct NextCommand {
  std::string purpose;  ///< "Predict with it"
  std::string command;  ///< a line for the shell
};

struct Document {
  std::string title = {};  ///< the operation and its subject; not shown on a terminal
  std::string question =
      {};  ///< the question that the headline answers; empty: the title is enough
  std::string headline = {};  ///< the result in a line
  Tone tone = Tone::plain;
  std::string subtitle = {};           ///< date and duration; not shown on a terminal
  std::vector<Fact> key_figures = {};  ///< the few most important numbers
  std::string evidence = {};           ///< one sentence on how certain the headline is
  std::vector<Section> sections = {};
  std::vector<std::string> notes =
      {};  ///< sentences; not shown on a terminal, where the job has printed them already
  std::vector<NextCommand> next = {};
  std::string output =
      {};  ///< folder that the job wrote, with its report; only shown on a terminal
};

/// Returns one HTML 5 page in UTF-8 that needs no network and no other file, so that it can be mailed. Its layout fits
/// phones, desktops and paper, in light and dark colors as the browser prefers. A small script sorts tables by the
/// clicked column, and describes the point of a figure under the pointer. Without it the page is complete, but
/// unsorted. Replaces invalid UTF-8.
std::string to_html(const Document& document);

/// Returns GitHub-flavored Markdown, UTF-8, for a README, a pull request or an issue. Figures and chapters are linked
/// by their `file`.
std::string to_markdown(const Document& document);

/// Returns lines for a terminal of `style.columns` columns, each ending in a newline: headline, key figures, evidence,
/// the sections that are not folded, and the next commands. All tables share one layout (`to_texts`). Figures are left
/// out.
std::string to_text(const Document& document, const TextStyle& style = {});

}  // namespace hone
