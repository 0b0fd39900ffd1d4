#include "hone/report/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "hone/report/html_text.h"
#include "hone/report/inline_svg.h"
#include "hone/report/page_style.h"

namespace hone {
namespace {

constexpr std::size_t kLongText = 36;  // characters of a cell that may wrap

bool is_numeric(const Table& table, std::size_t column) {
  for (const auto& row : table.rows())
    if (row[column].is_text()) return false;
  return true;
}

bool is_long(const Table& table, std::size_t column) {
  for (const auto& row : table.rows())
    if (row[column].is_text() && display_text(row[column]).size() > kLongText) return true;
  return false;
}

// Text of a cell that may break inside of "integer(width=8,frac=4)" and of
// "bert.encoder.layer.0", though there are no spaces.
std::string breakable(std::string_view text) {
  std::string html;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = std::min(text.find_first_of("(,./_", begin), text.size() - 1) + 1;
    html += html_text(text.substr(begin, end - begin));
    if (end < text.size() && text[end] != ' ') html += "<wbr>";
  }
  return html;
}

std::string cell_html(const Cell& cell) {
  return cell.is_text() ? breakable(display_text(cell)) : html_text(display_text(cell));
}

// "Margin SNR (dB)" may break, but not before its unit.
std::string header_html(const std::string& header) {
  std::string html = html_text(header);
  if (const std::size_t unit = html.rfind(" ("); unit != std::string::npos)
    html.replace(unit, 1, "&nbsp;");
  return html;
}

/// Writes the blocks of one page; it counts them, for what must have a name of its own.
class PageWriter {
 public:
  std::string write(const Page& page) {
    add("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    add("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n");
    add("<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n", html_text(page.title),
        page_style());
    add("<header>\n<p class=\"title\">{}</p>\n<h1>{}</h1>\n", html_text(page.title),
        html_text(page.headline));
    if (!page.subtitle.empty()) add("<p class=\"subtitle\">{}</p>\n", html_text(page.subtitle));
    add("</header>\n");
    for (const Section& section : page.sections) write_section(section);
    add("</main>\n</body>\n</html>\n");
    return std::move(html_);
  }

  void operator()(const Paragraph& block) { add("<p>{}</p>\n", html_text(block.text)); }

  void operator()(const Preformatted& block) { add("<pre>{}</pre>\n", html_text(block.text)); }

  void operator()(const Facts& block) {
    add("<dl>\n");
    for (const Fact& fact : block.rows)
      add("<dt>{}</dt><dd>{}</dd>\n", html_text(fact.name), html_text(fact.value));
    add("</dl>\n");
  }

  // A table that is wider than the page scrolls in a box of its own, also by keyboard.
  void operator()(const PageTable& block) {
    const Table& table = block.table;
    const std::string name = block.caption.empty() ? "Table" : block.caption;
    add("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n<table>\n",
        html_text(name));
    if (!block.caption.empty())
      add("<caption><span>{}</span></caption>\n", html_text(block.caption));
    std::vector<std::string> classes;
    add("<thead><tr>");
    for (std::size_t column = 0; column < table.columns().size(); ++column) {
      const bool number = is_numeric(table, column);
      classes.emplace_back(number                   ? " class=\"number\""
                           : is_long(table, column) ? " class=\"long\""
                                                    : "");
      add("<th scope=\"col\"{}>{}</th>", number ? classes.back() : "",
          header_html(table.columns()[column].header));
    }
    add("</tr></thead>\n<tbody>\n");
    for (const auto& row : table.rows()) {
      add("<tr>");
      for (std::size_t column = 0; column < row.size(); ++column)
        add(column == 0 ? "<th scope=\"row\"{}>{}</th>" : "<td{}>{}</td>", classes[column],
            cell_html(row[column]));
      add("</tr>\n");
    }
    add("</tbody>\n</table>\n</div>\n");
  }

  void operator()(const PageFigure& block) {
    const bool narrow = !block.narrow_svg.empty();
    add("<figure>\n<div class=\"{}\">{}</div>\n", narrow ? "wide" : "only",
        inline_svg(block.svg, next_name(), block.description));
    if (narrow)
      add("<div class=\"narrow\">{}</div>\n",
          inline_svg(block.narrow_svg, next_name(), block.description));
    if (!block.caption.empty()) add("<figcaption>{}</figcaption>\n", html_text(block.caption));
    add("</figure>\n");
  }

  void operator()(const ChangedTexts& block) {
    add("<ol class=\"changed\">\n");
    for (const ChangedText& row : block.rows) {
      const bool better = row.candidate == row.label, worse = row.parent == row.label;
      add("<li><p><b>{} → {}</b> <span class=\"{}\">{}</span>; the label is {}</p>"
          "<blockquote>{}</blockquote></li>\n",
          html_text(row.parent), html_text(row.candidate),
          better  ? "better"
          : worse ? "worse"
                  : "wrong",
          better  ? "now right"
          : worse ? "now wrong"
                  : "wrong before and after",
          html_text(row.label), html_text(row.text));
    }
    add("</ol>\n");
  }

 private:
  template <typename... Args>
  void add(fmt::string_view format, const Args&... args) {
    html_ += fmt::vformat(format, fmt::make_format_args(args...));
  }

  std::string next_name() { return fmt::format("figure-{}-", ++figures_); }

  void write_section(const Section& section) {
    if (section.blocks.empty()) return;
    const std::string heading = html_text(section.heading);
    if (section.folded) {
      add("<details>\n<summary><h2>{}</h2></summary>\n", heading);
    } else {
      add("<section>\n<h2>{}</h2>\n", heading);
    }
    for (const Block& block : section.blocks) std::visit(*this, block);
    add("{}", section.folded ? "</details>\n" : "</section>\n");
  }

  std::string html_;
  int figures_ = 0;
};

}  // namespace

std::string to_html(const Page& page) { return PageWriter().write(page); }

}  // namespace hone
