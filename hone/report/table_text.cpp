#include <algorithm>
#include <optional>
#include <set>

#include "hone/base/printable.h"
#include "hone/report/table.h"

// Tables for terminals. Plain text is cut to its width first; colors are added last, when lines are assembled.
namespace hone {
namespace {

constexpr std::size_t kColumnGap = 2;  // spaces between two columns
// Texts are not shortened below these widths: the first column identifies the row, and prose must stay readable.
constexpr std::size_t kShortestText = 28, kShortestName = 14;
constexpr std::size_t kMostLines = 4;    // of a row under its name
constexpr std::size_t kMostOfProse = 6;  // lines of a cell
constexpr std::string_view kIndent = "  ";

/// A piece of text that fills a column's line, and its color.
struct Piece {
  std::string text;
  Tone tone = Tone::plain;
};

struct TextColumn {
  bool to_the_left = false;
  bool text = false;              ///< whether cells may be shortened
  bool prose = false;             ///< whether cells are broken into lines instead
  bool row_names = false;         ///< the first column
  std::size_t shortest_text = 0;  ///< the least width of its cells
  std::size_t width = 0;
  std::string header;
  std::vector<Piece> cells;
};

using TextColumns = std::vector<TextColumn>;

std::size_t cells_width(const TextColumn& column) {
  std::size_t width = 0;
  for (const Piece& cell : column.cells) width = std::max(width, display_width(cell.text));
  return width;
}

TextColumns text_columns(const Table& table) {
  TextColumns columns;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    TextColumn column;
    column.header = shown_name(table.columns()[i].header);
    const std::vector<std::string> texts = display_column(table, i);
    for (std::size_t row = 0; row < texts.size(); ++row) {
      const Cell& cell = table.rows()[row][i];
      column.cells.push_back({texts[row], cell.tone});
      column.text |= cell.is_text();
    }
    column.to_the_left = column.text;
    column.prose = column.text && std::ranges::any_of(column.cells, [](const Piece& cell) {
                     return std::ranges::count(cell.text, ' ') > 2;
                   });
    column.row_names = i == 0;
    column.shortest_text = i == 0 || column.prose ? kShortestText : kShortestName;
    column.width = std::max(cells_width(column), display_width(column.header));
    columns.push_back(std::move(column));
  }
  return columns;
}

/// Columns on several lines below each other, with the same number on each: column i in slot i % slots.
struct Stack {
  std::size_t slots = 1;

  static Stack of(const TextColumns& columns, std::size_t lines) {
    return {std::max<std::size_t>(1, (columns.size() + lines - 1) / lines)};
  }
  std::size_t width(const TextColumns& columns, std::size_t slot) const {
    std::size_t width = 0;
    for (std::size_t i = slot; i < columns.size(); i += slots)
      width = std::max(width, columns[i].width);
    return width;
  }
  std::size_t total_width(const TextColumns& columns) const {
    std::size_t total = 0;
    for (std::size_t slot = 0; slot < slots; ++slot) total += width(columns, slot) + kColumnGap;
    return total == 0 ? 0 : total - kColumnGap;
  }
  /// The columns of each line, as wide as their slots.
  std::vector<TextColumns> lines(const TextColumns& columns) const {
    std::vector<TextColumns> lines;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i % slots == 0) lines.emplace_back();
      lines.back().push_back(columns[i]);
      lines.back().back().width = width(columns, i % slots);
    }
    return lines;
  }
};

std::size_t total_width(const TextColumns& columns) {
  return Stack{columns.size()}.total_width(columns);
}

// Shortens the cells to at most `width` columns; returns false if different ones would become equal. Names of rows keep
// their end, which identifies layers; if that makes some equal, they get lines of their own.
bool shorten(TextColumn& column, std::size_t width) {
  std::vector<std::string> texts, ends;
  for (const Piece& cell : column.cells) {
    texts.push_back(cell.text);
    ends.push_back(shortened(cell.text, width));
  }
  const auto different = [](const std::vector<std::string>& some) {
    return std::set<std::string>(some.begin(), some.end()).size();
  };
  auto cut =
      column.row_names && different(ends) == different(texts) ? std::optional(ends) : std::nullopt;
  if (!column.row_names) cut = shortened_apart(texts, width);
  if (!cut) return false;
  for (std::size_t row = 0; row < texts.size(); ++row) column.cells[row].text = (*cut)[row];
  return true;
}

