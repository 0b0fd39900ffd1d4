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

/// Whether it, or a folder in it that is named after a split (hone/data/split_names.h), has folders of pictures
/// (hone/data/image_file.h).
bool is_image_folder(const fs::path& folder);

/// Reads `{train,validation,test}/CLASS/*.png` (or .jpg, .jpeg), or all of `CLASS/*.png` as train: examples whose texts are the
/// paths of pictures, by class and name. Notes what was no such file. Throws `UserError` with the path: a class without
/// pictures, another task than classes.
WrittenData read_image_folder(const fs::path& folder, const DataOptions& options, ThreadPool& pool);

/// Whether the name ends as a safetensors file's does.
bool is_image_tensors(const std::string& source);

/// Reads a safetensors file with `images` (images, channels, height, width), u8 or f32, and `labels` (images), whole numbers:
/// examples whose texts are "PATH#0", "PATH#1", … Throws `UserError` with the path for what is missing, and for another task
/// than classes.
WrittenData read_image_tensors(const fs::path& path, const DataOptions& options);

/// Reads tables (hone/data/data_table.h). The first file decides on the columns. A validation or test
/// part without labels, or where all are -1 as in the hub's test parts, is left out and noted.
/// Throws `UserError` with path and line or row: see `DataTable`, no records, text that is not UTF-8
/// under `options.strict`.
WrittenData read_tables(const DataFiles& files, const DataOptions& options, ThreadPool& pool);

}  // namespace hone
