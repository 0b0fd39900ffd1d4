#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/data/data_files.h"

/// The splits in a folder of data files.
namespace hone {

struct FolderSplits {
  std::vector<NamedSplit> splits = {};
  /// Splits of one role are one: their names differ in what comes beside the keyword.
  bool merged = false;
  std::vector<std::string> notes = {};
};

/// Names of paths, at most a dozen of them.
std::string listed_names(const std::vector<fs::path>& paths);

/// The entries of a folder that are not hidden, by name.
std::vector<fs::path> visible_entries(const fs::path& folder);

/// The splits that the card of a folder lists (dataset_card.h), in the config of that name, or else those that the names of its
/// files say. Throws `UserError` as `read_dataset_card` and `splits_by_rules` do, and for a listed file that is not there.
FolderSplits find_folder_splits(const fs::path& folder,
                                const std::optional<std::string>& config = {});

/// Sorts the data files in a folder and the folders below it into splits by their names, see `find_data_files`. Throws
/// `UserError` without data files.
FolderSplits splits_by_rules(const fs::path& folder);

/// The files by what each is called alone.
FolderSplits splits_by_name(const std::vector<fs::path>& files);

/// What a file is called without its ending, its shard and trailing numbers: "train" for train-00000-of-00002.parquet
/// and train_1.csv.
std::string own_split_name(const fs::path& file);

/// Whether `datasets.save_to_disk` wrote the folder.
bool is_saved_dataset(const fs::path& folder);

/// The splits of a folder that `datasets.save_to_disk` wrote. Throws `UserError` with the path for a damaged description.
FolderSplits read_saved_dataset(const fs::path& folder);

}  // namespace hone
