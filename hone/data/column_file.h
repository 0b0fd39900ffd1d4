#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hone/base/thread_pool.h"

/// Files that store tables by columns: Parquet and Arrow.
namespace hone {

/// A column takes at most this many times the file's size in memory, temporary memory included (or 64 MiB, if that is
/// more). Ordinary text and labels stay far below; malicious files do not.
inline constexpr std::uint64_t kMaxColumnExpansion = 64;
inline constexpr std::uint64_t kFreeColumnBytes = std::uint64_t{64} << 20;

/// One value per row. Booleans and all integers are stored as std::int64_t, all floating point as double.
using ColumnValues =
    std::variant<std::vector<std::string>, std::vector<std::int64_t>, std::vector<double>>;

/// Appends `more`, which must contain the same type.
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
  bool readable = false;  ///< false: `read` rejects it, as nested or of an unsupported type
  bool is_list = false;   ///< lists of readable values, for `read_lists`
};

class ColumnFile {
 public:
  ColumnFile() = default;
  ColumnFile(ColumnFile&&) = default;
  ColumnFile& operator=(ColumnFile&&) = default;
  virtual ~ColumnFile() = default;

  virtual std::int64_t rows() const = 0;
  /// Returns the top-level columns.
  virtual const std::vector<ColumnSchema>& columns() const = 0;
  /// Returns the key-value metadata; "huggingface" contains JSON with the class names.
  virtual const std::map<std::string, std::string>& metadata() const = 0;

  /// Returns whether there are rows and the column is null in all of them.
  virtual bool is_null(std::string_view column) const = 0;
  /// Reads all rows of a column. Throws `UserError` for a missing or unreadable column, a null (with its row), an
  /// unsupported codec, and damage.
  virtual StoredColumn read(std::string_view column, ThreadPool& pool) const = 0;
  /// Reads all rows of a column of lists. Throws `UserError` as `read` does, also for a null in a list.
  virtual StoredLists read_lists(std::string_view column, ThreadPool& pool) const = 0;
};

/// Returns the index of column `name`. Throws `UserError` if it does not exist, or is not readable: by `read`, or with
/// `lists`, by `read_lists`.
std::size_t find_stored_column(const std::vector<ColumnSchema>& columns, std::string_view name,
                               bool lists);

}  // namespace hone
