#pragma once

#include <memory>

#include "hone/data/column_file.h"

/// Reads columns of Arrow IPC files, which Hugging Face `datasets` saves and caches:
///
///     const ArrowFile file(bytes);
///     const StoredColumn text = file.read("text", pool);
///
/// Both forms of the format are supported, the stream and the file that begins with "ARROW1", with dictionaries and
/// with buffers compressed by zstd. Columns may be integers, floating point, booleans, strings, lists of these, and
/// dictionaries of them. Files are untrusted: every access is checked, and a column takes no more memory than
/// `kMaxColumnExpansion` allows. The format: Apache Arrow, "Arrow Columnar Format", version 1.5; Message.fbs and
/// Schema.fbs.
namespace hone {

class ArrowFile : public ColumnFile {
 public:
  /// Finds the messages of a file in memory and reads its schema. `bytes` must outlive the object.
  explicit ArrowFile(std::string_view bytes);
  ~ArrowFile() override;

  std::int64_t rows() const override;
  const std::vector<ColumnSchema>& columns() const override;
  const std::map<std::string, std::string>& metadata() const override;
  bool is_null(std::string_view column) const override;
  StoredColumn read(std::string_view column, ThreadPool& pool) const override;
  StoredLists read_lists(std::string_view column, ThreadPool& pool) const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hone
