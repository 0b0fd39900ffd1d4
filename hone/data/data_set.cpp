#include "hone/data/data_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "hone/base/error.h"
#include "hone/base/hash.h"
#include "hone/base/text.h"
#include "hone/data/row_hash.h"
#include "hone/data/synthetic.h"
#include "hone/data/written_data.h"

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

std::string hash_of(DataSet& data, const std::function<std::string_view(std::int32_t)>& label) {
  Fingerprint print;
  for (const PartOfData& part : parts_of(data)) {
    print.add(fmt::format("{} {}\n", part.name, part.examples->size()));
    for (const Example& example : *part.examples)
      print.add(fmt::format("{:016x} {}\n", row_hash(example), label(example.label)));
  }
  return print.text();
}

// Labels become classes.
DataSet finish(WrittenData written, const DataOptions& options) {
  DataSet data = std::move(written.data);
  data.hash = hash_of(data, [&](std::int32_t label) -> std::string_view {
    // No ?: between a literal and a string: it makes a copy, which the view would outlive.
    if (written.labels.empty()) return "";
    return written.labels[static_cast<std::size_t>(label)].text;
  });
  if (!written.labels.empty()) {
    LabelClasses classes =
        find_classes(written.labels,
                     {written.class_names, options.label_names, options.class_count}, data.notes);
    for (const PartOfData& part : parts_of(data))
      for (Example& example : *part.examples)
        example.label = classes.class_of[static_cast<std::size_t>(example.label)];
    data.label_names = std::move(classes.names);
    data.label_places.resize(data.label_names.size());
    for (std::size_t i = written.labels.size(); i-- > 0;)
      data.label_places[static_cast<std::size_t>(classes.class_of[i])] = written.labels[i].where;
  }
  data.description = description(options.source, data);
  warn_of_empty_texts(data);
  return data;
}

DataSet load(const DataOptions& options, ThreadPool& pool) {
  const std::string& source = options.source;
  if (source.starts_with(kSyntheticPrefix)) {
    DataSet data = make_synthetic(parse_synthetic(source));
    data.hash = hash_of(data, [&](std::int32_t label) -> std::string_view {
      return data.label_names[static_cast<std::size_t>(label)];
    });
    return data;
  }
  if (is_review_folder(source)) return finish(read_review_folder(source, options, pool), options);
  return finish(read_tables(find_data_files(source), options, pool), options);
}

}  // namespace

std::vector<std::string_view> texts_of(std::span<const Example> examples) {
  std::vector<std::string_view> texts;
  for (const Example& example : examples) {
    texts.emplace_back(example.text);
    if (example.text_pair) texts.emplace_back(*example.text_pair);
  }
  return texts;
}

std::string place_of(const Example& example, const std::vector<ReadFile>& files) {
  if (example.file < 0) return "";
  const ReadFile& file = files[static_cast<std::size_t>(example.file)];
  return file.unit.empty() ? file.path
                           : fmt::format("{}: {} {}", file.path, file.unit, example.row);
}

DataSet load_data_set(const DataOptions& options, ThreadPool& pool) {
  DataSet data = load(options, pool);
  data.source = options.source;
  return data;
}

}  // namespace hone
