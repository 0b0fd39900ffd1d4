#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/data/labelled_file.h"
#include "hone/data/named_pictures.h"
#include "hone/data/written_data.h"
#include "hone/text/utf8.h"

namespace hone {
namespace {

// A split of the data.
struct Part {
  std::vector<Example> examples;
  std::vector<WrittenAnswer> answers;  // per example; empty if labels are not read
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
  std::optional<Part> read(const std::string& name, const std::vector<fs::path>& files) {
    Part part;
    for (const fs::path& path : files) {
      const bool first = !columns_;
      const LabelledFile file = open_labelled_file(path, first ? options_ : like_the_first_);
      if (first) choose(file);
      if (!first && lacks_label(file)) return left_out(name, "it has no labels");
      append(file, part);
    }
    user_check(!part.examples.empty(), "{}: the file holds no examples", files[0].string());
    const bool unlabelled = are_left_out(part.answers);
    if (unlabelled && read_a_part_) return left_out(name, "all labels are -1");
    if (read_a_part_ && lacks_values(part)) return left_out(name, "all labels are empty");
    user_check(!unlabelled,
               "{}: all labels are -1, which means no label; expected examples with labels",
               files[0].string());
    read_a_part_ = true;
    if (!class_names.empty()) leave_unlabelled_out(name, part);
    return part;
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
    columns.form.no_header = like_the_first_.form.no_header;
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
    like_the_first_ = as_the_first(options_, file.table.has_header, *columns_);
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
  bool lacks_values(const Part& part) const {
    return options_.task != Task::multi_label && !part.answers.empty() &&
           std::ranges::all_of(part.answers, [](const WrittenAnswer& answer) {
             return !answer.many && answer.value.empty();
           });
  }

  std::optional<Part> left_out(const std::string& name, const char* why) {
    notes.push_back(fmt::format("left out: the {} split, because {}", name, why));
    return std::nullopt;
  }

  // Drops examples with label -1, the missing label of `datasets` in files with class names.
  void leave_unlabelled_out(const std::string& name, Part& part) {
    std::size_t kept = 0;
    for (std::size_t row = 0; row < part.answers.size(); ++row) {
      if (part.answers[row].value == "-1") continue;
      if (kept != row) {
        part.answers[kept] = std::move(part.answers[row]);
        part.examples[kept] = std::move(part.examples[row]);
      }
      ++kept;
    }
    if (kept == part.answers.size()) return;
    notes.push_back(fmt::format("left out: {} of {} {} examples, whose label is -1 (no label)",
                                part.answers.size() - kept, part.answers.size(), name));
    part.answers.resize(kept);
    part.examples.resize(kept);
  }

  void append(const LabelledFile& file, Part& part) {
    std::vector<Record> records = file.read(*columns_, pool_);
    const bool pairs = !columns_->text_pair.empty(), labelled = !columns_->labels.empty();
    std::int64_t replaced = 0;
    part.examples.reserve(part.examples.size() + records.size());
    const std::size_t first = part.examples.size();
    const auto number = static_cast<std::int32_t>(files.size());
    files.push_back({file.path.string(), file.table.unit});
    for (Record& row : records) {
      const auto where = [&] { return file.place(row.number); };
      if (options_.strict) check_strictly(row, where);
      replaced += row.replaced_bytes;
      Example example{.text = std::move(row.text), .file = number, .row = row.number};
      if (pairs) example.text_pair = std::move(row.text_pair);
      part.examples.push_back(std::move(example));
      if (labelled) part.answers.push_back(std::move(row.answer));
    }
    take_pictures(file.path, std::span(part.examples).subspan(first), pool_);
    for (const std::string& warning : file.warnings)
      warnings.push_back(fmt::format("{}: {}", file.path.string(), warning));
    if (replaced > 0)
      warnings.push_back(fmt::format("{}: {}", file.path.string(), not_utf8_warning(replaced)));
  }

  const DataOptions& options_;
  ThreadPool& pool_;
  std::optional<ColumnChoice> columns_;  // chosen in the first file
  DataOptions like_the_first_;           // for later files
  bool read_a_part_ = false;
};

}  // namespace

WrittenData read_tables(const DataFiles& files, const DataOptions& options, ThreadPool& pool) {
  Reader reader(options, pool);
  WrittenData written;
  const auto read = [&](const char* name, const std::vector<fs::path>& paths,
                        std::vector<Example>& examples) {
    if (paths.empty()) return;
    std::optional<Part> part = reader.read(name, paths);
    if (!part) return;
    examples = std::move(part->examples);
    std::ranges::move(part->answers, std::back_inserter(written.answers));
  };
  read("train", files.train, written.data.train);
  read("validation", files.validation, written.data.validation);
  read("test", files.test, written.data.test);
  const AnswerPlace place = [&](std::size_t row) {
    for (const auto* examples : {&written.data.train, &written.data.validation}) {
      if (row < examples->size()) return place_of((*examples)[row], reader.files);
      row -= examples->size();
    }
    return place_of(written.data.test[row], reader.files);
  };
  written.task = options.task ? *options.task : find_task(written.answers, place, reader.notes);
  // Reading again with the task reports labels that are invalid for classification.
  if (!options.task && written.task == Task::single_label &&
      std::ranges::any_of(written.answers, &WrittenAnswer::no_class)) {
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
  written.data.asked_split = files.asked;
  written.data.columns = reader.columns();
  written.data.guessed = reader.guessed();
  return written;
}

}  // namespace hone
