#pragma once

#include "hone/base/file.h"
#include "hone/data/answers.h"
#include "hone/data/data_files.h"
#include "hone/data/data_set.h"

/// Data sets as files tell them, before their answers are understood.
namespace hone {

struct WrittenData {
  DataSet data = {};
  /// Of the examples of all parts, one part after the other; empty if they were not looked at.
  std::vector<WrittenAnswer> answers = {};
  std::vector<std::string> columns = {};  ///< that the answers are of
  Task task = Task::single_label;         ///< what the answers are for
  /// The folders of the texts, not their files, are the places of the answers.
  bool by_folder = false;
  /// Names the files give to the integers 0, 1, …; or none.
  std::vector<std::string> class_names = {};
};

/// Whether the folder keeps reviews like aclImdb: a `train` or `test` with folders `neg` and `pos`.
bool is_review_folder(const fs::path& folder);

/// Reads `{train,test}/{neg,pos}/*.txt`: one text per file, negative ones first, by file name.
/// Throws `UserError` with the path: no reviews, a folder that is missing, text that is not UTF-8
/// under `options.strict`, another task than classes.
WrittenData read_review_folder(const fs::path& folder, const DataOptions& options,
                               ThreadPool& pool);

/// Reads tables (hone/data/data_table.h). The first file decides on the columns. A validation or test
/// part without labels, or where all are -1 as in the hub's test parts, is left out and noted.
/// Throws `UserError` with path and line or row: see `DataTable`, no records, text that is not UTF-8
/// under `options.strict`.
WrittenData read_tables(const DataFiles& files, const DataOptions& options, ThreadPool& pool);

}  // namespace hone
