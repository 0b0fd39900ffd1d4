#pragma once

#include <concepts>
#include <cstdint>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hone/base/json.h"
#include "hone/base/percentage.h"
#include "hone/report/text_layout.h"

/// Tables of results: aligned text for people, CSV and JSON for programs.
///
///     Table table({{"format", "Format"}, {"accuracy", "Accuracy"}, {"flips", "Flips"}, {"size", "Size"}});
///     table.add_row({"fp32", percent(0.8381), absent, bytes(17544712)});
///     table.add_row({"mxint8", percent(0.8379), percent(0.0012, 2), bytes(16316424)});
///
///     Format  Accuracy  Flips       Size
///     ──────  ────────  ─────  ─────────
///     fp32       83.8%      –  16.73 MiB
///     mxint8     83.8%  0.12%  15.56 MiB
///
/// Cells contain values, not texts, until a table is rendered: people see rounded cells under headers, programs get all
/// digits under keys.
///
/// Shares and differences have a fixed number of decimals, see hone/base/percentage.h. A ratio, or any other number
/// without a fixed scale, has three significant digits, see `three_digits`.
namespace hone {

/// A number shown with `digits` decimals. A nonzero number never shows as zero: 0.00042 with two decimals is "< 0.01".
struct Real {
  double value = 0;
  int digits = 2;
  bool may_be_whole = false;  ///< without decimals if all such numbers of the column are whole
};

/// A number without a fixed scale, such as a ratio, shown with three significant digits: "1.84", "0.00360", "33.4".
struct Significant {
  double value = 0;
};

/// A share shown as a percentage: 0.838 as "83.8%", 0.00002 as "0.002%". The raw number remains the share.
struct Percent {
  double share = 0;
  int digits = kShareDigits;
};

/// A number of bytes shown as "15.56 MiB", or "16 MiB" if all of the column are whole. The column has one unit, that of
/// its largest value, if the smallest is at least 0.10 in it.
struct Bytes {
  std::int64_t count = 0;
};

/// The kind of an estimated value.
enum class Quantity : std::uint8_t { share, rough_share, flips, points, number, count };
inline bool is_percentage(Quantity of) {
  return of == Quantity::share || of == Quantity::rough_share || of == Quantity::flips;
}
inline int decimals_of(Quantity of) {
  if (of == Quantity::rough_share) return kRoughShareDigits;
  return of == Quantity::share ? kShareDigits : kDifferenceDigits;
}

/// A share, the difference of two, or a number, with its 95% interval [low, high]:
///
///     69.1% (56.0 to 79.7)    a share
///     1.34% (1.15 to 1.56)    a share of flips
///     -0.23 (-0.61 to +0.18)  points: the difference, times 100
///     0.912 (0.887 to 0.931)  a number, such as a correlation or a ratio, with three significant digits
///     50.9% (47.3 to 52.7, 3 runs)  the mean of several runs, with the lowest and the highest instead of an interval
///
/// In JSON and CSV: the value under the column's key, the interval under KEY_interval (CSV: KEY_low, KEY_high), the
/// numbers of examples and of runs under KEY_n and KEY_runs if they are known. A NaN in `low` means that there is no
/// interval.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
  Quantity of = Quantity::share;
  std::int64_t n = 0;     ///< examples that it was measured on; 0: unknown
  std::int64_t runs = 0;  ///< number of runs averaged; 0: a value of one run
};

/// The p-value of a test: "0.399", "7e-10", "< 1e-300" below the range of a double.
struct PValue {
  double value = 1;
};

/// Values of a few runs, in their order: shares "83.5, 82.8, 83.1%", counts "3, 7, never", where infinity means that a
/// run never reached the goal. They sort by their mean. JSON has the list, CSV the mean under the column's key and each
/// value under KEY_1, KEY_2 …
struct PerRun {
  std::vector<double> values;
  Quantity of = Quantity::share;

  double mean() const;
};

/// Counts by name: "9 integer, 3 log". JSON has an object, CSV the total under the column's key and each count under
/// KEY_NAME.
struct Tally {
  std::vector<std::pair<std::string, std::int64_t>> counts;
};

/// A value that was not measured or does not apply: "–", an empty CSV field, a JSON null.
struct Absent {};
inline constexpr Absent absent;

/// One cell. Text, whole numbers, lists of them (shapes) and the kinds above convert implicitly.
class Cell {
 public:
  using List = std::vector<std::int64_t>;  ///< "[8, 128]"; an array in JSON
  using Value = std::variant<Absent, std::string, std::int64_t, Real, Significant, Percent, Bytes,
                             Estimate, PerRun, Tally, PValue, List>;

