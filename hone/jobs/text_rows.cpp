#include "hone/jobs/text_rows.h"

#include <unistd.h>

#include <charconv>
#include <memory>
#include <unordered_map>

#include "hone/base/line_reader.h"
#include "hone/data/label_sets.h"
#include "hone/data/labelled_file.h"
#include "hone/data/labels.h"
#include "hone/data/named_pictures.h"
#include "hone/data/number_targets.h"
#include "hone/data/raw_data_set.h"
#include "hone/data/row_hash.h"
#include "hone/data/splits.h"
#include "hone/data/synthetic.h"
#include "hone/data/written_list.h"
#include "hone/study/prediction_text.h"
#include "hone/text/text_encoding.h"
#include "hone/text/utf8.h"

namespace hone {
namespace {

// Returns a whole number as a number, but "007" as text.
Json id_of(const Record& record) {
  if (record.id.empty()) return record.number;
  std::int64_t value = 0;
  const char* end = record.id.data() + record.id.size();
  const auto [last, error] = std::from_chars(record.id.data(), end, value);
  const bool whole = error == std::errc() && last == end && std::to_string(value) == record.id;
  return whole ? Json(value) : Json(record.id);
}

// A set of labels can be empty.
std::optional<std::string> gold_of(const Record& record, Task task) {
  if (record.gold.empty() && task != Task::multi_label) return std::nullopt;
  return record.gold;
}

// -1 marks a missing label if all labels are -1, or if the file names its classes, as `datasets` writes it.
void drop_missing_gold(TextRows& data, const std::vector<std::string>& class_names) {
  const auto is_missing = [](const TextRow& row) { return row.gold == "-1"; };
  const bool all = std::ranges::all_of(
      data.rows, [&](const TextRow& row) { return !row.gold || is_missing(row); });
  if (!all && class_names.empty()) return;
  for (TextRow& row : data.rows)
    if (is_missing(row)) row.gold.reset();
}

void note_as_written(TextRows& data, const UserError& error) {
  data.notes.push_back(fmt::format("gold labels are shown as they are written: {}", error.what()));
}

std::string row_place(const TextRow& row) { return fmt::format("row {}", row.id.dump()); }

// Replaces gold labels by the model's names of the classes.
void name_gold_classes(TextRows& data, const KnownClasses& known) {
  LabelTable table;
  std::vector<std::int32_t> numbers;
  try {
    for (const TextRow& row : data.rows)
      numbers.push_back(row.gold ? table.number_of(*row.gold, [&] { return row_place(row); }) : -1);
    if (table.labels().empty()) return;
    table.note_blanks(data.notes);
    const LabelClasses classes = find_classes(table.labels(), known, data.notes);
    for (std::size_t i = 0; i < data.rows.size(); ++i)
      if (numbers[i] >= 0)
        data.rows[i].gold = known.of_model[static_cast<std::size_t>(
            classes.class_of[static_cast<std::size_t>(numbers[i])])];
  } catch (const UserError& error) {
    note_as_written(data, error);
  }
}

// Returns the number with the fewest digits that round-trips to the float.
Json json_number(float value) {
  return parse_decimal(numbers_text({&value, 1})).value_or(static_cast<double>(value));
}

void take_gold(TextRow& row, const LabelScheme& scheme, std::vector<float> targets) {
  const bool numbers = scheme.task == Task::regression;
  row.gold_value = numbers ? Json::object() : Json::array();
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (numbers)
      row.gold_value[scheme.names[i]] = json_number(targets[i]);
    else if (targets[i] != 0)
      row.gold_value.push_back(scheme.names[i]);
  }
  if (numbers && targets.size() == 1) row.gold_value = json_number(targets[0]);
  row.gold = truth_text(scheme, {.text = "", .targets = std::move(targets)});
}

// Reads gold labels that are numbers or sets, from these columns.
void read_gold_targets(TextRows& data, const LabelScheme& scheme,
                       const std::vector<std::string>& columns, const KnownClasses& known) {
  std::vector<RawLabel> raw_labels;
  std::vector<TextRow*> rows;
  // A column of empty cells has no labels.
  if (std::ranges::all_of(data.rows,
                          [](const TextRow& row) { return row.gold.value_or("").empty(); }))
    for (TextRow& row : data.rows) row.gold.reset();
  for (TextRow& row : data.rows) {
    if (!row.gold) continue;
    rows.push_back(&row);
    if (columns.size() == 1)
      raw_labels.push_back({.value = *row.gold});
    else
      raw_labels.push_back({.values = parse_list(*row.gold).value(), .many = true});
  }
  if (rows.empty()) return;
  const LabelPlace place = [&](std::size_t row) { return row_place(*rows[row]); };
  try {
    Targets targets =
        scheme.task == Task::regression
            ? read_numbers(std::move(raw_labels), columns, known, place, data.notes)
            : read_label_sets(std::move(raw_labels), columns, known, place, data.notes);
    for (std::size_t i = 0; i < rows.size(); ++i)
      take_gold(*rows[i], {scheme.task, targets.names}, std::move(targets.rows[i]));
  } catch (const UserError& error) {
    note_as_written(data, error);
  }
}

// Interprets gold labels by the model's scheme.
void read_gold(TextRows& data, const LabelScheme& scheme, const std::vector<std::string>& columns,
               const std::vector<std::string>& class_names, const std::string& label_map) {
  if (scheme.names.empty() || columns.empty()) return;
  const KnownClasses known{class_names, scheme.names, parse_label_map(label_map)};
  if (scheme.task == Task::single_label)
    name_gold_classes(data, known);
  else
    read_gold_targets(data, scheme, columns, known);
}

/// A split of the data, determined by its files or by rows.
struct SelectedSplit {
  std::string name;         ///< "train", "validation", "test" or "all"
  bool is_cut_out = false;  ///< rows of the training split, selected by the model's record

