#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hone/base/file.h"
#include "hone/base/thread_pool.h"

/// Columns of Parquet files, flat ones and lists, the tables of the Hugging Face hub:
///
///     const ParquetFile file("train-00000-of-00001.parquet");
///     const ParquetColumn text = file.read("text", pool);
///     std::get<std::vector<std::string>>(text.values)[0];
///
/// The format is Apache's parquet-format 2.10 (README.md, Encodings.md, parquet.thrift). Read are
/// all of its encodings but the abandoned BIT_PACKED, pages of both versions,
/// open or packed by snappy, gzip or zstd. Nothing in a file is believed: all that a column takes in
/// memory, for the moment or for good, stays below `kMaxColumnExpansion` times the file's size (or
/// 64 MiB, where that is more). Text and labels stay far below; files made to do harm do not.
namespace hone {

inline constexpr std::uint64_t kMaxColumnExpansion = 64;

struct ParquetColumn {
  std::string name;
  /// One value per row. Booleans and all integers are std::int64_t, both widths of floating point are double.
  std::variant<std::vector<std::string>, std::vector<std::int64_t>, std::vector<double>> values;
};

/// Row i has the values from `begins[i]` up to `begins[i + 1]`.
struct ParquetLists {
  ParquetColumn values;
  std::vector<std::size_t> begins;  ///< (rows + 1)
};

/// A column as the file's schema tells of it.
struct ParquetSchemaColumn {
  std::string name;
  std::string type;       ///< for people: "string", "int64", "list<string>", "struct", "timestamp"
  bool readable = false;  ///< else `read` refuses it: nested, or of a type that no model reads
  bool is_list = false;   ///< `read_lists` reads it: lists of values that can be read
};

class ParquetFile {
 public:
  /// Maps the file and reads its footer. Throws `UserError` with the path.
  explicit ParquetFile(const fs::path& path);
  /// Reads the footer of a file in memory. `bytes` must outlive the object; `where` opens the messages.
  ParquetFile(std::string_view bytes, std::string where);
  ~ParquetFile();
  ParquetFile(ParquetFile&& other) noexcept;
  ParquetFile& operator=(ParquetFile&& other) noexcept;

  std::int64_t rows() const;
  /// The columns a table shows, nested ones as one each.
  const std::vector<ParquetSchemaColumn>& columns() const;
  /// Key-value pairs of the footer: "huggingface" holds JSON with the names of classes.
  const std::map<std::string, std::string>& metadata() const;

  /// All rows of a column; its pieces are unpacked by all threads. Throws `UserError` for a column that is not there
  /// or not readable, a null (with its row), a codec we do not have, and anything damaged.
  ParquetColumn read(std::string_view column, ThreadPool& pool) const;
  /// All rows of a column of lists. Throws `UserError` as `read` does, also for a null in a list.
  ParquetLists read_lists(std::string_view column, ThreadPool& pool) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hone