  Cell(Absent value) : value_(value) {}
  Cell(std::string text) : value_(std::move(text)) {}
  Cell(std::string_view text) : value_(std::string(text)) {}
  Cell(const char* text) : value_(std::string(text)) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Cell(T value) : value_(static_cast<std::int64_t>(value)) {}
  template <std::ranges::contiguous_range Numbers>
  requires std::same_as<std::ranges::range_value_t<Numbers>, std::int64_t> Cell(
      const Numbers& values)
      : value_(List(values.begin(), values.end())) {}
  Cell(Real value) : value_(value) {}
  Cell(Significant value) : value_(value) {}
  Cell(Percent value) : value_(value) {}
  Cell(Bytes value) : value_(value) {}
  Cell(Estimate value) : value_(value) {}
  Cell(PerRun value) : value_(std::move(value)) {}
  Cell(Tally value) : value_(std::move(value)) {}
  Cell(PValue value) : value_(value) {}

  const Value& value() const { return value_; }
  /// Whether it is left-aligned: text, tallies and lists.
  bool is_text() const {
    return std::holds_alternative<std::string>(value_) || std::holds_alternative<Tally>(value_) ||
           std::holds_alternative<List>(value_);
  }
  bool is_absent() const { return std::holds_alternative<Absent>(value_); }
  /// The meaning of its color, if colors are shown.
  Tone tone = Tone::plain;

 private:
  Value value_;
};

inline Cell real(double value, int digits) { return Real{value, digits}; }
inline Cell significant(double value) { return Significant{value}; }
/// Bits per value: "8", or "8.25" if any value of the column is fractional.
inline Cell bits(double count) { return Real{count, 2, /*may_be_whole=*/true}; }
inline Cell percent(double share, int digits = kShareDigits) { return Percent{share, digits}; }
inline Cell bytes(std::int64_t count) { return Bytes{count}; }
inline Cell percent_within(double share, double low, double high) {
  return Estimate{share, low, high};
}
inline Cell flips_within(double share, double low, double high) {
  return Estimate{share, low, high, Quantity::flips};
}
inline Cell points_within(double difference, double low, double high) {
  return Estimate{difference, low, high, Quantity::points};
}
inline Cell number_within(double value, double low, double high) {
  return Estimate{value, low, high, Quantity::number};
}
inline Cell p_value(double value) { return PValue{value}; }
/// Returns the cell in a color that repeats the meaning of its text.
inline Cell toned(Cell cell, Tone tone) {
  cell.tone = tone;
  return cell;
}

struct Column {
  std::string key;     ///< in CSV and JSON: "margin_snr_db"
  std::string header;  ///< for people, unique in the table: "Margin SNR (dB)"
};

class Table {
 public:
  /// The keys must differ from one another.
  explicit Table(std::vector<Column> columns);
  /// Adds a row with one cell for each column.
  void add_row(std::vector<Cell> cells);

  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<std::vector<Cell>>& rows() const { return rows_; }

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// Returns a share for a sentence: "80.6% (95% CI 79.4 to 81.8)".
std::string sentence_text(const Estimate& share);

/// Returns the text shown in a cell: "83.8%", "4,386,178", "∞", "–". A NaN shows as "–" too.
std::string display_text(const Cell& cell);
/// Returns the texts of all cells of a column, with decimals if one of them needs them.
std::vector<std::string> display_column(const Table& table, std::size_t column);

/// Returns CSV (RFC 4180) with a header line of keys; raw numbers in the shortest form that reads back the same, "inf"
/// and "nan" if they are not finite. Further values of a cell have columns of their own.
std::string to_csv(const Table& table);
/// Returns an array with one object for each row; raw numbers, null if they are not finite.
Json to_json(const Table& table);

/// Returns lines of UTF-8, each ending in a newline: aligned columns, to the left if they contain text. A table wider
/// than `style.columns` takes the first of these forms that fits; none leaves out a column or breaks a header:
/// - long texts are shortened in the middle, so that different ones remain different (`shortened_apart`); prose, and
///   the second column of a table with two, is broken into lines instead;
/// - the first column is on lines of its own, above the others, and these are on one to four lines;
/// - a record for each row: the first cell, then a line for each other cell that is not absent, after its header. Cells
///   of several words are broken into lines.
std::string to_text(const Table& table, const TextStyle& style = {});

/// Lays out tables that belong together in one form: the first that fits all of them.
std::vector<std::string> to_texts(const std::vector<Table>& tables, const TextStyle& style = {});

}  // namespace hone
