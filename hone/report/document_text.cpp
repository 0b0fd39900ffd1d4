#include <fmt/format.h>

#include <algorithm>

#include "hone/base/printable.h"
#include "hone/report/document.h"

namespace hone {
namespace {

/// Writes the blocks of a document for a terminal. Takes their tables from `tables` in order, because all are laid out
/// together.
struct TextWriter {
  const std::vector<std::string>& tables;
  std::size_t next_table = 0;
  std::string text = {};

  void operator()(const Paragraph& block) { add(block.text + "\n"); }
  // A command is indented: `wrapped_text` breaks only indented lines so that a shell reads them as one.
  void operator()(const Preformatted& block) {
    const std::string indent = block.text.starts_with("hone ") ? "  " : "";
    add(indent + block.text + (block.text.ends_with('\n') ? "" : "\n"));
  }
  void operator()(const Facts& block) {
    std::string lines;
    for (const Fact& fact : block.rows) lines += fmt::format("{}: {}\n", fact.name, fact.value);
    add(lines);
  }
  void operator()(const PageTable& block) {
    if (!block.caption.empty()) add(block.caption + "\n");
    add(tables[next_table++]);
  }
  void operator()(const ChangedTexts&) { add(tables[next_table++]); }
  void operator()(const PageFigure&) {}
  void operator()(const Chapters& block) {
    for (const Chapters::Chapter& one : block.rows)
      add(fmt::format("{}\n{}{}\n", one.title, one.question.empty() ? "" : one.question + "\n",
                      one.answer));
  }

  // Separates blocks by an empty line.
  void add(std::string_view lines) {
    if (!text.empty()) text += "\n";
    text += lines;
  }
};

constexpr std::size_t kShownCharacters = 100;

Table table_of(const ChangedTexts& changed) {
  Table table({{"predictions", "Predictions"}, {"label", "Label"}, {"text", "Text"}});
  for (const ChangedText& row : changed.rows)
    table.add_row({fmt::format("{} → {}", row.baseline, row.candidate), row.label,
                   one_line(row.text, kShownCharacters)});
  return table;
}

std::vector<Table> shown_tables(const Document& document) {
  std::vector<Table> tables;
  for (const Section& section : document.sections) {
    if (section.folded) continue;
    for (const Block& block : section.blocks) {
      if (const auto* table = std::get_if<PageTable>(&block)) tables.push_back(table->table);
      if (const auto* changed = std::get_if<ChangedTexts>(&block))
        tables.push_back(table_of(*changed));
    }
  }
  return tables;
}

bool is_shown(const Block& block) { return !std::holds_alternative<PageFigure>(block); }

std::string key_figures_text(const std::vector<Fact>& figures) {
  std::string text;
  for (const Fact& figure : figures)
    text += fmt::format("{}{} {}", text.empty() ? "" : " · ", figure.name, figure.value);
  return text;
}

}  // namespace

std::string to_text(const Document& document, const TextStyle& style) {
  const std::vector<std::string> tables = to_texts(shown_tables(document), style);
  TextWriter writer{tables};
  if (!document.question.empty()) writer.text = document.question + "\n";
  if (!document.headline.empty())
    writer.text += toned(document.headline, document.tone, style) + "\n";
  if (!document.key_figures.empty()) writer.text += key_figures_text(document.key_figures) + "\n";
  if (!document.evidence.empty()) writer.text += document.evidence + "\n";
  for (const Section& section : document.sections) {
    if (section.folded || std::ranges::none_of(section.blocks, is_shown)) continue;
    if (!section.heading.empty()) writer.add(section.heading + "\n");
    for (const Block& block : section.blocks) std::visit(writer, block);
  }
  if (!document.output.empty())
    writer.add(fmt::format("Written to {0}; details in {0}/report.html\n", document.output));
  if (!document.next.empty()) {
    writer.add("Next:\n");
    for (const NextCommand& next : document.next)
      writer.text += fmt::format("  {}\n", next.command);
  }
  return writer.text;
}

}  // namespace hone