  bool takes(std::string_view other) const {
    return is_cut_out ? other == "train" : name == "all" || name == other;
  }
};

// Returns the name of the split. Data without splits is called "all" here.
std::string name_of(const SelectedSplit& split, const std::string& asked_for) {
  return asked_for.empty() && split.name == "train" ? "all" : split.name;
}

// Finds the split called `name` in data that has these splits.
SelectedSplit find_split(const std::string& name, bool train, bool validation, bool test,
                         const std::string& source) {
  const char* const remedy = is_folder(source)
                                 ? ""
                                 : "; a single file has no splits: leave `split` out to use all of "
                                   "it, or give a folder with train.csv and test.csv";
  user_check(train || validation || test, "{}: there are no texts", source);
  if (name.empty()) return {test ? "test" : validation ? "validation" : "train"};
  if (name == "all") return {name};
  if (name == "train" || name == "validation") {
    const bool is_there = name == "train" ? train : validation;
    user_check(is_there || (train && name == "validation"), "{}: there is no {} split{}", source,
               name, remedy);
    return {name, /*is_cut_out=*/train && !validation};
  }
  user_check(name == "test", "`split`: expected train, validation, test or all, got '{}'", name);
  user_check(test, "{}: there is no {} split{}", source, name, remedy);
  return {name};
}

// Keeps the rows of the training split that belong to `split`.
void keep_split_rows(const SelectedSplit& split, const std::optional<TrainedOn>& record,
                     const std::string& source, TextRows& data) {
  std::vector<std::uint64_t> hashes;
  for (const TextRow& row : data.rows) hashes.push_back(row_hash(row.example()));
  const std::optional<SetAside> aside = rows_set_aside_before(hashes, record, /*takes_new=*/true);
  const bool validation = split.name == "validation";
  user_check(aside || !validation,
             "{}: there is no validation split, and the model is not known to be trained on these "
             "texts; leave `split` out to use all of them",
             source);
  if (!aside) return;
  std::size_t row = 0;
  std::erase_if(data.rows, [&](const TextRow&) { return (aside->rows[row++] != 0) != validation; });
  data.notes.push_back(
      fmt::format("{}: {}{}", split.name, validation ? "" : "all but ", aside->source));
}

std::vector<fs::path> files_of(const DataFiles& files, const SelectedSplit& split) {
  std::vector<fs::path> paths;
  const auto add = [&](std::string_view name, const std::vector<fs::path>& more) {
    if (split.takes(name)) paths.insert(paths.end(), more.begin(), more.end());
  };
  add("train", files.train);
  add("validation", files.validation);
  add("test", files.test);
  return paths;
}

/// The columns of a dataset's files. Text columns are those of the first file; only some of the files need labels and
/// ids.
class ShownColumns {
 public:
  explicit ShownColumns(const DataOptions& options) : options_(options) {}

