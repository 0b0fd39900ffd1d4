#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/file.h"
#include "hone/data/column_file.h"

/// Reads columns of Parquet files, flat ones and lists, as the Hugging Face Hub stores them:
///
///     const ParquetFile file("train-00000-of-00001.parquet");
///     const StoredColumn text = file.read("text", pool);
///     std::get<std::vector<std::string>>(text.values)[0];
///
/// The format is Apache's parquet-format 2.10 (README.md, Encodings.md, parquet.thrift). All encodings except the
/// deprecated BIT_PACKED are supported, with both page versions, uncompressed or compressed by snappy, gzip or zstd.
/// Files are untrusted: a column takes no more memory than `kMaxColumnExpansion` allows.
namespace hone {

class ParquetFile : public ColumnFile {
 public:
  /// Maps the file and reads its footer. Throws `UserError` with the path.
  explicit ParquetFile(const fs::path& path);
  /// Reads the footer of a file in memory. `bytes` must outlive the object; messages begin with `where`.
  ParquetFile(std::string_view bytes, std::string where);
  ~ParquetFile() override;
  ParquetFile(ParquetFile&& other) noexcept;
  ParquetFile& operator=(ParquetFile&& other) noexcept;

  std::int64_t rows() const override;
  const std::vector<ColumnSchema>& columns() const override;
  const std::map<std::string, std::string>& metadata() const override;
  bool is_null(std::string_view column) const override;
  /// Decompresses and decodes the pages of a column on all threads.
  StoredColumn read(std::string_view column, ThreadPool& pool) const override;
  StoredLists read_lists(std::string_view column, ThreadPool& pool) const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hone
