#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hone/base/file.h"
#include "hone/data/split_names.h"

/// Which files make the splits of a data set. docs/reference/data.md describes the layouts.
namespace hone {

/// Files of one name.
struct NamedSplit {
  std::string name;                    ///< "validation_matched"
  std::optional<SplitRole> role = {};  ///< that the name says, if it says one
  std::vector<fs::path> files = {};    ///< in order
};

/// The files of each split, in order, all of a split of one kind.
struct DataFiles {
  std::vector<fs::path> train = {}, validation = {}, test = {};
  std::vector<std::string> notes = {};  ///< what was chosen or left out
  std::vector<NamedSplit> named = {};   ///< all there are in a folder
  /// The split that was asked for by its own name, and the one that its files are here.
  std::optional<std::pair<std::string, SplitRole>> asked = {};
};

/// Finds the files that `source` stands for.
///
/// - A file, or a glob (`*`, `?` in the file's name) over files of one split, is `train` whatever it is called.
/// - A folder of `datasets.save_to_disk` has the splits that its dataset_dict.json lists.
/// - `FOLDER?config=NAME` has those of a config of the folder's dataset card.
/// - In any other folder files are sorted by the names that Hugging Face `datasets` knows (hone/data/split_names.h):
///   `data/NAME-00000-of-00001.*` are splits called NAME; else the names of folders decide, else those of files; and files
///   without such names are all `train`.
///
/// `split` may be train, validation, test, all or empty, which change nothing, or the own name of a split in
/// the folder, which is then the only one of its role (test, where the name says none).
///
/// Throws `UserError`: nothing there, no split or config of that name, two kinds of files for one split, a shard missing.
DataFiles find_data_files(const std::string& source, const std::string& split = "");

/// Whether `split` is train, validation, test, all or empty, not a name that files have.
bool is_role_or_all(const std::string& split);

}  // namespace hone
