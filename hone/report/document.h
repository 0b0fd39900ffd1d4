#pragma once

#include <string>
#include <variant>
#include <vector>

#include "hone/report/table.h"

/// The result of a job for people: what it found, in a line, then in a few numbers, then in tables. Every command returns one,
/// and the terminal, HTML and Markdown show the same.
///
///     Document document{.title = "my-model, 8 bits", .headline = "2.0× smaller, accuracy not shown to be within 0.5 points"};
///     document.key_figures = {{"Size", "2.82 MiB → 1.44 MiB"}};
///     document.sections.push_back({"Result", {PageTable{table, "Test split, n = 6,000."}}});
///     print(to_text(document, style));
///     write_file("report.html", to_html(document));
///
/// All texts are plain; renderers escape them. Sentences have one mark, code in backticks (report/inline_code.h).
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
  std::string file = {};  ///< its name beside the document; empty: it is in no file
};

/// An example on which two models differ.
struct ChangedText {
  std::string text;
  std::string label;      ///< the right answer
  std::string parent;     ///< the baseline's prediction
  std::string candidate;  ///< the compressed model's
};

struct ChangedTexts {
  std::vector<ChangedText> rows;
};

/// Text in a fixed-width font: a command line, a recipe, a log.
struct Preformatted {
  std::string text;
};

/// Other pages beside this one, with what they answer.
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

/// A paragraph for each of `lines`.
std::vector<Block> paragraphs(const std::vector<std::string>& lines);

/// A part of a document. One without blocks is left out.
struct Section {
  std::string heading;  ///< empty: none, as its block has one
  std::vector<Block> blocks;
  /// A detail: HTML shows its heading until it is opened, Markdown has it at the end, the terminal leaves it out.
  bool folded = false;
};

/// A command that a reader may want to run next.
struct NextCommand {
  std::string purpose;  ///< "Predict with it"
  std::string command;  ///< a line for the shell
};

struct Document {
  std::string title = {};     ///< what was done to what; not shown on a terminal
  std::string question = {};  ///< what the headline answers; empty: the title says it
  std::string headline = {};  ///< the result in a line
  Tone tone = Tone::plain;
  std::string subtitle = {};           ///< when, and how long it took; not shown on a terminal
  std::vector<Fact> key_figures = {};  ///< the few numbers that a reader came for
  std::string evidence = {};           ///< one sentence: how sure the headline is
  std::vector<Section> sections = {};
  std::vector<std::string> notes =
      {};  ///< sentences; not shown on a terminal, which has printed them as they came
  std::vector<NextCommand> next = {};
  std::string output =
      {};  ///< folder that the job wrote, with its report; shown on a terminal only
};

/// One HTML 5 page in UTF-8 that needs no network and no other file, so that it can be mailed. It is laid out for phones,
/// desktops and paper, in light and dark colours as the browser asks. A small script sorts tables by the column that is
/// clicked, and describes the point of a figure under the pointer; without it everything is there, unsorted. Replaces what is
/// not UTF-8.
std::string to_html(const Document& document);

/// GitHub-flavoured Markdown, UTF-8, for a README, a pull request or an issue. Figures and chapters are linked by
/// their `file`.
std::string to_markdown(const Document& document);

/// Lines for a terminal of `style.columns` columns, each ending in a newline: headline, key figures, evidence, the sections
/// that are not folded, and the next commands. Its tables are laid out alike (`to_texts`). Figures are left out.
std::string to_text(const Document& document, const TextStyle& style = {});

}  // namespace hone
