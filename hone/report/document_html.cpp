#include "hone/report/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/report/html_text.h"
#include "hone/report/inline_code.h"
#include "hone/report/inline_svg.h"
#include "hone/report/page_script.h"
#include "hone/report/page_style.h"
#include "hone/report/text_layout.h"

namespace hone {
namespace {

constexpr std::size_t kLongWord = 24;       // characters
constexpr std::size_t kLongHeadline = 140;  // from here on in a smaller font
constexpr std::size_t kLongTitle = 300;     // keeps the ends of a command with a hundred folders
constexpr std::size_t kLongText = 36;       // characters of a cell that may wrap
constexpr std::size_t kMostCards = 40;      // rows that a phone shows as cards
// With more columns or characters per row than these, the font is smaller, and smaller still.
constexpr std::size_t kManyColumns = 9, kCrowdOfColumns = 14;
constexpr std::size_t kManyCharacters = 150, kCrowdOfCharacters = 190;

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

// Whether the table is too wide for a phone: more than three columns, or several long texts.
bool is_wide(const Table& table) {
  std::size_t texts = 0;
  for (std::size_t i = 0; i < table.columns().size(); ++i) texts += is_long(table, i) ? 1 : 0;
  return table.columns().size() > 3 || texts > 1;
}

// Returns the width of an unbroken row, with `between` characters of space for each column.
std::size_t row_characters(const Table& table, std::size_t between) {
  std::size_t characters = 0;
  for (std::size_t column = 0; column < table.columns().size(); ++column) {
    std::size_t widest = 0;
    for (const std::string& text : display_column(table, column))
      widest = std::max(widest, display_width(text));
    characters += std::min(widest, kLongText) + between;
  }
  return characters;
}

// Returns the classes of tables too wide for a page of 1,200 px.
std::string density(const Table& table) {
  const std::size_t columns = table.columns().size();
  if (columns > kCrowdOfColumns || row_characters(table, 2) > kCrowdOfCharacters)
    return "dense crowded";
  return columns > kManyColumns || row_characters(table, 3) > kManyCharacters ? "dense" : "";
}

// Returns shell commands whose words do not break at signs: "--output_dir".
std::string words_html(std::string_view text) {
  std::string html;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    const std::string word = html_text(text.substr(begin, end - begin));
    const bool plain = word.find_first_of("-?/&;") == std::string::npos;
    html += plain ? word : "<span>" + word + "</span>";
    if (end < text.size()) html += text[end];
    begin = end + 1;
  }
  return html;
}

// Returns a space in a number. Lines may only break before an interval and between shares, and in crowded tables within
// the interval.
std::string_view space_in_number(std::string_view text, std::size_t space) {
  const std::string_view before = text.substr(0, space), after = text.substr(space + 1);
  if (after.starts_with('(') || before.ends_with(',')) return " <wbr>";
  return before.ends_with(" to") ? " " : "\u00A0";
}

// Returns a number such as "0.15% (0.05 to 0.44)", "83.5, 82.8%" or "4,000".
std::string number_html(std::string_view text) {
  std::string html;
  for (std::size_t begin = 0, end = 0; begin <= text.size(); begin = end + 1) {
    end = std::min(text.find(' ', begin), text.size());
    html += html_text(text.substr(begin, end - begin));
    if (end < text.size()) html += space_in_number(text, end);
  }
  return html;
}

// Returns a word that may break within "integer(width=8,frac=4)" and "bert.encoder.layer.0", but not within "91.8".
std::string breakable_word(std::string_view text) {
  const auto breaks_after = [&](std::size_t at) {
    const auto is_digit = [&](std::size_t place) {
      return place < text.size() && text[place] >= '0' && text[place] <= '9';
    };
    const bool begins = at == 0 || text[at - 1] == ' ';
    const bool in_number = at > 0 && is_digit(at - 1) && is_digit(at + 1);
    return std::string_view("(,./_?").find(text[at]) != std::string_view::npos && !begins &&
           !in_number;
  };
  std::string html;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool last = i + 1 == text.size();
    if (!last && !breaks_after(i)) continue;
    html += html_text(text.substr(begin, i + 1 - begin));
    if (!last && text[i + 1] != ' ') html += "<wbr>";
    begin = i + 1;
  }
  return html;
}

// Keeps numbers in one piece; words of more than `longest` characters may break at their punctuation.
std::string breakable(std::string_view text, std::size_t longest = 0) {
  std::string html;
  for (std::size_t begin = 0, end = 0; begin <= text.size(); begin = end + 1) {
    end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    html += word.size() > longest ? breakable_word(word) : html_text(word);
    if (end < text.size()) html += is_within_number(text, end) ? "\u00A0" : " ";
  }
  return html;
}

