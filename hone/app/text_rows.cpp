#include "hone/app/text_rows.h"

#include <charconv>
#include <unordered_map>

#include "hone/app/data.h"
#include "hone/text/labelled_file.h"
#include "hone/text/labels.h"
#include "hone/text/synthetic.h"
#include "hone/text/utf8.h"
#include "hone/text/written_data.h"

namespace hone {
namespace {

// A whole number as such, "007" as text.
Json id_of(const Record& record) {
  if (record.id.empty()) return record.number;
  std::int64_t value = 0;
  const char* end = record.id.data() + record.id.size();
  const auto [last, error] = std::from_chars(record.id.data(), end, value);
  const bool whole = error == std::errc() && last == end && std::to_string(value) == record.id;
  return whole ? Json(value) : Json(record.id);
}

// Of a part without labels the hub's files say -1.
std::optional<std::string> gold_of(const Record& record) {
  if (record.gold.empty() || record.gold == "-1") return std::nullopt;
  return record.gold;
}

// Gold labels by the names the model has for them.
void name_gold_labels(TextRows& data, const std::vector<std::string>& labels,
                      const std::vector<std::string>& class_names) {
  LabelTable table;
  std::vector<std::int32_t> numbers;
  try {
    for (const TextRow& row : data.rows)
      numbers.push_back(
          row.gold
              ? table.number_of(*row.gold, [&] { return fmt::format("row {}", row.id.dump()); })
              : -1);
    if (table.labels().empty()) return;
    const LabelClasses classes = find_classes(table.labels(), {class_names, labels, 0}, data.notes);
    for (std::size_t i = 0; i < data.rows.size(); ++i)
      if (numbers[i] >= 0)
        data.rows[i].gold = labels[static_cast<std::size_t>(
            classes.class_of[static_cast<std::size_t>(numbers[i])])];
  } catch (const UserError& error) {
    data.notes.push_back(
        fmt::format("gold labels are shown as they are written: {}", error.what()));
  }
}

const std::vector<fs::path>& files_of(const DataFiles& files, const std::string& part,
                                      const std::string& source) {
  const std::pair<std::string_view, const std::vector<fs::path>*> parts[] = {
      {"test", &files.test}, {"validation", &files.validation}, {"train", &files.train}};
  for (const auto& [name, paths] : parts) {
    if (part.empty() ? paths->empty() : name != part) continue;
    user_check(!paths->empty(), "{}: there is no {} part", source, part);
    return *paths;
  }
  user_check(part.empty(), "--split: expected train, validation or test, got '{}'", part);
  fail("{}: there are no texts", source);
}

TextRows read_files(const DataOptions& options, const std::string& part,
                    const std::vector<std::string>& labels, ThreadPool& pool) {
  const DataFiles files = find_data_files(options.source);
  TextRows data{.notes = files.notes};
  std::vector<std::string> class_names;
  std::int64_t replaced = 0, before = 0;
  std::optional<ColumnChoice> choice;
  for (const fs::path& path : files_of(files, part, options.source)) {
    const LabelledFile file = open_labelled_file(path);
    if (!choice && !file.table.columns.empty()) {
      with_context(path.string(),
                   [&] { choice = choose_shown_columns(file.table.columns, options, data.notes); });
      data.notes.insert(data.notes.end(), file.table.notes.begin(), file.table.notes.end());
      if (!choice->gold.empty()) class_names = file.table.class_names(choice->gold);
    }
    std::int64_t last = 0;
    for (Record& record : file.read(choice.value_or(ColumnChoice()), pool)) {
      const auto where = [&] { return file.place(record.number); };
      if (options.strict) {
        if (record.replaced_bytes > 0) fail("{}: {}", where(), kNotUtf8);
        check_utf8(record.text, where);
        check_utf8(record.text_pair, where);
      }
      replaced += record.replaced_bytes;
      last = record.number;
      record.number += before;  // of a part in several files the numbers go on
      TextRow& row = data.rows.emplace_back();
      row.id = id_of(record);
      row.text = std::move(record.text);
      if (!choice->text_pair.empty()) row.text_pair = std::move(record.text_pair);
      row.gold = gold_of(record);
    }
    before += last;
  }
  user_check(!data.rows.empty(), "{}: there are no texts", options.source);
  if (replaced > 0)
    data.warnings.push_back(
        fmt::format("{}: {} ill-formed bytes were read as U+FFFD; the texts are not UTF-8",
                    options.source, replaced));
  name_gold_labels(data, labels, class_names);
  return data;
}

// Data that is no table has its labels in any case.
TextRows rows_of(DataSet set, const std::string& name) {
  TextRows data{.notes = set.notes, .warnings = set.warnings};
  const Splits splits{.source = std::move(set)};
  for (const Example& example : part(splits, name))
    data.rows.push_back(
        {.id = std::ssize(data.rows) + 1,
         .text = example.text,
         .text_pair = example.text_pair,
         .gold = splits.source.label_names[static_cast<std::size_t>(example.label)]});
  return data;
}

}  // namespace

TextRows read_text_rows(const DataOptions& options, const std::string& part,
                        const std::vector<std::string>& labels, ThreadPool& pool) {
  const bool table =
      !options.source.starts_with(kSyntheticPrefix) && !is_review_folder(options.source);
  TextRows data =
      table ? read_files(options, part, labels, pool) : rows_of(load_data_set(options, pool), part);
  if (!table) name_gold_labels(data, labels, {});
  for (const TextRow& row : data.rows) {
    data.pairs = data.pairs || row.text_pair.has_value();
    data.labelled = data.labelled || row.gold.has_value();
  }
  return data;
}

}  // namespace hone
