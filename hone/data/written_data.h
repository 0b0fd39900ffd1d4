#pragma once

#include "hone/base/file.h"
#include "hone/data/data_files.h"
#include "hone/data/data_set.h"
#include "hone/data/labels.h"

/// Data sets as files tell them, before their labels have become classes.
namespace hone {

struct WrittenData {
  DataSet data = {};                      ///< `Example::label` is an index of `labels`
  std::vector<WrittenLabel> labels = {};  ///< empty if they were not looked at
  std::vector<std::string> class_names =
      {};  ///< names the files give to the integers 0, 1, …; or none
};

/// Whether the folder keeps reviews like aclImdb: a `train` or `test` with folders `neg` and `pos`.
bool is_review_folder(const fs::path& folder);

/// Reads `{train,test}/{neg,pos}/*.txt`: one text per file, negative ones first, by file name.
/// Throws `UserError` with the path: no reviews, a folder that is missing, text that is not UTF-8
/// under `options.strict`.
WrittenData read_review_folder(const fs::path& folder, const DataOptions& options,
                               ThreadPool& pool);

/// Reads tables (hone/data/data_table.h). The first file decides on the columns. A validation or test
/// part without labels, or where all are -1 as in the hub's test parts, is left out and noted.
/// Throws `UserError` with path and line or row: see `DataTable`, no records, text that is not UTF-8
/// under `options.strict`.
WrittenData read_tables(const DataFiles& files, const DataOptions& options, ThreadPool& pool);

}  // namespace hone