  ColumnChoice of(const LabelledFile& file, std::vector<std::string>& notes) {
    const std::vector<DataColumn>& columns = file.table.columns;
    if (columns.empty()) return {};
    const bool first = !choice_;
    if (first) {
      notes.insert(notes.end(), file.table.notes.begin(), file.table.notes.end());
      choice_ = choose_shown_columns(columns, options_, notes);
      next_file_options_ = options_for_next_file(options_, file.table.has_header, *choice_);
    } else if (choice_->gold.empty() && choice_->golds.empty()) {
      std::vector<std::string> known;
      const ColumnChoice own = choose_shown_columns(columns, options_, known);
      choice_->gold = own.gold;
      choice_->golds = own.golds;
    }
    ColumnChoice own = *choice_;
    const auto lacks = [&](const std::string& name) {
      return std::ranges::find(columns, name, &DataColumn::name) == columns.end() ||
             (!name.empty() && file.table.is_null && file.table.is_null(name));
    };
    if (lacks(own.id)) own.id.clear();
    if (lacks(own.gold)) own.gold.clear();
    if (std::ranges::any_of(own.golds, lacks)) own.golds.clear();
    if (!own.gold.empty() && class_names_.empty()) class_names_ = file.table.class_names(own.gold);
    found_ = found_ || !own.gold.empty() || !own.golds.empty();
    return own;
  }

  /// Returns the options to read the next file with.
  const DataOptions& options_of_next() const { return choice_ ? next_file_options_ : options_; }

  // Throws if no file has the label column that was named; `last` is one of the files.
  void check_named(const LabelledFile& last) const {
    if (options_.label_column.empty() || found_ || last.table.columns.empty()) return;
    with_context(last.path.string(), [&] {
      find_column(last.table.columns, choice_->gold.empty() ? choice_->golds[0] : choice_->gold);
    });
  }

  std::vector<std::string> labels() const {
    if (!choice_ || !found_) return {};
    return choice_->gold.empty() ? choice_->golds : std::vector<std::string>{choice_->gold};
  }
  const std::vector<std::string>& class_names() const { return class_names_; }