// Whether the column is prose that needs few lines.
bool is_broken(const TextColumn& column) {
  return column.prose && std::ranges::all_of(column.cells, [&](const Piece& cell) {
           return wrapped_line(cell.text, column.width).size() <= kMostOfProse;
         });
}

// Shortens the texts, always of the widest column, until the columns fit into `room`; none if they cannot.
std::optional<TextColumns> shortened_to(TextColumns columns, const Stack& stack, std::size_t room) {
  while (stack.total_width(columns) > room) {
    TextColumn* widest = nullptr;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      TextColumn& column = columns[i];
      const bool shrinks =
          column.text &&
          column.width > std::max(column.shortest_text, display_width(column.header)) &&
          column.width == stack.width(columns, i % stack.slots);
      if (shrinks && (widest == nullptr || column.width > widest->width)) widest = &column;
    }
    if (widest == nullptr) return std::nullopt;
    --widest->width;
  }
  for (TextColumn& column : columns)
    if (column.text && !is_broken(column) && !shorten(column, column.width)) return std::nullopt;
  return columns;
}

std::string rule(std::size_t width) {
  std::string text;
  for (std::size_t i = 0; i < width; ++i) text += "─";
  return text;
}

// Returns one line of a table: aligned pieces, one for each column, without trailing spaces.
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
            std::string(kColumnGap, ' ');
  }
  return line;
}

std::string header_line(const TextColumns& columns, std::string_view indent,
                        const TextStyle& style) {
  std::vector<Piece> headers;
  for (const TextColumn& column : columns) headers.push_back({column.header, Tone::quiet});
  return std::string(indent) + line_of(columns, headers, style) + "\n";
}

std::string rule_line(const TextColumns& columns, std::string_view indent, const TextStyle& style) {
  std::vector<Piece> rules;
  for (const TextColumn& column : columns) rules.push_back({rule(column.width), Tone::quiet});
  return std::string(indent) + line_of(columns, rules, style) + "\n";
}

// Returns a row on one line, or on as many as its prose needs.
std::string row_lines(const TextColumns& columns, std::size_t row, const TextStyle& style) {
  std::vector<std::vector<std::string>> cells;
  std::size_t lines = 1;
  for (const TextColumn& column : columns) {
    const std::string& text = column.cells[row].text;
    cells.push_back(column.prose ? wrapped_line(text, column.width) : std::vector{text});
    lines = std::max(lines, cells.back().size());
  }
  std::string text;
  for (std::size_t line = 0; line < lines; ++line) {
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < columns.size(); ++i)
      pieces.push_back({line < cells[i].size() ? shortened(cells[i][line], columns[i].width) : "",
                        columns[i].cells[row].tone});
    text += line_of(columns, pieces, style) + "\n";
  }
  return text;
}

std::string grid(const TextColumns& columns, std::size_t rows, const TextStyle& style) {
  std::string text = header_line(columns, "", style) + rule_line(columns, "", style);
  for (std::size_t row = 0; row < rows; ++row) text += row_lines(columns, row, style);
  return text;
}

// Lays out names with descriptions: the second column is broken into lines.
std::string facts(TextColumns columns, std::size_t rows, const TextStyle& style) {
  columns[1].prose = true;
  columns[1].width = style.columns - columns[0].width - kColumnGap;
  return grid(columns, rows, style);
}

// Whether no cell can be broken into lines, so that long ones must be shortened.
bool is_of_words(const TextColumn& column) {
  return std::ranges::none_of(
      column.cells, [](const Piece& cell) { return cell.text.find(' ') != std::string::npos; });
}

// Returns the name of a row on lines of its own, each as wide as the terminal.
std::string name_lines(const Piece& name, const TextStyle& style) {
  std::string text;
  for (const std::string& line : wrapped_line(name.text, style.columns))
    text += toned(shortened(line, style.columns), name.tone, style) + "\n";
  return text;
}

// Lays out the first column on lines of its own, as wide as the terminal.
std::string under_names(const TextColumn& names, const std::vector<TextColumns>& lines,
                        std::size_t rows, const TextStyle& style) {
  TextColumn whole = names;
  whole.row_names = false;
  if (is_of_words(whole)) shorten(whole, style.columns);
  std::string text = header_line({whole}, "", style);
  for (const TextColumns& line : lines) text += header_line(line, kIndent, style);
  text += rule_line(lines.front(), kIndent, style);
  for (std::size_t row = 0; row < rows; ++row) {
    text += name_lines(whole.cells[row], style);
    for (const TextColumns& line : lines)
      text += std::string(kIndent) + row_lines(line, row, style);
  }
  return text;
}

