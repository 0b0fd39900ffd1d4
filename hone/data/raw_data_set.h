#pragma once

#include "hone/base/file.h"
#include "hone/data/data_files.h"
#include "hone/data/data_set.h"
#include "hone/data/raw_labels.h"

/// Datasets as they are read from files, before labels are interpreted.
namespace hone {

struct RawDataSet {
  DataSet data = {};
  /// Labels of the examples of all splits in order; empty if they were not read.
  std::vector<RawLabel> raw_labels = {};
  std::vector<std::string> columns = {};  ///< columns of the labels
  Task task = Task::single_label;         ///< task of the labels
  /// Messages name the folders of the examples rather than their files.
  bool by_folder = false;
  /// Names that the files assign to the integers 0, 1, …; may be empty.
  std::vector<std::string> class_names = {};
};

/// Returns whether the folder has the layout of aclImdb: `train` or `test` with folders `neg` and `pos`.
bool is_review_folder(const fs::path& folder);

/// Reads `{train,test}/{neg,pos}/*.txt`: one text per file, negative ones first, by file name. Throws `UserError` with
/// the path if there are no reviews, a folder is missing, text is not UTF-8 under `options.strict`, or the task is not
/// classification.
RawDataSet read_review_folder(const fs::path& folder, const DataOptions& options, ThreadPool& pool);

/// Returns whether the folder, or a subfolder named after a split (hone/data/split_names.h), contains folders of images
/// (hone/data/image_file.h).
bool is_image_folder(const fs::path& folder);

/// Reads `{train,validation,test}/CLASS/*.png` (or .jpg, .jpeg), or `CLASS/*.png` as train. The texts of the examples
/// are image paths, sorted by class and name. Notes skipped files. Throws `UserError` with the path if a class has no
/// images, or the task is not classification.
RawDataSet read_image_folder(const fs::path& folder, const DataOptions& options, ThreadPool& pool);

/// Returns whether the name ends in .safetensors.
bool is_image_tensors(const std::string& source);

/// Reads a safetensors file with `images` (images, channels, height, width), u8 or f32, and `labels` (images),
/// integers. The texts of the examples are "PATH#0", "PATH#1", … Throws `UserError` with the path for missing tensors,
/// and if the task is not classification.
RawDataSet read_image_tensors(const fs::path& path, const DataOptions& options);

/// Reads tables (hone/data/data_table.h). The first file determines the columns. A validation or test split whose
/// labels are missing or all -1, as in test splits of the Hugging Face Hub, is left out and noted. Throws `UserError`
/// with path and line or row as `DataTable` does, for no records, and for text that is not UTF-8 under
/// `options.strict`.
RawDataSet read_tables(const DataFiles& files, const DataOptions& options, ThreadPool& pool);

}  // namespace hone