 private:
  const DataOptions& options_;
  std::optional<ColumnChoice> choice_;
  DataOptions next_file_options_;
  std::vector<std::string> class_names_;
  bool found_ = false;
};

TextRows read_files(const DataOptions& options, const std::string& split_name,
                    const LabelScheme& scheme, const std::optional<TrainedOn>& record,
                    ThreadPool& pool) {
  const DataFiles files = find_data_files(options.source, split_name);
  const std::string role = files.requested ? to_string(files.requested->second) : split_name;
  const SelectedSplit split = find_split(role, !files.train.empty(), !files.validation.empty(),
                                         !files.test.empty(), options.source);
  TextRows data{.split = name_of(split, split_name), .notes = files.notes};
  std::int64_t replaced = 0;
  ShownColumns columns(options);
  const std::vector<fs::path> paths = files_of(files, split);
  data.many_files = paths.size() > 1;
  for (const fs::path& path : paths) {
    const LabelledFile file = open_labelled_file(path, columns.options_of_next());
    const ColumnChoice choice =
        with_context(path.string(), [&] { return columns.of(file, data.notes); });
    if (path == paths.back()) columns.check_named(file);
    for (const std::string& warning : file.warnings)
      data.warnings.push_back(fmt::format("{}: {}", path.string(), warning));
    const std::size_t first = data.rows.size();
    for (Record& record : file.read(choice, pool)) {
      const auto where = [&] { return file.place(record.number); };
      if (options.strict) {
        if (record.replaced_bytes > 0) fail("{}: {}", where(), kNotUtf8);
        check_utf8(record.text, where);
        check_utf8(record.text_pair, where);
      }
      replaced += record.replaced_bytes;
      TextRow& row = data.rows.emplace_back();
      row.id = id_of(record);
      row.text = std::move(record.text);
      if (!choice.text_pair.empty()) row.text_pair = std::move(record.text_pair);
      if (!choice.gold.empty() || !choice.golds.empty()) row.gold = gold_of(record, scheme.task);
      if (data.many_files) row.file = path.lexically_normal().string();
    }
    resolve_picture_paths(file.path, std::span(data.rows).subspan(first), pool);
  }
  user_check(!data.rows.empty(), "{}: there are no texts", options.source);
  if (replaced > 0)
    data.warnings.push_back(fmt::format("{}: {}", options.source, not_utf8_warning(replaced)));
  if (split.is_cut_out) keep_split_rows(split, record, options.source, data);
  drop_missing_gold(data, columns.class_names());
  read_gold(data, scheme, columns.labels(), columns.class_names(), options.label_map);
  return data;
}

// Data that is not a table always has labels.
TextRows rows_of(const DataSet& set, const std::string& split_name, const LabelScheme& scheme,
                 const std::string& label_map, const std::optional<TrainedOn>& record) {
  TextRows data{.notes = set.notes, .warnings = set.warnings};
  const SelectedSplit split = find_split(split_name, !set.train.empty(), !set.validation.empty(),
                                         !set.test.empty(), set.source);
  data.split = name_of(split, split_name);
  const auto add = [&](std::string_view name, const std::vector<Example>& examples) {
    if (!split.takes(name)) return;
    for (const Example& example : examples) {
      TextRow& row = data.rows.emplace_back();
      row.id = std::ssize(data.rows);
      row.text = example.text;
      row.text_pair = example.text_pair;
      row.image_hash = example.image_hash;
      row.gold = truth_text(set.scheme(), example);
      if (set.task != Task::single_label) take_gold(row, set.scheme(), example.targets);
    }
  };
  add("train", set.train);
  add("validation", set.validation);
  add("test", set.test);
  if (split.is_cut_out) keep_split_rows(split, record, set.source, data);
  if (set.task == Task::single_label) read_gold(data, scheme, {"label"}, {}, label_map);
  return data;
}

// Sets which optional columns the rows have.
TextRows described(TextRows data) {
  for (const TextRow& row : data.rows) {
    data.pairs = data.pairs || row.text_pair.has_value();
    data.labelled = data.labelled || row.gold.has_value();
  }
  return data;
}

}  // namespace

TextStream read_lines(int descriptor, const std::string& name, const std::string& encoding,
                      bool strict) {
  const auto reader = std::make_shared<LineReader>(descriptor, name);
  TextStream stream;
  stream.next = [reader, name, encoding, strict,
                 number = std::int64_t{0}](std::size_t most) mutable {
    std::vector<TextRow> rows;
    for (std::string& line : reader->next(most)) {
      ++number;
      const auto where = [&] { return fmt::format("{}: line {}", name, number); };
      if (!encoding.empty()) {
        std::int64_t malformed = 0;
        line = to_utf8(line, encoding, malformed);
        user_check(malformed == 0, "{}: the text is not {}; give its encoding with `encoding`",
                   where(), encoding);
      } else if (strict) {
        check_utf8(line, where);
      }
      rows.push_back({.id = number, .text = std::move(line)});
    }
    return rows;
  };
  if (::isatty(descriptor) == 1) stream.notes = {"enter one text per line; Ctrl-D ends the input"};
  return stream;
}

TextRows read_text_rows(const DataOptions& options, const std::string& split,
                        const LabelScheme& scheme, const std::optional<TrainedOn>& record,
                        ThreadPool& pool) {
  DataOptions with_columns = options;
  if (record) with_columns.remembered = record->columns;
  if (!scheme.names.empty()) with_columns.task = scheme.task;
  const bool table = !options.source.starts_with(kSyntheticPrefix) &&
                     !is_review_folder(options.source) && !is_image_folder(options.source) &&
                     !is_image_tensors(options.source);
  return described(
      table ? read_files(with_columns, split, scheme, record, pool)
            : rows_of(load_data_set(options, pool), split, scheme, options.label_map, record));
}

TextRows given_text_rows(std::vector<TextRow> rows) { return described({.rows = std::move(rows)}); }

}  // namespace hone
