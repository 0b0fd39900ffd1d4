#include "hone/text/data_set.h"

#include <fmt/format.h>

#include <algorithm>

#include "hone/base/error.h"
#include "hone/base/file.h"
#include "hone/text/labelled_file.h"
#include "hone/text/synthetic.h"

namespace hone {
namespace {

void read_reviews(const fs::path& folder, std::int32_t label, std::vector<Example>& examples) {
  user_check(fs::is_directory(folder),
             "{}: no such folder; expected the layout of aclImdb, "
             "{{train,test}}/{{neg,pos}}/*.txt",
             folder.string());
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) examples.push_back({read_file(file), label});
}

DataSet read_review_folder(const fs::path& folder) {
  DataSet data;
  data.label_names = {"neg", "pos"};
  for (std::int32_t label = 0; label < 2; ++label) {
    const std::string& name = data.label_names[static_cast<std::size_t>(label)];
    read_reviews(folder / "train" / name, label, data.train);
    if (fs::exists(folder / "test")) read_reviews(folder / "test" / name, label, data.test);
  }
  user_check(!data.train.empty(), "{}: no .txt files in train/neg and train/pos", folder.string());
  data.description =
      fmt::format("{}: {} train, {} test", folder.string(), data.train.size(), data.test.size());
  return data;
}

}  // namespace

DataSet load_data_set(const DataOptions& options) {
  const std::string& source = options.source;
  if (source.starts_with(kSyntheticPrefix)) return make_synthetic(parse_synthetic(source));
  user_check(fs::exists(source),
             "data '{}': no such file or folder; expected a folder like aclImdb, a .csv, .tsv or "
             ".jsonl file, or synth:NAME",
             source);
  if (fs::is_directory(source)) return read_review_folder(source);
  user_check(is_labelled_file(source), "data '{}': expected a .csv, .tsv or .jsonl file", source);
  return read_labelled_file(source, options);
}

}  // namespace hone
