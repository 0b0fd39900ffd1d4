#include <algorithm>

#include "hone/base/error.h"
#include "hone/data/image_file.h"
#include "hone/data/named_pictures.h"
#include "hone/data/raw_data_set.h"

namespace hone {
namespace {

// Returns the entries that are not hidden, sorted by name: only folders, or only other entries.
std::vector<fs::path> visible(const fs::path& folder, bool folders) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (!entry.path().filename().string().starts_with('.') && entry.is_directory() == folders)
      paths.push_back(entry.path());
  user_check(!error, "{}: {}", folder.string(), error.message());
  std::ranges::sort(paths);
  return paths;
}

bool has_pictures(const fs::path& folder) {
  return std::ranges::any_of(visible(folder, /*folders=*/false),
                             [](const fs::path& path) { return is_picture_name(path.string()); });
}

bool has_classes(const fs::path& folder) {
  return is_folder(folder) && std::ranges::any_of(visible(folder, /*folders=*/true), has_pictures);
}

/// A split with one folder per class.
struct ImageSplit {
  fs::path folder;
  SplitRole role;
};

std::vector<ImageSplit> splits_in(const fs::path& folder) {
  std::vector<ImageSplit> splits;
  if (!is_folder(folder)) return splits;
  for (const fs::path& entry : visible(folder, /*folders=*/true)) {
    const std::vector<SplitRole> roles = roles_in(entry.filename().string());
    if (roles.size() == 1) splits.push_back({entry, roles[0]});
  }
  const auto is_used = [](const ImageSplit& split) { return has_classes(split.folder); };
  return std::ranges::any_of(splits, is_used) ? splits : std::vector<ImageSplit>();
}

std::vector<Example>& examples_of_role(DataSet& data, SplitRole role) {
  if (role == SplitRole::train) return data.train;
  return role == SplitRole::validation ? data.validation : data.test;
}

// Appends the examples of a split; returns the number of files left out.
std::size_t read_classes(const fs::path& folder, RawDataSet& written,
                         std::vector<Example>& examples) {
  std::size_t left_out = 0;
  for (const fs::path& of_class : visible(folder, /*folders=*/true)) {
    std::vector<fs::path> pictures = visible(of_class, /*folders=*/false);
    left_out += std::erase_if(pictures,
                              [](const fs::path& path) { return !is_picture_name(path.string()); });
    user_check(!pictures.empty(),
               "{}: no PNG or JPEG in it; each folder is a class: put its pictures there, or "
               "remove it",
               of_class.string());
    for (const fs::path& picture : pictures) {
      examples.push_back(
          {.text = picture.string(), .file = static_cast<std::int32_t>(written.data.files.size())});
      written.data.files.push_back({picture.string(), ""});
      written.raw_labels.push_back({.value = of_class.filename().string()});
    }
  }
  return left_out;
}

}  // namespace

bool is_image_folder(const fs::path& folder) {
  return has_classes(folder) || !splits_in(folder).empty();
}

RawDataSet read_image_folder(const fs::path& folder, const DataOptions& options, ThreadPool& pool) {
  user_check(!options.task || options.task == Task::single_label,
             "{}: images in class folders cannot be used for {}; use a table that lists them with "
             "such labels, or another `problem_type`",
             folder.string(), to_string(options.task.value_or(Task::single_label)));
  RawDataSet written{.task = Task::single_label, .by_folder = true};
  std::size_t left_out = 0;
  std::vector<ImageSplit> splits = splits_in(folder);
  if (splits.empty()) splits = {{folder, SplitRole::train}};
  // Labels are stored in the order train, validation, test.
  std::ranges::stable_sort(splits, {}, &ImageSplit::role);
  for (const ImageSplit& split : splits)
    left_out += read_classes(split.folder, written, examples_of_role(written.data, split.role));
  if (left_out > 0)
    written.data.notes.push_back(fmt::format(
        "{}: {} files that are no .png, .jpg or .jpeg were left out", folder.string(), left_out));
  for (std::vector<Example>* split_examples :
       {&written.data.train, &written.data.validation, &written.data.test})
    hash_pictures(std::span(*split_examples), pool);
  return written;
}

}  // namespace hone
