#include "hone/data/data_set.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>

#include "hone/base/error.h"
#include "hone/base/hash.h"
#include "hone/base/json.h"
#include "hone/base/text.h"
#include "hone/data/label_sets.h"
#include "hone/data/labels.h"
#include "hone/data/number_targets.h"
#include "hone/data/raw_data_set.h"
#include "hone/data/row_hash.h"
#include "hone/data/synthetic.h"

namespace hone {
namespace {

struct SplitOfData {
  const char* name;
  std::vector<Example>* examples;
};

std::vector<SplitOfData> splits_of(DataSet& data) {
  std::vector<SplitOfData> splits;
  for (const SplitOfData& of_split :
       {SplitOfData{"train", &data.train}, SplitOfData{"validation", &data.validation},
        SplitOfData{"test", &data.test}})
    if (!of_split.examples->empty()) splits.push_back(of_split);
  return splits;
}

// Returns "reviews.csv: 40 examples" or "aclImdb: 25000 train, 25000 test".
std::string description(const std::string& source, DataSet& data) {
  const std::vector<SplitOfData> splits = splits_of(data);
  std::string text;
  for (const SplitOfData& of_split : splits)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", of_split.examples->size(),
                        splits.size() > 1 ? of_split.name : "examples");
  return fmt::format("{}: {}", source, text);
}

void warn_of_empty_texts(DataSet& data) {
  const std::vector<SplitOfData> splits = splits_of(data);
  for (const SplitOfData& of_split : splits) {
    const auto count =
        std::count_if(of_split.examples->begin(), of_split.examples->end(),
                      [](const Example& example) { return trim(example.text).empty(); });
    if (count > 0)
      data.warnings.push_back(fmt::format(
          "{}{} of {} texts {} empty", splits.size() > 1 ? fmt::format("{}: ", of_split.name) : "",
          grouped(count), grouped(std::ssize(*of_split.examples)), count == 1 ? "is" : "are"));
  }
}

// `answer` returns the label's text by row number, counted through all splits.
std::string hash_of(DataSet& data, const std::function<std::string(std::size_t)>& answer) {
  Fingerprint print;
  std::size_t row = 0;
  for (const SplitOfData& of_split : splits_of(data)) {
    print.add(fmt::format("{} {}\n", of_split.name, of_split.examples->size()));
    for (const Example& example : *of_split.examples)
      print.add(fmt::format("{:016x} {}\n", row_hash(example), answer(row++)));
  }
  return print.text();
}

// Returns the examples of all splits in order.
std::vector<Example*> examples_of(DataSet& data) {
  std::vector<Example*> examples;
  for (const SplitOfData& of_split : splits_of(data))
    for (Example& example : *of_split.examples) examples.push_back(&example);
  return examples;
}

// Reports several empty labels at once; `LabelTable` reports a single one.
void check_labels_are_there(const RawDataSet& written, const LabelPlace& place) {
  constexpr std::size_t kNamed = 4;
  std::vector<std::string> places;
  std::size_t empty = 0;
  for (std::size_t row = 0; row < written.raw_labels.size(); ++row)
    if (trim(written.raw_labels[row].value).empty() && ++empty <= kNamed)
      places.push_back(place(row));
  if (empty < 2) return;
  fail(
      "{}: the label is empty, as in {} of {} rows: also {}{}; give these rows a label or leave "
      "them out, as they can be neither learned from nor measured",
      places.front(), grouped(static_cast<long long>(empty)),
      grouped(std::ssize(written.raw_labels)), fmt::join(places.begin() + 1, places.end(), ", "),
      empty > kNamed ? fmt::format(" and {} more", empty - kNamed) : "");
}

// Each split has its own `LabelTable`, so label numbers are offset by those of earlier splits.
void set_labels(DataSet& data, const RawDataSet& written, const KnownClasses& known,
                const LabelPlace& place) {
  check_labels_are_there(written, place);
  std::vector<DistinctLabel> labels;
  std::size_t row = 0;
  for (const SplitOfData& of_split : splits_of(data)) {
    LabelTable table;
    for (Example& example : *of_split.examples) {
      example.label = static_cast<std::int32_t>(labels.size()) +
                      table.number_of(written.raw_labels[row].value, [&] { return place(row); });
      ++row;
    }
    labels.insert(labels.end(), table.labels().begin(), table.labels().end());
    table.note_blanks(data.notes);
  }
  LabelClasses classes = find_classes(labels, known, data.notes);
  for (Example* example : examples_of(data))
    example->label = classes.class_of[static_cast<std::size_t>(example->label)];
  data.label_names = std::move(classes.names);
  data.label_places.resize(data.label_names.size());
  for (std::size_t i = labels.size(); i-- > 0;)
    data.label_places[static_cast<std::size_t>(classes.class_of[i])] = labels[i].where;
}

// Sets the numbers, or the presence of labels.
void set_targets(DataSet& data, Targets targets, const LabelPlace& place) {
  const std::vector<Example*> examples = examples_of(data);
  for (std::size_t row = 0; row < examples.size(); ++row)
    examples[row]->targets = std::move(targets.rows[row]);
  data.label_names = std::move(targets.names);
  if (data.task != Task::multi_label) return;
  data.label_places.resize(data.label_names.size());
  for (std::size_t row = 0; row < examples.size(); ++row)
    for (std::size_t i = 0; i < data.label_places.size(); ++i)
      if (examples[row]->targets[i] != 0 && data.label_places[i].empty())
        data.label_places[i] = place(row);
}

// Converts written labels to classes, numbers or sets of labels.
DataSet finish(RawDataSet written, const DataOptions& options) {
  DataSet data = std::move(written.data);
  const std::vector<Example*> examples = examples_of(data);
  const KnownClasses known{written.class_names, options.label_names,
                           parse_label_map(options.label_map)};
  const LabelPlace place = [&](std::size_t row) {
    const std::string where = place_of(*examples[row], data.files);
    return written.by_folder ? fs::path(where).parent_path().string() : where;
  };
  if (written.raw_labels.empty()) {
    data.hash = hash_of(data, [](std::size_t) { return ""; });
  } else if (written.task == Task::single_label) {
    set_labels(data, written, known, place);
    data.hash = hash_of(data, [&](std::size_t row) {
      return LabelTable::canonical(written.raw_labels[row].value);
    });
  } else {
    data.task = written.task;
    Targets targets =
        data.task == Task::regression
            ? read_numbers(std::move(written.raw_labels), written.columns, known, place, data.notes)
            : read_label_sets(std::move(written.raw_labels), written.columns, known, place,
                              data.notes);
    data.hash = hash_of(data, [&](std::size_t row) { return targets.written[row]; });
    set_targets(data, std::move(targets), place);
  }
  data.description = description(options.source, data);
  warn_of_empty_texts(data);
  return data;
}

// Matches the generator's class names with those of the model, which may differ.
void match_made_classes(DataSet& data, const DataOptions& options) {
  std::vector<DistinctLabel> labels;
  for (std::size_t i = 0; i < data.label_names.size(); ++i)
    labels.push_back({std::to_string(i), options.source});
  const KnownClasses known{data.label_names, options.label_names,
                           parse_label_map(options.label_map)};
  LabelClasses classes = find_classes(labels, known, data.notes);
  for (Example* example : examples_of(data))
    example->label = classes.class_of[static_cast<std::size_t>(example->label)];
  data.label_names = std::move(classes.names);
}

DataSet make(const DataOptions& options) {
  DataSet data = make_synthetic(parse_synthetic(options.source));
  user_check(!options.task || options.task == data.task,
             "data '{}': its labels are for {}, but the task is {}; use other data, or another "
             "`problem_type`",
             options.source, to_string(data.task), to_string(options.task.value_or(data.task)));
  const std::vector<Example*> examples = examples_of(data);
  data.hash =
      hash_of(data, [&](std::size_t row) { return label_text(*examples[row], data.scheme()); });
  if (data.task == Task::single_label) match_made_classes(data, options);
  return data;
}

DataSet load(const DataOptions& options, ThreadPool& pool) {
  const std::string& source = options.source;
  if (source.starts_with(kSyntheticPrefix)) return make(options);
  if (is_review_folder(source)) return finish(read_review_folder(source, options, pool), options);
  if (is_image_folder(source)) return finish(read_image_folder(source, options, pool), options);
  if (is_image_tensors(source)) return finish(read_image_tensors(source, options), options);
  return finish(read_tables(find_data_files(source, options.split), options, pool), options);
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

std::string label_text(const Example& example, const LabelScheme& scheme) {
  if (scheme.task == Task::regression) return numbers_text(example.targets);
  if (scheme.task == Task::single_label) {
    const auto label = static_cast<std::size_t>(example.label);
    return label < scheme.names.size() ? scheme.names[label] : std::to_string(label);
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < std::min(example.targets.size(), scheme.names.size()); ++i)
    if (example.targets[i] != 0) names.insert(scheme.names[i]);
  return to_line(Json(names));
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
