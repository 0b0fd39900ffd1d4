#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hone/base/json.h"

/// Tables of results: aligned for people, as CSV and JSON for programs.
///
///     Table table({{"format", "Format"}, {"accuracy", "Accuracy"}, {"flips", "Flips"}, {"size",
///     "Size"}}); table.add_row({"fp32", percent(0.8381), absent, bytes(17544712)});
///     table.add_row({"mxint8", percent(0.8379), percent(0.0012, 2), bytes(16316424)});
///
///     Format  Accuracy   Flips       Size
///     ──────  ────────  ──────  ─────────
///     fp32      83.8 %       –  16.73 MiB
///     mxint8    83.8 %  0.12 %  15.56 MiB
///
/// People see rounded cells under headers, programs see raw numbers under keys.
namespace hone {

/// A number that is shown with `digits` decimals. One that is not zero never shows as zero: 0.00042
/// with two decimals is "0.0004".
struct Real {
  double value = 0;
  int digits = 2;
};

/// A share that is shown as a percentage: 0.838 as "83.8 %", 0.00002 as "0.002 %". The raw number
/// stays the share.
struct Percent {
  double share = 0;
  int digits = 1;
};

/// A number of bytes that is shown as "15.56 MiB".
struct Bytes {
  std::int64_t count = 0;
};

/// What was not measured or does not apply: "–", an empty CSV field, a JSON null.
struct Absent {};
inline constexpr Absent absent;

/// One cell. Text, whole numbers and the kinds above convert by themselves.
class Cell {
 public:
  using Value = std::variant<Absent, std::string, std::int64_t, Real, Percent, Bytes>;

  Cell(Absent value) : value_(value) {}
  Cell(std::string text) : value_(std::move(text)) {}
  Cell(std::string_view text) : value_(std::string(text)) {}
  Cell(const char* text) : value_(std::string(text)) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Cell(T value) : value_(static_cast<std::int64_t>(value)) {}
  Cell(Real value) : value_(value) {}
  Cell(Percent value) : value_(value) {}
  Cell(Bytes value) : value_(value) {}

  const Value& value() const { return value_; }
  bool is_text() const { return std::holds_alternative<std::string>(value_); }

 private:
  Value value_;
};

inline Cell real(double value, int digits) { return Real{value, digits}; }
inline Cell percent(double share, int digits = 1) { return Percent{share, digits}; }
inline Cell bytes(std::int64_t count) { return Bytes{count}; }

struct Column {
  std::string key;     ///< in CSV and JSON: "margin_snr_db"
  std::string header;  ///< for people: "Margin SNR (dB)"
};

class Table {
 public:
  /// The keys must differ from one another.
  explicit Table(std::vector<Column> columns);
  /// One cell for each column.
  void add_row(std::vector<Cell> cells);

  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<std::vector<Cell>>& rows() const { return rows_; }

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// What a person sees in a cell: "83.8 %", "4 386 178", "∞", "–". A NaN shows as "–" too.
std::string display_text(const Cell& cell);

/// Lines of aligned columns, UTF-8, each ending in a newline. A column is aligned to the left if it
/// has any text.
std::string to_text(const Table& table);
/// RFC 4180 with a header line of keys; raw numbers in the shortest form that reads back the same,
/// "inf" and "nan" where they are not finite.
std::string to_csv(const Table& table);
/// An array with one object for each row; raw numbers, null where they are not finite.
Json to_json(const Table& table);

/// Writes `stem`.csv and `stem`.json. Throws `UserError`.
void write_table(const Table& table, const fs::path& stem);

}  // namespace hone
