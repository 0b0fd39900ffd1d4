#include <algorithm>
#include <optional>
#include <set>

#include "hone/base/printable.h"
#include "hone/report/table.h"

// Tables for terminals. Everything is cut to its width in plain text first; colours come last, where lines are put
// together.
namespace hone {
namespace {

constexpr std::size_t kGap = 2;            // spaces between two columns
constexpr std::size_t kShortestText = 28;  // texts are not shortened below it
constexpr std::string_view kIndent = "  ";

/// A piece of text that fills a column's line, and its colour.
struct Piece {
  std::string text;
  Tone tone = Tone::plain;
};

struct TextColumn {
  bool to_the_left = false;
  bool text = false;  ///< whether cells may be shortened
  std::size_t width = 0;
  std::vector<std::string> header;  ///< its lines
  std::vector<Piece> cells;
};

using TextColumns = std::vector<TextColumn>;

std::size_t cells_width(const TextColumn& column) {
  std::size_t width = 0;
  for (const Piece& cell : column.cells) width = std::max(width, display_width(cell.text));
  return width;
}

std::size_t header_width(const TextColumn& column) {
  std::size_t width = 0;
  for (const std::string& line : column.header) width = std::max(width, display_width(line));
  return width;
}

void measure(TextColumn& column) {
  column.width = std::max(cells_width(column), header_width(column));
}

TextColumns text_columns(const Table& table) {
  TextColumns columns;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    TextColumn column;
    column.header = {shown_name(table.columns()[i].header)};
    const std::vector<std::string> texts = display_column(table, i);
    for (std::size_t row = 0; row < texts.size(); ++row) {
      const Cell& cell = table.rows()[row][i];
      column.cells.push_back({texts[row], cell.tone});
      column.text |= cell.is_text();
    }
    column.to_the_left = column.text;
    measure(column);
    columns.push_back(std::move(column));
  }
  return columns;
}

std::size_t total_width(const TextColumns& columns) {
  std::size_t width = 0;
  for (const TextColumn& column : columns) width += column.width + kGap;
  return width == 0 ? 0 : width - kGap;
}

// Breaks the header at a space into two lines that are no wider than the cells, or as narrow as its words allow.
void break_header(TextColumn& column) {
  const std::string whole = column.header[0];
  for (std::size_t width = cells_width(column); width < display_width(whole); ++width) {
    column.header = broken_line(whole, std::max<std::size_t>(width, 1));
    if (column.header.size() <= 2 && header_width(column) <= width) break;
  }
  measure(column);
}

// Whether cutting made two cells alike that were not.
bool all_told_apart(const TextColumn& before, const TextColumn& after) {
  std::set<std::string> whole, cut;
  for (const Piece& cell : before.cells) whole.insert(cell.text);
  for (const Piece& cell : after.cells) cut.insert(cell.text);
  return whole.size() == cut.size();
}

// Columns of which the texts are shortened, always the widest, until they fit into `room`; nothing where they do not.
std::optional<TextColumns> shortened_to(TextColumns columns, std::size_t room) {
  const TextColumns whole = columns;
  for (std::size_t width = total_width(columns); width > room; width = total_width(columns)) {
    TextColumn* widest = nullptr;
    for (TextColumn& column : columns) {
      const bool shrinks =
          column.text && column.width > std::max(kShortestText, header_width(column));
      if (shrinks && (widest == nullptr || column.width > widest->width)) widest = &column;
    }
    if (widest == nullptr) return std::nullopt;
    --widest->width;
  }
  for (std::size_t i = 0; i < columns.size(); ++i)
    for (Piece& cell : columns[i].cells) cell.text = shortened(cell.text, columns[i].width);
  if (!all_told_apart(whole[0], columns[0])) return std::nullopt;
  return columns;
}

std::string rule(std::size_t width) {
  std::string text;
  for (std::size_t i = 0; i < width; ++i) text += "─";
  return text;
}

// One line of a table: a piece for each column, aligned; without spaces at its end.
std::string line_of(const TextColumns& columns, const std::vector<Piece>& pieces,
                    const TextStyle& style) {
  std::string line, space;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string pad(columns[i].width - display_width(pieces[i].text), ' ');
    const std::string text = toned(pieces[i].text, pieces[i].tone, style);
    line += text.empty() ? "" : space + (columns[i].to_the_left ? text : pad + text);
    space = (text.empty()             ? space + pad
             : columns[i].to_the_left ? pad
                                      : "") +
            std::string(kGap, ' ');
  }
  return line;
}

std::string header_lines(const TextColumns& columns, std::string_view indent,
                         const TextStyle& style) {
  std::size_t height = 0;
  for (const TextColumn& column : columns) height = std::max(height, column.header.size());
  std::string text;
  for (std::size_t line = 0; line < height; ++line) {
    std::vector<Piece> pieces;
    for (const TextColumn& column : columns) {
      const std::size_t above = height - column.header.size();  // headers stand on the rule
      pieces.push_back({line < above ? "" : column.header[line - above], Tone::quiet});
    }
    text += std::string(indent) + line_of(columns, pieces, style) + "\n";
  }
  return text;
}

std::string rule_line(const TextColumns& columns, std::string_view indent, const TextStyle& style) {
  std::vector<Piece> rules;
  for (const TextColumn& column : columns) rules.push_back({rule(column.width), Tone::quiet});
  return std::string(indent) + line_of(columns, rules, style) + "\n";
}

