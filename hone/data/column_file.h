#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hone/base/thread_pool.h"

/// Files that store their tables by columns: Parquet and Arrow.
namespace hone {

/// All that a column takes in memory, for the moment or for good, stays below this many times the file's size (or
/// 64 MiB, where that is more). Text and labels stay far below; files made to do harm do not.
inline constexpr std::uint64_t kMaxColumnExpansion = 64;
inline constexpr std::uint64_t kFreeColumnBytes = std::uint64_t{64} << 20;

/// One value per row. Booleans and all integers are std::int64_t, all widths of floating point are double.
using ColumnValues =
    std::variant<std::vector<std::string>, std::vector<std::int64_t>, std::vector<double>>;

/// Moves `more`, which holds the same type, behind the values of `all`.
void append(ColumnValues& all, ColumnValues&& more);

struct StoredColumn {
  std::string name;
  ColumnValues values;
};

/// Row i has the values from `begins[i]` up to `begins[i + 1]`.
struct StoredLists {
  StoredColumn values;
  std::vector<std::size_t> begins;  ///< (rows + 1)
};

/// A column as the file's schema describes it.
struct ColumnSchema {
  std::string name;
  std::string type;       ///< for people: "string", "int64", "list<string>", "struct", "timestamp"
  bool readable = false;  ///< else `read` refuses it: nested, or of a type that no model reads
  bool is_list = false;   ///< `read_lists` reads it: lists of values that can be read
};

class ColumnFile {
 public:
  ColumnFile() = default;
  ColumnFile(ColumnFile&&) = default;
  ColumnFile& operator=(ColumnFile&&) = default;
  virtual ~ColumnFile() = default;

  virtual std::int64_t rows() const = 0;
  /// The columns a table shows, nested ones as one each.
  virtual const std::vector<ColumnSchema>& columns() const = 0;
  /// Key-value pairs: "huggingface" holds JSON with the names of classes.
  virtual const std::map<std::string, std::string>& metadata() const = 0;

  /// Whether there are rows, and the column has no value in any of them.
  virtual bool is_null(std::string_view column) const = 0;
  /// All rows of a column. Throws `UserError` for a column that is not there or not readable, a null (with its row), a
  /// codec that is not supported, and anything damaged.
  virtual StoredColumn read(std::string_view column, ThreadPool& pool) const = 0;
  /// All rows of a column of lists. Throws `UserError` as `read` does, also for a null in a list.
  virtual StoredLists read_lists(std::string_view column, ThreadPool& pool) const = 0;
};

/// The place of `name` among the columns. Throws `UserError` where there is none, or one that neither `read` nor, with
/// `lists`, `read_lists` reads.
std::size_t find_stored_column(const std::vector<ColumnSchema>& columns, std::string_view name,
                               bool lists);

}  // namespace hone
