#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hone/base/file.h"
#include "hone/data/split_names.h"

/// Finds the files of a dataset's splits. docs/reference/data.md describes the layouts.
namespace hone {

/// The files of a named split.
struct NamedSplit {
  std::string name;                    ///< "validation_matched"
  std::optional<SplitRole> role = {};  ///< if the name implies one
  std::vector<fs::path> files = {};    ///< in order
};

/// The files of each split, in order. All files of a split have the same type.
struct DataFiles {
  std::vector<fs::path> train = {}, validation = {}, test = {};
  std::vector<std::string> notes = {};  ///< choices made and files left out
  std::vector<NamedSplit> named = {};   ///< all splits of a folder
  /// The split that was requested by its own name, and the role that it takes here.
  std::optional<std::pair<std::string, SplitRole>> requested = {};
};

/// Finds the files of `source`.
///
/// - A file, or a glob (`*`, `?` in the file's name) over files of one split, is `train` regardless of its name.
/// - A folder written by `datasets.save_to_disk` has the splits that its dataset_dict.json lists.
/// - `FOLDER?config=NAME` has the splits of a config in the folder's dataset card.
/// - In any other folder, files are assigned to splits by the names that Hugging Face `datasets` uses
///   (hone/data/split_names.h). `data/NAME-00000-of-00001.*` are splits called NAME. Otherwise folder names decide,
///   then file names; files without such names are all `train`.
///
/// `split` may be train, validation, test, all or empty, which change nothing. It may also be the own name of a split
/// in the folder, which is then the only split of its role (test, if the name implies none).
///
/// Throws `UserError` if nothing is found, no split or config has that name, a split has files of two types, or a shard
/// is missing.
DataFiles find_data_files(const std::string& source, const std::string& split = "");

/// Returns whether `split` is train, validation, test, all or empty, rather than the own name of a split.
bool is_role_or_all(const std::string& split);

}  // namespace hone
