#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/data/data_files.h"

/// Finds the splits in a folder of data files.
namespace hone {

struct FolderSplits {
  std::vector<NamedSplit> splits = {};
  /// Splits of one role are merged; their names differ only beside the keyword.
  bool merged = false;
  std::vector<std::string> notes = {};
};

/// Returns the names of paths, at most a dozen of them.
std::string listed_names(const std::vector<fs::path>& paths);

/// Returns the entries of a folder that are not hidden, sorted by name.
std::vector<fs::path> visible_entries(const fs::path& folder);

/// Returns the splits that the folder's card lists (dataset_card.h) in config `config`, or else those that file names
/// imply. Throws `UserError` as `read_dataset_card` and `splits_by_rules` do, and for a listed file that does not
/// exist.
FolderSplits find_folder_splits(const fs::path& folder,
                                const std::optional<std::string>& config = {});

/// Assigns the data files in a folder and its subfolders to splits by their names, see `find_data_files`. Throws
/// `UserError` if there are none.
FolderSplits splits_by_rules(const fs::path& folder);

/// Groups files into splits by file name alone.
FolderSplits splits_by_name(const std::vector<fs::path>& files);

/// Returns the file name without its extension, shard and trailing numbers: "train" for train-00000-of-00002.parquet
/// and train_1.csv.
std::string own_split_name(const fs::path& file);

/// Returns whether `datasets.save_to_disk` wrote the folder.
bool is_saved_dataset(const fs::path& folder);

/// Returns the splits of a folder that `datasets.save_to_disk` wrote. Throws `UserError` with the path for a damaged
/// description.
FolderSplits read_saved_dataset(const fs::path& folder);

}  // namespace hone
