#include "hone/data/quoting.h"

#include <algorithm>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/data/raw_labels.h"

namespace hone {
namespace {

// Calls `look` with every non-empty line, without its line end, until it returns false.
template <typename Look>
bool all_lines(std::string_view text, const Look& look) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty() && !look(line)) return false;
  }
  return true;
}

// Returns whether every line has as many fields as the first one if quotes are text; extra empty fields at the end do
// not count.
bool lines_are_rows(std::string_view text, char separator) {
  std::ptrdiff_t expected = -1;
  return all_lines(text, [&](std::string_view line) {
    std::ptrdiff_t count = std::ranges::count(line, separator);
    if (expected < 0) expected = count;
    while (count > expected && line.ends_with(separator)) {
      line.remove_suffix(1);
      --count;
    }
    return count == expected;
  });
}

// Properties of the text if quotes enclose fields.
struct Enclosed {
  bool any = false;
  bool valid = true;       // every quote is closed, and followed by a separator or line end
  bool line_ends = false;  // some quoted fields contain line ends
  bool doubled = false;    // some quotes inside fields are doubled, as programs write them
};

Enclosed find_enclosed(std::string_view text, char separator) {
  Enclosed found;
  std::size_t at = text.find('"');
  for (; at != std::string_view::npos; at = text.find('"', at + 1)) {
    if (at > 0 && text[at - 1] != separator && text[at - 1] != '\n') continue;
    found.any = true;
    std::size_t end = text.find('"', at + 1);
    while (end != std::string_view::npos && text.substr(end + 1).starts_with('"')) {
      found.doubled = true;
      end = text.find('"', end + 2);
    }
    found.valid = end != std::string_view::npos;
    if (!found.valid) return found;
    const std::string_view rest = text.substr(end + 1);
    found.valid = rest.empty() || rest.front() == separator || rest.front() == '\n' ||
                  rest.starts_with("\r\n");
    if (!found.valid) return found;
    found.line_ends =
        found.line_ends || text.substr(at, end - at).find('\n') != std::string_view::npos;
    at = end;
  }
  return found;
}

bool is_enclosed(std::string_view field) {
  return field.size() >= 2 && field.starts_with('"') && field.ends_with('"');
}

// Returns whether the header or a whole column is quoted.
bool has_quoted_column(std::string_view text, char separator) {
  std::vector<char> all_quoted;
  bool header = false;
  std::size_t rows = 0;
  all_lines(text, [&](std::string_view line) {
    const std::vector<std::string> fields = split(line, separator);
    if (rows++ == 0) {
      all_quoted.assign(fields.size(), 1);
      header = std::ranges::any_of(fields, is_enclosed);
      return !header;
    }
    for (std::size_t i = 0; i < std::min(fields.size(), all_quoted.size()); ++i)
      if (!is_enclosed(fields[i])) all_quoted[i] = 0;
    return std::ranges::count(all_quoted, 1) > 0;
  });
  return header || (rows > 2 && std::ranges::count(all_quoted, 1) > 0);
}

// Returns whether a column has a number in every line after the header if quotes are text.
bool has_numbers_in_all_lines(std::string_view text, char separator) {
  std::vector<char> numbers;
  bool header = true;
  all_lines(text, [&](std::string_view line) {
    const std::vector<std::string> fields = split(line, separator);
    if (header) numbers.assign(fields.size(), 1);
    for (std::size_t i = 0; !header && i < std::min(fields.size(), numbers.size()); ++i)
      if (!parse_decimal(fields[i])) numbers[i] = 0;
    header = false;
    return std::ranges::count(numbers, 1) > 0;
  });
  return std::ranges::count(numbers, 1) > 0;
}

Quoting as_text(const char* why) {
  return {.encloses = false,
          .note = fmt::format("quotes are read as text: {}; `quoting` minimal lets them enclose "
                              "fields",
                              why)};
}

Quoting quoting_of_tabs(std::string_view text, const Enclosed& enclosed) {
  if (!enclosed.valid) return as_text("not all of them are closed");
  const bool rows = lines_are_rows(text, '\t');
  const bool joins =
      enclosed.line_ends && (!enclosed.doubled || has_numbers_in_all_lines(text, '\t'));
  if (rows && joins) return as_text("with quoting, rows would be joined");
  if (rows && !enclosed.doubled && !has_quoted_column(text, '\t'))
    return as_text("the columns are separated by tabs");
  return {.note = "quotes enclose fields; `quoting` none reads them as text"};
}

}  // namespace

Quoting find_quoting(std::string_view text, char separator, const std::string& quoting) {
  user_check(quoting.empty() || quoting == "minimal" || quoting == "none",
             "`quoting`: expected none or minimal, got '{}'", quoting);
  if (!quoting.empty()) return {.encloses = quoting == "minimal"};
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (text.find('"') == std::string_view::npos) return {};
  // For most files, one of the first lines decides.
  if (separator != '\t' && !lines_are_rows(text, separator)) return {};
  const Enclosed enclosed = find_enclosed(text, separator);
  if (!enclosed.any) return {};
  if (separator == '\t') return quoting_of_tabs(text, enclosed);
  if (!enclosed.valid) return as_text("not all of them are closed");
  if (enclosed.line_ends && has_numbers_in_all_lines(text, separator))
    return as_text("with quoting, rows would be joined");
  return {};
}

}  // namespace hone
