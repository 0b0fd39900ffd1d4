#include "hone/data/csv.h"

#include <algorithm>

#include "hone/base/error.h"

namespace hone {

constexpr std::size_t kMaxFields = 10'000;

CsvReader::CsvReader(std::string_view text, char separator, bool quotes)
    : rest_(text), separator_(separator), quotes_(quotes) {
  if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
}

bool CsvReader::next(std::vector<std::string>& fields) {
  while (!rest_.empty() && at_line_end()) skip_line_end();
  if (rest_.empty()) return false;
  record_line_ = line_;
  read_record(fields);
  return true;
}

std::size_t CsvReader::most_records() const {
  return static_cast<std::size_t>(std::ranges::count(rest_, '\n')) + (rest_.empty() ? 0 : 1);
}

bool CsvReader::at_line_end() const {
  return rest_.empty() || rest_.front() == '\n' || rest_.starts_with("\r\n");
}

void CsvReader::skip_line_end() {
  if (rest_.empty()) return;
  rest_.remove_prefix(rest_.front() == '\r' ? 2 : 1);
  ++line_;
}

void CsvReader::read_record(std::vector<std::string>& fields) {
  // Reuses the memory of the previous record.
  for (std::size_t count = 1;; ++count) {
    user_check(count <= kMaxFields, "line {}: more than {} fields; is this a table?", record_line_,
               kMaxFields);
    if (fields.size() < count) fields.emplace_back();
    std::string& field = fields[count - 1];
    field.clear();
    const std::int64_t opened = line_;
    if (quotes_ && rest_.starts_with('"')) {
      read_quoted(field);
    } else {
      const std::size_t size = unquoted_size();
      field.assign(rest_.substr(0, size));
      rest_.remove_prefix(size);
    }
    if (at_line_end()) {
      fields.resize(count);
      return skip_line_end();
    }
    // If a field closes on a later line, its closing quote is often the opening one of another field.
    user_check(rest_.front() == separator_ || opened == line_,
               "line {}: the quoted field that begins here has no closing quote before line {}, "
               "where '{}' follows it; close the field, or write a quote inside quotes as \"\"",
               opened, line_, rest_.front());
    user_check(rest_.front() == separator_,
               "line {}: a quoted field is followed by '{}'; write a quote inside quotes as \"\", "
               "or read quotes as text by `quoting` none",
               line_, rest_.front());
    rest_.remove_prefix(1);
  }
}

// Returns the size up to the next separator or line end.
std::size_t CsvReader::unquoted_size() const {
  const char *const begin = rest_.data(), *const end = begin + rest_.size();
  const char* at = begin;
  while (at != end && *at != separator_ && *at != '\n') ++at;
  if (at != end && at != begin && *at == '\n' && at[-1] == '\r') --at;
  return static_cast<std::size_t>(at - begin);
}

void CsvReader::read_quoted(std::string& field) {
  const std::int64_t opened = line_;
  rest_.remove_prefix(1);
  for (;;) {
    const std::size_t quote = rest_.find('"');
    user_check(quote != std::string_view::npos,
               "line {}: a quoted field is never closed; `quoting` none reads quotes as text",
               opened);
    for (const char c : rest_.substr(0, quote)) line_ += c == '\n';
    field += rest_.substr(0, quote);
    rest_.remove_prefix(quote + 1);
    if (!rest_.starts_with('"')) return;
    field.push_back('"');
    rest_.remove_prefix(1);
  }
}

}  // namespace hone
