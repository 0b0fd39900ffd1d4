#pragma once

#include <memory>

#include "hone/base/file.h"
#include "hone/data/data_table.h"

/// Files of labelled texts, opened by what their names end in.
namespace hone {

/// Endings of the names of such files: ".csv", ".jsonl.gz", ….
const std::vector<std::string>& labelled_file_endings();

/// Endings of files of texts alone, a line each: ".txt", ".txt.gz". They are read where somebody names them; in a folder
/// of data they are not looked for, for a readme is one too.
const std::vector<std::string>& text_file_endings();

/// The ending among all of these that the name has; "" if none.
std::string text_file_ending(const fs::path& path);

/// The ending among `labelled_file_endings` that the name has; "" if none.
std::string labelled_file_ending(const fs::path& path);

/// An opened file; the table reads from it.
struct LabelledFile {
  fs::path path;
  std::shared_ptr<const MappedFile> mapped;
  std::shared_ptr<const std::string> unpacked;  ///< of a .gz file
  DataTable table;

  /// "reviews.csv: line 7"
  std::string place(std::int64_t number) const;
  /// The table's records, with the path in front of errors.
  std::vector<Record> read(const ColumnChoice& choice, ThreadPool& pool) const;
};

/// Throws `UserError` with the path: another ending, a file that cannot be read or unpacked, text in
/// UTF-16.
LabelledFile open_labelled_file(const fs::path& path);

}  // namespace hone
