#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Reads delimited text as RFC 4180 defines it: quoted fields may contain the separator, line breaks and doubled
/// quotes; lines end in LF or CRLF; a byte order mark at the start is skipped. Quotes can also be read as text, as many
/// tab-separated files need.
namespace hone {

class CsvReader {
 public:
  /// `text` must outlive the reader. `quotes`: they enclose fields; otherwise they are text.
  CsvReader(std::string_view text, char separator, bool quotes = true);

  /// Reads the next record into `fields`, skipping empty lines. Returns false at the end. Throws `UserError` with the
  /// line for a quote that is never closed or is followed by text, and for more than 10,000 fields.
  bool next(std::vector<std::string>& fields);
  /// Returns the line on which the last record began, from 1.
  std::int64_t line() const { return record_line_; }
  /// Returns an upper bound of the remaining records: the number of lines.
  std::size_t most_records() const;

 private:
  void read_record(std::vector<std::string>& fields);
  void read_quoted(std::string& field);
  std::size_t unquoted_size() const;
  bool at_line_end() const;
  void skip_line_end();

  std::string_view rest_;
  char separator_;
  bool quotes_;
  std::int64_t line_ = 1;  // line at the front of `rest_`
  std::int64_t record_line_ = 0;
};

}  // namespace hone
