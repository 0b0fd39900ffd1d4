#include "hone/text/data_set.h"

#include <fmt/format.h>

#include <algorithm>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/text/synthetic.h"
#include "hone/text/written_data.h"

namespace hone {
namespace {

struct PartOfData {
  const char* name;
  std::vector<Example>* examples;
};

std::vector<PartOfData> parts_of(DataSet& data) {
  std::vector<PartOfData> parts;
  for (const PartOfData& part :
       {PartOfData{"train", &data.train}, PartOfData{"validation", &data.validation},
        PartOfData{"test", &data.test}})
    if (!part.examples->empty()) parts.push_back(part);
  return parts;
}

// "reviews.csv: 40 examples", "aclImdb: 25000 train, 25000 test"
std::string description(const std::string& source, DataSet& data) {
  const std::vector<PartOfData> parts = parts_of(data);
  std::string text;
  for (const PartOfData& part : parts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", part.examples->size(),
                        parts.size() > 1 ? part.name : "examples");
  return fmt::format("{}: {}", source, text);
}

void warn_of_empty_texts(DataSet& data) {
  for (const PartOfData& part : parts_of(data)) {
    const auto count =
        std::count_if(part.examples->begin(), part.examples->end(),
                      [](const Example& example) { return trim(example.text).empty(); });
    if (count > 0)
      data.warnings.push_back(
          fmt::format("{}: {} of {} texts are empty", part.name, count, part.examples->size()));
  }
}

// Labels become classes.
DataSet finish(WrittenData written, const DataOptions& options) {
  DataSet data = std::move(written.data);
  if (!written.labels.empty()) {
    LabelClasses classes =
        find_classes(written.labels,
                     {written.class_names, options.label_names, options.class_count}, data.notes);
    for (const PartOfData& part : parts_of(data))
      for (Example& example : *part.examples)
        example.label = classes.class_of[static_cast<std::size_t>(example.label)];
    data.label_names = std::move(classes.names);
  }
  data.description = description(options.source, data);
  warn_of_empty_texts(data);
  return data;
}

}  // namespace

DataSet load_data_set(const DataOptions& options, ThreadPool& pool) {
  const std::string& source = options.source;
  if (source.starts_with(kSyntheticPrefix)) return make_synthetic(parse_synthetic(source));
  if (is_review_folder(source)) return finish(read_review_folder(source, options, pool), options);
  return finish(read_tables(find_data_files(source), options, pool), options);
}

}  // namespace hone
