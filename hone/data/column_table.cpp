#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>

#include "hone/base/error.h"
#include "hone/base/json.h"
#include "hone/data/arrow.h"
#include "hone/data/data_table.h"
#include "hone/data/parquet.h"

namespace hone {
namespace {

std::string label_text(std::int64_t value, bool boolean) {
  if (boolean) return value != 0 ? "true" : "false";
  return std::to_string(value);
}

// Returns whether float32 represents the values exactly.
bool is_narrow(const std::string& type) {
  return type.find("float32") != std::string::npos || type.find("float16") != std::string::npos;
}

// Writes whole numbers as integers, others with the shortest digits that read back the same.
RawLabel number_label(double value, bool narrow) {
  constexpr double kExact = 9007199254740992;  // 2^53
  if (std::abs(value) <= kExact && value == std::trunc(value))
    return {.value = std::to_string(static_cast<std::int64_t>(value))};
  return {.value = narrow ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value),
          .no_class = true};
}

const ColumnSchema& schema_of(const ColumnFile& file, const std::string& name) {
  const auto found = std::find_if(file.columns().begin(), file.columns().end(),
                                  [&](const auto& column) { return column.name == name; });
  HONE_ASSERT(found != file.columns().end(), "column {} was found before", name);
  return *found;
}

std::vector<std::string> read_texts(const ColumnFile& file, const std::string& column,
                                    ThreadPool& pool) {
  StoredColumn read = file.read(column, pool);
  auto* texts = std::get_if<std::vector<std::string>>(&read.values);
  user_check(texts != nullptr, "the column '{}' holds no text but {}", column,
             schema_of(file, column).type);
  return std::move(*texts);
}

std::vector<RawLabel> raw_labels_of(StoredColumn&& read, const ColumnSchema& schema) {
  std::vector<RawLabel> raw_labels;
  std::visit(
      [&]<typename Value>(std::vector<Value>& values) {
        raw_labels.reserve(values.size());
        for (Value& value : values) {
          if constexpr (std::is_same_v<Value, std::string>) {
            raw_labels.push_back({.value = std::move(value)});
          } else if constexpr (std::is_same_v<Value, double>) {
            raw_labels.push_back(number_label(value, is_narrow(schema.type)));
          } else {
            raw_labels.push_back(
                {.value = label_text(value, schema.type.find("bool") != std::string::npos)});
          }
        }
      },
      read.values);
  return raw_labels;
}

// Groups the labels of all values into one list per row.
std::vector<RawLabel> cut(std::vector<RawLabel>&& values, const std::vector<std::size_t>& begins) {
  std::vector<RawLabel> rows(begins.size() - 1, {.many = true});
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t i = begins[row]; i < begins[row + 1]; ++i)
      rows[row].values.push_back(std::move(values[i].value));
  return rows;
}

std::vector<RawLabel> read_raw_labels(const ColumnFile& file, const std::string& column,
                                      const std::optional<Task>& task, ThreadPool& pool) {
  if (schema_of(file, column).is_list && task != Task::single_label) {
    StoredLists lists = file.read_lists(column, pool);
    return cut(raw_labels_of(std::move(lists.values), schema_of(file, column)), lists.begins);
  }
  std::vector<RawLabel> raw_labels =
      raw_labels_of(file.read(column, pool), schema_of(file, column));
  if (task == Task::single_label)
    for (std::size_t row = 0; row < raw_labels.size(); ++row)
      user_check(!raw_labels[row].no_class,
                 "row {}: '{}' is no label: expected whole numbers or names, got {}", row + 1,
                 column, raw_labels[row].value);
  return raw_labels;
}

// Reads the labels; several columns make up one label.
std::vector<RawLabel> read_raw_labels(const ColumnFile& file, const ColumnChoice& choice,
                                      ThreadPool& pool) {
  if (choice.labels.size() == 1) return read_raw_labels(file, choice.labels[0], choice.task, pool);
  std::vector<RawLabel> raw_labels;
  for (const std::string& column : choice.labels) {
    std::vector<RawLabel> own = raw_labels_of(file.read(column, pool), schema_of(file, column));
    raw_labels.resize(own.size(), {.many = true});
    for (std::size_t row = 0; row < own.size(); ++row)
      raw_labels[row].values.push_back(std::move(own[row].value));
  }
  return raw_labels;
}