std::string row_line(const TextColumns& columns, std::size_t row, const TextStyle& style) {
  std::vector<Piece> pieces;
  for (const TextColumn& column : columns) pieces.push_back(column.cells[row]);
  return line_of(columns, pieces, style) + "\n";
}

std::string grid(const TextColumns& columns, std::size_t rows, const TextStyle& style) {
  std::string text = header_lines(columns, "", style) + rule_line(columns, "", style);
  for (std::size_t row = 0; row < rows; ++row) text += row_line(columns, row, style);
  return text;
}

// Names and what they are: the second column is broken into lines.
std::string facts(TextColumns columns, std::size_t rows, const TextStyle& style) {
  columns[1].width = style.columns - columns[0].width - kGap;
  std::string text = header_lines(columns, "", style) + rule_line(columns, "", style);
  for (std::size_t row = 0; row < rows; ++row) {
    Piece name = columns[0].cells[row];
    for (const std::string& line : broken_line(columns[1].cells[row].text, columns[1].width)) {
      const Piece value{shortened(line, columns[1].width), columns[1].cells[row].tone};
      text += line_of(columns, {name, value}, style) + "\n";
      name.text.clear();
    }
  }
  return text;
}

// The first column on lines of its own.
std::string under_names(const TextColumn& names, const TextColumns& figures, std::size_t rows,
                        const TextStyle& style) {
  std::string text = header_lines({names}, "", style) + header_lines(figures, kIndent, style) +
                     rule_line(figures, kIndent, style);
  for (std::size_t row = 0; row < rows; ++row) {
    text += toned(shortened(names.cells[row].text, style.columns), names.cells[row].tone, style);
    text += "\n" + std::string(kIndent) + row_line(figures, row, style);
  }
  return text;
}

std::string records(const Table& table, const TextColumns& columns, const TextStyle& style) {
  std::size_t name_width = 0;
  for (std::size_t i = 1; i < columns.size(); ++i)
    name_width = std::max(name_width, display_width(columns[i].header[0]));
  const std::size_t before = kIndent.size() + name_width + kGap;
  const std::size_t room = style.columns > before ? style.columns - before : 1;
  std::string text;
  for (std::size_t row = 0; row < table.rows().size(); ++row) {
    const Piece& name = columns[0].cells[row];
    text += toned(shortened(name.text, style.columns), name.tone, style) + "\n";
    for (std::size_t i = 1; i < columns.size(); ++i) {
      if (table.rows()[row][i].is_absent()) continue;
      const Piece& cell = columns[i].cells[row];
      const std::string& header = columns[i].header[0];
      std::string start = std::string(kIndent) + toned(header, Tone::quiet, style) +
                          std::string(name_width - display_width(header) + kGap, ' ');
      for (const std::string& line : broken_line(cell.text, room)) {
        text += start + toned(shortened(line, room), cell.tone, style) + "\n";
        start = std::string(before, ' ');
      }
    }
  }
  return text;
}

// A line for each row, or two; nothing where they do not fit.
std::optional<std::string> in_lines(const Table& table, const TextStyle& style) {
  const std::size_t rows = table.rows().size();
  TextColumns columns = text_columns(table);
  const auto fits = [&] { return style.columns == 0 || total_width(columns) <= style.columns; };
  if (fits()) return grid(columns, rows, style);
  for (TextColumn& column : columns) break_header(column);
  if (fits()) return grid(columns, rows, style);
  if (columns.size() == 2 && columns[1].text && columns[0].width + kGap + 12 <= style.columns)
    return facts(columns, rows, style);
  if (const auto cut = shortened_to(columns, style.columns)) return grid(*cut, rows, style);
  if (columns[0].text && columns.size() > 1 && style.columns > kIndent.size()) {
    const TextColumns figures(columns.begin() + 1, columns.end());
    if (const auto cut = shortened_to(figures, style.columns - kIndent.size()))
      return under_names(columns[0], *cut, rows, style);
  }
  return std::nullopt;
}

Table without_column(const Table& table, std::size_t column) {
  const auto without = [&](auto cells) {
    cells.erase(cells.begin() + static_cast<std::ptrdiff_t>(column));
    return cells;
  };
  Table rest(without(table.columns()));
  for (const std::vector<Cell>& row : table.rows()) rest.add_row(without(row));
  return rest;
}

std::string laid_out(const Table& table, const TextStyle& style) {
  std::optional<std::string> text = in_lines(table, style);
  std::string left_out;
  for (Table rest = table; !text; text = in_lines(rest, style)) {
    const auto dispensable = std::ranges::max_element(rest.columns(), {}, &Column::detail);
    if (dispensable->detail == 0) return records(table, text_columns(table), style);
    left_out += (left_out.empty() ? "" : ", ") + dispensable->header;
    rest = without_column(rest, static_cast<std::size_t>(dispensable - rest.columns().begin()));
  }
  if (!left_out.empty())
    *text += fitted("not shown, for want of width: " + left_out, style.columns) + "\n";
  return *text;
}

}  // namespace

std::string to_text(const Table& table, const TextStyle& style) {
  const LiftedTable lifted = lift_constants(table);
  std::string text;
  for (const std::string& line : lifted.lines) text += fitted(line, style.columns) + "\n";
  return text + laid_out(lifted.table, style);
}

}  // namespace hone