std::size_t widest_word(std::string_view text) {
  std::size_t width = 0;
  for (const std::string& word : wrapped_line(text, 1))
    width = std::max(width, display_width(word));
  return width;
}

std::string records(const Table& table, TextColumns columns, const TextStyle& style) {
  std::size_t name_width = 0;
  for (std::size_t i = 1; i < columns.size(); ++i)
    name_width = std::max(name_width, display_width(columns[i].header));
  const std::size_t before = kIndent.size() + name_width + kColumnGap, below = 2 * kIndent.size();
  const auto room_after = [&](std::size_t used) {
    return style.columns > used ? style.columns - used : 1;
  };
  for (TextColumn& column : columns)
    if (is_of_words(column)) shorten(column, room_after(&column == &columns[0] ? 0 : below));
  std::string text;
  for (std::size_t row = 0; row < table.rows().size(); ++row) {
    text += name_lines(columns[0].cells[row], style);
    for (std::size_t i = 1; i < columns.size(); ++i) {
      if (table.rows()[row][i].is_absent()) continue;
      const Piece& cell = columns[i].cells[row];
      const std::string& header = columns[i].header;
      // A value too long to follow its header goes below it, unless it is prose.
      const bool prose =
          table.rows()[row][i].is_text() && widest_word(cell.text) <= room_after(before);
      const bool beside = prose || display_width(cell.text) <= room_after(before);
      std::string start = std::string(kIndent) + toned(header, Tone::quiet, style);
      if (beside) {
        start += std::string(name_width - display_width(header) + kColumnGap, ' ');
      } else {
        text += start + "\n";
        start = std::string(below, ' ');
      }
      const std::size_t used = beside ? before : below, room = room_after(used);
      for (const std::string& line : wrapped_line(cell.text, room)) {
        text += start + toned(shortened(line, room), cell.tone, style) + "\n";
        start = std::string(used, ' ');
      }
    }
  }
  return text;
}

/// The forms of a table, from the most readable one to the one that always fits.
struct Form {
  enum Kind { whole, facts, shortened, under_names, records } kind = whole;
  std::size_t lines = 1;  ///< of a row under its name
};

std::vector<Form> forms() {
  std::vector<Form> all = {{Form::whole}, {Form::facts}, {Form::shortened}};
  for (std::size_t lines = 1; lines <= kMostLines; ++lines)
    all.push_back({Form::under_names, lines});
  all.push_back({Form::records});
  return all;
}

std::optional<std::string> stacked_under_names(const TextColumns& columns, std::size_t lines,
                                               std::size_t rows, const TextStyle& style) {
  if (columns.size() < 2 || !columns[0].text || style.columns <= kIndent.size())
    return std::nullopt;
  const TextColumns figures(columns.begin() + 1, columns.end());
  const Stack stack = Stack::of(figures, lines);
  if (lines > 1 && stack.slots == 1) return std::nullopt;  // records are more readable
  const auto cut = shortened_to(figures, stack, style.columns - kIndent.size());
  if (!cut) return std::nullopt;
  return under_names(columns[0], stack.lines(*cut), rows, style);
}

// Returns none if the table does not fit in this form.
std::optional<std::string> laid_out(const Table& table, const Form& form, const TextStyle& style) {
  const std::size_t rows = table.rows().size();
  const TextColumns columns = text_columns(table);
  switch (form.kind) {
    case Form::whole:
      if (style.columns > 0 && total_width(columns) > style.columns) return std::nullopt;
      return grid(columns, rows, style);
    case Form::facts:
      if (columns.size() != 2 || !columns[1].text ||
          columns[0].width + kColumnGap + 12 > style.columns)
        return std::nullopt;
      return facts(columns, rows, style);
    case Form::shortened: {
      const auto cut = shortened_to(columns, Stack{columns.size()}, style.columns);
      return cut ? std::optional(grid(*cut, rows, style)) : std::nullopt;
    }
    case Form::under_names:
      return stacked_under_names(columns, form.lines, rows, style);
    case Form::records:
      return records(table, columns, style);
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> to_texts(const std::vector<Table>& tables, const TextStyle& style) {
  std::vector<std::string> texts;
  for (const Form& form : forms()) {
    texts.clear();
    for (const Table& table : tables) {
      const std::optional<std::string> text = laid_out(table, form, style);
      if (!text) break;
      texts.push_back(*text);
    }
    if (texts.size() == tables.size()) break;
  }
  return texts;
}

std::string to_text(const Table& table, const TextStyle& style) {
  return to_texts({table}, style).front();
}

}  // namespace hone