// Reads a column as text for display.
std::vector<std::string> read_written(const ColumnFile& file, const std::string& column,
                                      ThreadPool& pool) {
  std::vector<std::string> texts;
  if (column.empty()) return texts;
  for (RawLabel& raw_label : read_raw_labels(file, column, std::nullopt, pool))
    texts.push_back(raw_label.many ? to_line(Json(raw_label.values)) : std::move(raw_label.value));
  return texts;
}

std::vector<Record> read_rows(const ColumnFile& file, const std::vector<DataColumn>& columns,
                              const ColumnChoice& choice, ThreadPool& pool) {
  for (const std::string& name : {choice.text, choice.text_pair, choice.id, choice.gold})
    if (!name.empty()) find_column(columns, name);
  for (const std::string& name : choice.labels) find_column(columns, name);
  for (const std::string& name : choice.golds) find_column(columns, name);
  std::vector<std::string> texts = read_texts(file, choice.text, pool), pairs;
  if (!choice.text_pair.empty()) pairs = read_texts(file, choice.text_pair, pool);
  std::vector<RawLabel> raw_labels = read_raw_labels(file, choice, pool);
  std::vector<std::string> ids = read_written(file, choice.id, pool);
  std::vector<std::string> golds = read_written(file, choice.gold, pool);
  if (!choice.golds.empty()) {
    ColumnChoice several = choice;
    several.labels = choice.golds;
    for (const RawLabel& raw_label : read_raw_labels(file, several, pool))
      golds.push_back(to_line(Json(raw_label.values)));
  }
  std::vector<Record> records(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Record& row = records[i];
    row.text = std::move(texts[i]);
    if (!pairs.empty()) row.text_pair = std::move(pairs[i]);
    if (!raw_labels.empty()) row.raw_label = std::move(raw_labels[i]);
    if (!ids.empty()) row.id = std::move(ids[i]);
    if (!golds.empty()) row.gold = std::move(golds[i]);
    row.number = static_cast<std::int64_t>(i) + 1;
  }
  return records;
}

// Hugging Face `datasets` stores class names in the metadata: {"info": {"features": {…}}}.
std::vector<std::string> names_in(const ColumnFile& file, const std::string& column) {
  const auto found = file.metadata().find("huggingface");
  if (found == file.metadata().end()) return {};
  const Json all = Json::parse(found->second, nullptr, /*allow_exceptions=*/false);
  const Json::json_pointer place("/info/features");
  if (!all.is_object() || !all.contains(place)) return {};
  return class_names_in(all.at(place), column);
}

DataTable open_columns(std::shared_ptr<const ColumnFile> file) {
  DataTable table{.unit = "row"};
  for (const ColumnSchema& column : file->columns())
    table.columns.push_back({column.name, column.type == "string"});
  table.read = [file, columns = table.columns](const ColumnChoice& choice, ThreadPool& pool) {
    return read_rows(*file, columns, choice, pool);
  };
  table.is_null = [file](const std::string& column) { return file->is_null(column); };
  table.class_names = [file](const std::string& column) { return names_in(*file, column); };
  return table;
}

}  // namespace

std::vector<std::string> class_names_in(const Json& features, const std::string& column) {
  if (!features.is_object() || !features.contains(column)) return {};
  const Json& own = features.at(column);
  const bool in_object = own.is_object() && own.contains("feature");
  const bool in_array = own.is_array() && own.size() == 1;
  const Json& feature = in_object ? own.at("feature") : in_array ? own.at(0) : own;
  if (!feature.is_object() || !feature.contains("names") || !feature.at("names").is_array())
    return {};
  std::vector<std::string> names;
  for (const Json& name : feature.at("names")) {
    if (!name.is_string()) return {};
    names.push_back(name.get<std::string>());
  }
  return names;
}

DataTable open_parquet(std::string_view bytes) {
  return open_columns(std::make_shared<const ParquetFile>(bytes, "Parquet"));
}

DataTable open_arrow(std::string_view bytes) {
  return open_columns(std::make_shared<const ArrowFile>(bytes));
}

}  // namespace hone
