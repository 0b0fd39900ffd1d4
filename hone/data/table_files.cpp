#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/data/labelled_file.h"
#include "hone/data/named_pictures.h"
#include "hone/data/raw_data_set.h"
#include "hone/text/utf8.h"

namespace hone {
namespace {

// A split of the data.
struct ReadSplit {
  std::vector<Example> examples;
  std::vector<RawLabel> raw_labels;  // per example; empty if labels are not read
};

template <typename Where>
void check_strictly(const Record& row, const Where& where) {
  if (row.replaced_bytes > 0) fail("{}: {}", where(), kNotUtf8);
  check_utf8(row.text, where);
  check_utf8(row.text_pair, where);
}

class Reader {
 public:
  Reader(const DataOptions& options, ThreadPool& pool) : options_(options), pool_(pool) {}

  // Reads a split. Returns nothing if it has no labels and is not the first one.
  std::optional<ReadSplit> read(const std::string& name, const std::vector<fs::path>& files) {
    ReadSplit split;
    for (const fs::path& path : files) {
      const bool first = !columns_;
      const LabelledFile file = open_labelled_file(path, first ? options_ : next_file_options_);
      if (first) choose(file);
      if (!first && lacks_label(file)) return left_out(name, "it has no labels");
      append(file, split);
    }
    user_check(!split.examples.empty(), "{}: the file holds no examples", files[0].string());
    const bool unlabelled = all_labels_hidden(split.raw_labels);
    if (unlabelled && read_a_split_) return left_out(name, "all labels are -1");
    if (read_a_split_ && lacks_values(split)) return left_out(name, "all labels are empty");
    user_check(!unlabelled,
               "{}: all labels are -1, which means no label; expected examples with labels",
               files[0].string());
    read_a_split_ = true;
    if (!class_names.empty()) remove_unlabelled(name, split);
    return split;
  }

  std::vector<std::string> notes, warnings;
  std::vector<std::string> class_names;
  std::vector<ReadFile> files;
  const std::vector<std::string>& label_columns() const { return columns_->labels; }
  // Returns the columns that were read, and the form of the table.
  NamedColumns columns() const {
    NamedColumns columns{.text = columns_->text,
                         .text_pair = columns_->text_pair,
                         .label = fmt::format("{}", fmt::join(columns_->labels, ",")),
                         .form = options_.form};
    const TableForm& known = options_.remembered.form;
    for (const auto member : {&TableForm::encoding, &TableForm::quoting, &TableForm::json_field})
      if ((columns.form.*member).empty()) columns.form.*member = known.*member;
    columns.form.no_header = next_file_options_.form.no_header;
    return columns;
  }

  const std::string& guessed() const { return columns_->guessed; }

 private:
  void choose(const LabelledFile& file) {
    notes.insert(notes.end(), file.table.notes.begin(), file.table.notes.end());
    with_context(file.path.string(), [&] {
      // A file without records and header has no columns; its reader reports that.
      columns_ = file.table.columns.empty() ? ColumnChoice{}
                                            : choose_columns(file.table.columns, options_, notes);
    });
    next_file_options_ = options_for_next_file(options_, file.table.has_header, *columns_);
    if (columns_->labels.size() == 1) class_names = file.table.class_names(columns_->labels[0]);
  }

  bool lacks_label(const LabelledFile& file) const {
    const auto& columns = file.table.columns;
    const auto has_values = [&](const DataColumn& column) {
      return std::ranges::find(columns_->labels, column.name) != columns_->labels.end() &&
             !(file.table.is_null && file.table.is_null(column.name));
    };
    return !columns_->labels.empty() && !columns.empty() &&
           std::none_of(columns.begin(), columns.end(), has_values);
  }

  // Returns whether all labels are missing; an empty set of labels is valid.
  bool lacks_values(const ReadSplit& split) const {
    return options_.task != Task::multi_label && !split.raw_labels.empty() &&
           std::ranges::all_of(split.raw_labels, [](const RawLabel& raw_label) {
             return !raw_label.many && raw_label.value.empty();
           });
  }

  std::optional<ReadSplit> left_out(const std::string& name, const char* why) {
    notes.push_back(fmt::format("left out: the {} split, because {}", name, why));
    return std::nullopt;
  }