// Returns sentences in which only words as long as a line on a phone may break.
std::string prose(std::string_view text) {
  std::string html;
  for (const InlinePart& part : inline_parts(text)) {
    const std::string words = breakable(part.text, kLongWord);
    html += part.is_code ? "<code>" + words + "</code>" : words;
  }
  return html;
}

// Returns the number that a cell sorts by; none for texts and missing values.
std::string sort_attribute(const Cell& cell) {
  const double value = std::visit(
      [](const auto& one) -> double {
        using Kind = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<Kind, std::int64_t>) return static_cast<double>(one);
        if constexpr (std::is_same_v<Kind, Percent>) return one.share;
        if constexpr (std::is_same_v<Kind, PerRun>) return one.mean();
        if constexpr (std::is_same_v<Kind, Bytes>) return static_cast<double>(one.count);
        if constexpr (requires { one.value; }) return one.value;
        return std::numeric_limits<double>::quiet_NaN();
      },
      cell.value());
  return std::isnan(value) ? "" : fmt::format(" data-value=\"{}\"", value);
}

std::string tone_class(Tone tone) {
  return tone == Tone::good      ? "good"
         : tone == Tone::bad     ? "bad"
         : tone == Tone::unclear ? "unclear"
                                 : "";
}

std::string class_attribute(const std::string& first, const std::string& second) {
  const std::string both = first + (first.empty() || second.empty() ? "" : " ") + second;
  return both.empty() ? "" : fmt::format(" class=\"{}\"", both);
}

// Lets "Margin SNR (dB)" break once: the unit after several words, and short words, stay with their neighbor. Long
// names of settings break at their underscores.
std::string header_html(const std::string& header) {
  std::string joined;
  const bool words = header.find(' ') != header.rfind(' ');
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::size_t next = std::min(header.find(' ', i + 1), header.size());
    const bool unit = header.substr(i + 1).starts_with('(');
    const bool bound = header[i] == ' ' && ((unit && words) || next - i <= 2 || i <= 2);
    joined += bound ? "\u00A0" : std::string(1, header[i]);
  }
  std::string html = html_text(joined);
  for (std::size_t at = 0; (at = html.find('_', at)) != std::string::npos; ++at)
    html.insert(at + 1, "<wbr>");
  return html;
}

