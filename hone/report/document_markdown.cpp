#include <fmt/format.h>

#include "hone/report/document.h"
#include "hone/report/inline_code.h"

namespace hone {
namespace {

// Escapes characters that Markdown would interpret. A name such as bert.encoder_layer needs no escape: an underscore
// within a word is literal.
std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool within_word =
        i > 0 && i + 1 < text.size() && text[i - 1] != ' ' && text[i + 1] != ' ';
    const bool marks = c == '\\' || c == '*' || c == '`' || c == '|' || c == '[' || c == ']' ||
                       c == '<' || (c == '_' && !within_word) || (c == '#' && i == 0);
    if (marks) out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

// Escapes sentences, but keeps their code.
std::string sentence(std::string_view text) {
  std::string out;
  for (const InlinePart& part : inline_parts(text))
    out += part.is_code ? fmt::format("`{}`", part.text) : escaped(part.text);
  return out;
}

// Returns the text in a fence that is longer than any in it.
std::string fenced(std::string_view text) {
  std::string fence = "```";
  while (text.find(fence) != std::string_view::npos) fence += '`';
  return fmt::format("{0}\n{1}{2}{0}\n", fence, text, text.ends_with('\n') ? "" : "\n");
}

std::string row_of(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += fmt::format(" {} |", escaped(cell));
  return line + "\n";
}

std::string markdown_table(const Table& table) {
  std::vector<std::string> headers;
  std::string rule = "|";
  std::vector<std::vector<std::string>> columns;
  for (std::size_t c = 0; c < table.columns().size(); ++c) {
    headers.push_back(table.columns()[c].header);
    columns.push_back(display_column(table, c));
    bool text = false;
    for (const auto& row : table.rows()) text = text || row[c].is_text();
    rule += text ? "---|" : "---:|";
  }
  std::string lines = row_of(headers) + rule + "\n";
  for (std::size_t r = 0; r < table.rows().size(); ++r) {
    std::vector<std::string> cells;
    for (const auto& column : columns) cells.push_back(column[r]);
    lines += row_of(cells);
  }
  return lines;
}

/// Writes the blocks of a document.
struct MarkdownWriter {
  std::string text = {};

  void operator()(const Paragraph& block) { add(sentence(block.text) + "\n"); }
  void operator()(const Preformatted& block) { add(fenced(block.text)); }
  void operator()(const Facts& block) {
    std::string lines;
    for (const Fact& fact : block.rows)
      lines += fmt::format("- {}: {}\n", escaped(fact.name), sentence(fact.value));
    add(lines);
  }
  void operator()(const PageTable& block) {
    if (!block.caption.empty()) add(sentence(block.caption) + "\n");
    add(markdown_table(block.table));
  }
  void operator()(const ChangedTexts& block) {
    std::string lines;
    for (const ChangedText& row : block.rows)
      lines += fmt::format("- **{} → {}** (label: {}): {}\n", escaped(row.baseline),
                           escaped(row.candidate), escaped(row.label), escaped(row.text));
    add(lines);
  }
  void operator()(const PageFigure& block) {
    if (block.file.empty()) return;
    add(fmt::format("![{}]({})\n", escaped(block.description), block.file));
    if (!block.caption.empty()) add(sentence(block.caption) + "\n");
  }
  void operator()(const Chapters& block) {
    std::string lines;
    for (const Chapters::Chapter& one : block.rows)
      lines += fmt::format("- [{}]({}){} {}\n", escaped(one.title), one.file,
                           one.question.empty() ? ":" : " – " + sentence(one.question),
                           sentence(one.answer));
    add(lines);
  }

  void add(std::string_view lines) {
    if (!text.empty() && !lines.empty()) text += "\n";
    text += lines;
  }
  void add(const Section& section) {
    if (section.blocks.empty()) return;
    if (!section.heading.empty()) add(fmt::format("## {}\n", escaped(section.heading)));
    for (const Block& block : section.blocks) std::visit(*this, block);
  }
};

std::string key_figures_line(const std::vector<Fact>& figures) {
  std::string line;
  for (const Fact& figure : figures)
    line += fmt::format("{}{} {}", line.empty() ? "" : " · ", escaped(figure.name),
                        sentence(figure.value));
  return line + "\n";
}

}  // namespace

std::string to_markdown(const Document& document) {
  MarkdownWriter writer{fmt::format("# {}\n", escaped(document.title))};
  if (!document.question.empty()) writer.add(fmt::format("*{}*\n", sentence(document.question)));
  if (!document.headline.empty()) writer.add(fmt::format("**{}**\n", sentence(document.headline)));
  if (!document.key_figures.empty()) writer.add(key_figures_line(document.key_figures));
  if (!document.evidence.empty()) writer.add(sentence(document.evidence) + "\n");
  if (!document.subtitle.empty()) writer.add(fmt::format("*{}*\n", escaped(document.subtitle)));
  for (const Section& section : document.sections)
    if (!section.folded) writer.add(section);
  Section next{"Next", {}};
  for (const NextCommand& one : document.next) {
    next.blocks.push_back(Paragraph{one.purpose + ":"});
    next.blocks.push_back(Preformatted{one.command});
  }
  writer.add(next);
  if (!document.notes.empty()) {
    std::string lines;
    for (const std::string& note : document.notes) lines += fmt::format("- {}\n", sentence(note));
    writer.add("## Notes\n");
    writer.add(lines);
  }
  for (const Section& section : document.sections)
    if (section.folded) writer.add(section);
  return writer.text;
}

}  // namespace hone
