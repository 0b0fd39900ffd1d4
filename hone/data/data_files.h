#pragma once

#include <string>
#include <vector>

#include "hone/base/file.h"

/// Which files make the parts of a data set.
namespace hone {

/// The files of each part, in order, all of a part of one kind.
struct DataFiles {
  std::vector<fs::path> train = {}, validation = {}, test = {};
  std::vector<std::string> notes = {};  ///< what was left out
};

/// The files that `source` stands for.
///
/// A file, or a glob (`*`, `?` in the file's name) over files of one part, is `train` whatever it is
/// called. Otherwise the part is the name of a file up to the first `-` or `.`: train, validation
/// (also dev, valid, val) or test, as in `train.csv` or `test-00000-of-00002.parquet`. They may lie
/// in the folder, in its folder `data`, or in its only folder that has any. Throws `UserError`:
/// nothing there, two kinds of files for one part, a shard missing, several folders to choose from.
DataFiles find_data_files(const std::string& source);

}  // namespace hone