/// Writes one page; counts figures to give their elements unique names.
class PageWriter {
 public:
  std::string write(const Document& document) {
    add("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    add("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n");
    add("<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n",
        html_text(document.title), page_style());
    write_header(document);
    for (const Section& section : document.sections)
      if (!section.folded) write_section(section);
    Section next{"Next", {}}, notes{"Notes", {}};
    for (const NextCommand& one : document.next) {
      next.blocks.push_back(Paragraph{one.purpose + ":"});
      next.blocks.push_back(Preformatted{one.command});
    }
    for (const std::string& note : document.notes) notes.blocks.push_back(Paragraph{note});
    write_section(next);
    write_section(notes);
    for (const Section& section : document.sections)
      if (section.folded) write_section(section);
    add("</main>\n<script>{}</script>\n</body>\n</html>\n", page_script());
    return std::move(html_);
  }

  void operator()(const Paragraph& block) { add("<p>{}</p>\n", prose(block.text)); }

  void operator()(const Preformatted& block) { add("<pre>{}</pre>\n", words_html(block.text)); }

  void operator()(const Facts& block) {
    add("<dl>\n");
    for (const Fact& fact : block.rows)
      add("<dt>{}</dt><dd>{}</dd>\n", html_text(fact.name), prose(fact.value));
    add("</dl>\n");
  }

  // A table wider than the page scrolls in its own box, also by keyboard. On a phone, a table with few rows becomes a
  // card for each row, so that all its numbers are visible.
  void operator()(const PageTable& block) {
    const Table& table = block.table;
    const std::string name = block.caption.empty() ? "Table" : block.caption;
    const bool cards = is_wide(table) && table.rows().size() <= kMostCards;
    add("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n<table{}>\n",
        html_text(name), class_attribute(cards ? "cards" : "", density(table)));
    if (!block.caption.empty()) add("<caption><span>{}</span></caption>\n", prose(block.caption));
    std::vector<std::string> classes;
    add("<thead><tr>");
    for (std::size_t column = 0; column < table.columns().size(); ++column) {
      const bool number = is_numeric(table, column);
      classes.emplace_back(number ? "number" : is_long(table, column) ? "long" : "");
      add("<th scope=\"col\"{}>{}</th>", class_attribute(number ? "number" : "", ""),
          header_html(table.columns()[column].header));
    }
    add("</tr></thead>\n<tbody>\n");
    write_rows(table, classes);
    add("</tbody>\n</table>\n</div>\n");
  }

  void operator()(const PageFigure& block) {
    const bool narrow = !block.narrow_svg.empty();
    add("<figure>\n<div class=\"{}\">{}</div>\n", narrow ? "wide" : "only",
        inline_svg(block.svg, next_name(), block.description));
    if (narrow)
      add("<div class=\"narrow\">{}</div>\n",
          inline_svg(block.narrow_svg, next_name(), block.description, PointTexts::without));
    if (!block.caption.empty()) add("<figcaption>{}</figcaption>\n", prose(block.caption));
    add("</figure>\n");
  }

  void operator()(const ChangedTexts& block) {
    add("<ol class=\"changed\">\n");
    for (const ChangedText& row : block.rows) {
      const bool better = row.candidate == row.label, worse = row.baseline == row.label;
      add("<li><p><b>{} → {}</b> <span class=\"{}\">{}</span>; the label is {}</p>"
          "<blockquote>{}</blockquote></li>\n",
          html_text(row.baseline), html_text(row.candidate),
          better  ? "better"
          : worse ? "worse"
                  : "wrong",
          better  ? "wrong → correct"
          : worse ? "correct → wrong"
                  : "wrong before and after",
          html_text(row.label), html_text(row.text));
    }
    add("</ol>\n");
  }

  void operator()(const Chapters& block) {
    add("<ol class=\"chapters\">\n");
    for (const Chapters::Chapter& one : block.rows)
      add("<li><h3><a href=\"{}\">{}</a></h3>{}<p>{}</p></li>\n", html_text(one.file),
          html_text(one.title),
          one.question.empty() ? ""
                               : fmt::format("<p class=\"question\">{}</p>", prose(one.question)),
          prose(one.answer));
    add("</ol>\n");
  }

 private:
  void write_rows(const Table& table, const std::vector<std::string>& classes) {
    std::vector<std::vector<std::string>> texts;
    for (std::size_t column = 0; column < table.columns().size(); ++column)
      texts.push_back(display_column(table, column));
    for (std::size_t row = 0; row < table.rows().size(); ++row) {
      add("<tr>");
      for (std::size_t column = 0; column < table.columns().size(); ++column) {
        const Cell& cell = table.rows()[row][column];
        const std::string& text = texts[column][row];
        const std::string html = cell.is_text() ? breakable(text) : number_html(text);
        const std::string attributes =
            class_attribute(classes[column], cell.is_absent() ? "absent" : tone_class(cell.tone)) +
            sort_attribute(cell);
        const std::string label =
            fmt::format(" data-label=\"{}\"", html_text(table.columns()[column].header));
        if (column > 0) {
          add("<td{}{}>{}</td>", label, attributes, html);
        } else {
          // A number needs its label.
          add("<th scope=\"row\"{}{}>{}</th>", cell.is_text() ? "" : label, attributes, html);
        }
      }
      add("</tr>\n");
    }
  }

  template <typename... Args>
  void add(fmt::string_view format, const Args&... args) {
    html_ += fmt::vformat(format, fmt::make_format_args(args...));
  }

  std::string next_name() { return fmt::format("figure-{}-", ++figures_); }

  void write_header(const Document& document) {
    add("<header>\n<p class=\"title\">{}</p>\n", html_text(shortened(document.title, kLongTitle)));
    if (!document.question.empty()) add("<p class=\"question\">{}</p>\n", prose(document.question));
    add("<h1{}>{}</h1>\n",
        class_attribute(document.headline.size() > kLongHeadline ? "long" : "", ""),
        prose(document.headline));
    if (!document.key_figures.empty()) {
      add("<dl class=\"key\">\n");
      for (const Fact& figure : document.key_figures)
        add("<div><dt>{}</dt><dd>{}</dd></div>\n", html_text(figure.name), prose(figure.value));
      add("</dl>\n");
    }
    if (!document.evidence.empty()) add("<p>{}</p>\n", prose(document.evidence));
    if (!document.subtitle.empty())
      add("<p class=\"subtitle\">{}</p>\n", html_text(document.subtitle));
    add("</header>\n");
  }

  void write_section(const Section& section) {
    if (section.blocks.empty()) return;
    const std::string heading = html_text(section.heading);
    if (section.folded) {
      add("<details>\n<summary><h2>{}</h2></summary>\n", heading);
    } else {
      add("<section>\n{}", heading.empty() ? "" : fmt::format("<h2>{}</h2>\n", heading));
    }
    for (const Block& block : section.blocks) std::visit(*this, block);
    add("{}", section.folded ? "</details>\n" : "</section>\n");
  }

  std::string html_;
  int figures_ = 0;
};

}  // namespace

std::string to_html(const Document& document) { return PageWriter().write(document); }

}  // namespace hone
