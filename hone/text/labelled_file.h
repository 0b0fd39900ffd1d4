#pragma once

#include "hone/base/file.h"
#include "hone/text/data_set.h"

/// Data sets in one file: CSV, TSV, or one JSON object per line.
namespace hone {

/// Whether the name ends in .csv, .tsv or .jsonl.
bool is_labelled_file(const fs::path& path);

/// Reads all records of the file into `train`. See `DataOptions` for columns and labels.
DataSet read_labelled_file(const fs::path& path, const DataOptions& options);

}  // namespace hone