  // Drops examples with label -1, the missing label of `datasets` in files with class names.
  void remove_unlabelled(const std::string& name, ReadSplit& split) {
    std::size_t kept = 0;
    for (std::size_t row = 0; row < split.raw_labels.size(); ++row) {
      if (split.raw_labels[row].value == "-1") continue;
      if (kept != row) {
        split.raw_labels[kept] = std::move(split.raw_labels[row]);
        split.examples[kept] = std::move(split.examples[row]);
      }
      ++kept;
    }
    if (kept == split.raw_labels.size()) return;
    notes.push_back(fmt::format("left out: {} of {} {} examples, whose label is -1 (no label)",
                                split.raw_labels.size() - kept, split.raw_labels.size(), name));
    split.raw_labels.resize(kept);
    split.examples.resize(kept);
  }

  void append(const LabelledFile& file, ReadSplit& split) {
    std::vector<Record> records = file.read(*columns_, pool_);
    const bool pairs = !columns_->text_pair.empty(), labelled = !columns_->labels.empty();
    std::int64_t replaced = 0;
    split.examples.reserve(split.examples.size() + records.size());
    const std::size_t first = split.examples.size();
    const auto number = static_cast<std::int32_t>(files.size());
    files.push_back({file.path.string(), file.table.unit});
    for (Record& row : records) {
      const auto where = [&] { return file.place(row.number); };
      if (options_.strict) check_strictly(row, where);
      replaced += row.replaced_bytes;
      Example example{.text = std::move(row.text), .file = number, .row = row.number};
      if (pairs) example.text_pair = std::move(row.text_pair);
      split.examples.push_back(std::move(example));
      if (labelled) split.raw_labels.push_back(std::move(row.raw_label));
    }
    resolve_picture_paths(file.path, std::span(split.examples).subspan(first), pool_);
    for (const std::string& warning : file.warnings)
      warnings.push_back(fmt::format("{}: {}", file.path.string(), warning));
    if (replaced > 0)
      warnings.push_back(fmt::format("{}: {}", file.path.string(), not_utf8_warning(replaced)));
  }

  const DataOptions& options_;
  ThreadPool& pool_;
  std::optional<ColumnChoice> columns_;  // chosen in the first file
  DataOptions next_file_options_;        // for later files
  bool read_a_split_ = false;
};

}  // namespace

RawDataSet read_tables(const DataFiles& files, const DataOptions& options, ThreadPool& pool) {
  Reader reader(options, pool);
  RawDataSet written;
  const auto read = [&](const char* name, const std::vector<fs::path>& paths,
                        std::vector<Example>& examples) {
    if (paths.empty()) return;
    std::optional<ReadSplit> split = reader.read(name, paths);
    if (!split) return;
    examples = std::move(split->examples);
    std::ranges::move(split->raw_labels, std::back_inserter(written.raw_labels));
  };
  read("train", files.train, written.data.train);
  read("validation", files.validation, written.data.validation);
  read("test", files.test, written.data.test);
  const LabelPlace place = [&](std::size_t row) {
    for (const auto* examples : {&written.data.train, &written.data.validation}) {
      if (row < examples->size()) return place_of((*examples)[row], reader.files);
      row -= examples->size();
    }
    return place_of(written.data.test[row], reader.files);
  };
  written.task = options.task ? *options.task : find_task(written.raw_labels, place, reader.notes);
  // Reading again with the task reports labels that are invalid for classification.
  if (!options.task && written.task == Task::single_label &&
      std::ranges::any_of(written.raw_labels, &RawLabel::no_class)) {
    DataOptions classes = options;
    classes.task = Task::single_label;
    return read_tables(files, classes, pool);
  }
  written.columns = reader.label_columns();
  written.class_names = reader.class_names;
  written.data.notes = files.notes;
  written.data.notes.insert(written.data.notes.end(), reader.notes.begin(), reader.notes.end());
  written.data.warnings = reader.warnings;
  written.data.files = reader.files;
  written.data.requested_split = files.requested;
  written.data.columns = reader.columns();
  written.data.guessed = reader.guessed();
  return written;
}

}  // namespace hone
