#include <algorithm>

#include "hone/base/error.h"
#include "hone/data/raw_data_set.h"
#include "hone/text/text_encoding.h"
#include "hone/text/utf8.h"

namespace hone {
namespace {

constexpr const char* kClasses[] = {"neg", "pos"};

std::vector<fs::path> text_files(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  user_check(!error, "{}: {}; expected the layout of aclImdb, {{train,test}}/{{neg,pos}}/*.txt",
             folder.string(), error.message());
  std::sort(files.begin(), files.end());
  return files;
}

std::string read_text(const fs::path& file, const DataOptions& options) {
  std::string text = read_file(file);
  const std::string& encoding = options.form.encoding;
  if (!encoding.empty()) {
    std::int64_t replaced = 0;
    text = to_utf8(text, encoding, replaced);
    user_check(replaced == 0 || !options.strict, "{}: the text is malformed in the encoding {}",
               file.string(), encoding);
  }
  if (options.strict) check_utf8(text, [&] { return file.string(); });
  return text;
}

void read_texts(const std::vector<fs::path>& files, std::int32_t label, const DataOptions& options,
                ThreadPool& pool, std::vector<Example>& examples, std::vector<ReadFile>& read) {
  constexpr std::int64_t kFilesPerChunk = 64;
  const std::size_t first = examples.size(), first_file = read.size();
  for (const fs::path& file : files) read.push_back({file.string(), ""});
  examples.resize(first + files.size());
  parallel_ranges(pool, static_cast<std::int64_t>(files.size()), kFilesPerChunk,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (auto i = static_cast<std::size_t>(begin);
                         i < static_cast<std::size_t>(end); ++i) {
                      Example& example = examples[first + i];
                      example.label = label;
                      example.text = read_text(files[i], options);
                      example.file = static_cast<std::int32_t>(first_file + i);
                    }
                  });
}

std::vector<Example> read_part(const fs::path& folder, const DataOptions& options, ThreadPool& pool,
                               std::vector<ReadFile>& read) {
  std::vector<Example> examples;
  for (std::int32_t label = 0; label < 2; ++label)
    read_texts(text_files(folder / kClasses[label]), label, options, pool, examples, read);
  user_check(!examples.empty(), "{}: no .txt files in neg and pos", folder.string());
  return examples;
}

}  // namespace

bool is_review_folder(const fs::path& folder) {
  if (!is_folder(folder)) return false;
  for (const char* split_name : {"train", "test"})
    for (const char* name : kClasses)
      if (is_folder(folder / split_name / name)) return true;
  return false;
}

RawDataSet read_review_folder(const fs::path& folder, const DataOptions& options,
                              ThreadPool& pool) {
  user_check(!options.task || options.task == Task::single_label,
             "{}: reviews in folders have the classes neg and pos, and cannot be used for {}; use "
             "a table with such labels, or another `problem_type`",
             folder.string(), to_string(options.task.value_or(Task::single_label)));
  RawDataSet written{.task = Task::single_label, .by_folder = true};
  written.data.train = read_part(folder / "train", options, pool, written.data.files);
  if (path_exists(folder / "test"))
    written.data.test = read_part(folder / "test", options, pool, written.data.files);
  if (path_exists(folder / "train" / "unsup"))
    written.data.notes.push_back("left out: train/unsup, reviews without labels");
  written.class_names = {kClasses[0], kClasses[1]};
  for (const auto* examples : {&written.data.train, &written.data.test})
    for (const Example& example : *examples)
      written.raw_labels.push_back({.value = std::to_string(example.label)});
  return written;
}

}  // namespace hone
