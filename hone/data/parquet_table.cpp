#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>

#include "hone/base/error.h"
#include "hone/base/json.h"
#include "hone/data/data_table.h"
#include "hone/data/parquet.h"

namespace hone {
namespace {

std::string label_text(std::int64_t value, bool boolean) {
  if (boolean) return value != 0 ? "true" : "false";
  return std::to_string(value);
}

std::string label_text(double value, const std::string& column, std::size_t row) {
  constexpr double kExact = 9007199254740992;  // 2^53
  user_check(std::abs(value) <= kExact && value == std::trunc(value),
             "row {}: '{}' is no label: expected whole numbers or names, got {}", row + 1, column,
             value);
  return std::to_string(static_cast<std::int64_t>(value));
}

const ParquetSchemaColumn& schema_of(const ParquetFile& file, const std::string& name) {
  const auto found = std::find_if(file.columns().begin(), file.columns().end(),
                                  [&](const auto& column) { return column.name == name; });
  HONE_ASSERT(found != file.columns().end(), "column {} was found before", name);
  return *found;
}

std::vector<std::string> read_texts(const ParquetFile& file, const std::string& column,
                                    ThreadPool& pool) {
  ParquetColumn read = file.read(column, pool);
  auto* texts = std::get_if<std::vector<std::string>>(&read.values);
  user_check(texts != nullptr, "the column '{}' holds no text but {}", column,
             schema_of(file, column).type);
  return std::move(*texts);
}

std::vector<std::string> read_labels(const ParquetFile& file, const std::string& column,
                                     ThreadPool& pool) {
  ParquetColumn read = file.read(column, pool);
  if (auto* texts = std::get_if<std::vector<std::string>>(&read.values)) return std::move(*texts);
  std::vector<std::string> labels;
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&read.values)) {
    const bool boolean = schema_of(file, column).type == "bool";
    for (const std::int64_t value : *integers) labels.push_back(label_text(value, boolean));
  } else {
    for (const double value : std::get<std::vector<double>>(read.values))
      labels.push_back(label_text(value, column, labels.size()));
  }
  return labels;
}

// Of a column that is only shown: any number too.
std::vector<std::string> read_written(const ParquetFile& file, const std::string& column,
                                      ThreadPool& pool) {
  if (column.empty()) return {};
  const ParquetColumn read = file.read(column, pool);
  const auto* reals = std::get_if<std::vector<double>>(&read.values);
  if (reals == nullptr) return read_labels(file, column, pool);
  std::vector<std::string> texts;
  for (const double value : *reals) texts.push_back(fmt::format("{}", value));
  return texts;
}

std::vector<Record> read_rows(const ParquetFile& file, const std::vector<DataColumn>& columns,
                              const ColumnChoice& choice, ThreadPool& pool) {
  for (const std::string& name :
       {choice.text, choice.text_pair, choice.label, choice.id, choice.gold})
    if (!name.empty()) find_column(columns, name);
  std::vector<std::string> texts = read_texts(file, choice.text, pool), pairs, labels;
  if (!choice.text_pair.empty()) pairs = read_texts(file, choice.text_pair, pool);
  if (!choice.label.empty()) labels = read_labels(file, choice.label, pool);
  std::vector<std::string> ids = read_written(file, choice.id, pool);
  std::vector<std::string> golds = read_written(file, choice.gold, pool);
  std::vector<Record> records(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Record& row = records[i];
    row.text = std::move(texts[i]);
    if (!pairs.empty()) row.text_pair = std::move(pairs[i]);
    if (!labels.empty()) row.label = std::move(labels[i]);
    if (!ids.empty()) row.id = std::move(ids[i]);
    if (!golds.empty()) row.gold = std::move(golds[i]);
    row.number = static_cast<std::int64_t>(i) + 1;
  }
  return records;
}

// What the hub's `datasets` writes beside the schema: {"info": {"features": {"label": {"names":
// ["neg", "pos"], "_type": "ClassLabel"}, …}}}. Anything else there is none of our business.
std::vector<std::string> names_in(const ParquetFile& file, const std::string& column) {
  const auto found = file.metadata().find("huggingface");
  if (found == file.metadata().end()) return {};
  const Json all = Json::parse(found->second, nullptr, /*allow_exceptions=*/false);
  const Json::json_pointer place("/info/features");
  if (!all.is_object() || !all.contains(place)) return {};
  const Json& features = all.at(place);
  if (!features.is_object() || !features.contains(column)) return {};
  const Json& feature = features.at(column);
  if (!feature.is_object() || !feature.contains("names") || !feature.at("names").is_array())
    return {};
  std::vector<std::string> names;
  for (const Json& name : feature.at("names")) {
    if (!name.is_string()) return {};
    names.push_back(name.get<std::string>());
  }
  return names;
}

}  // namespace

DataTable open_parquet(std::string_view bytes) {
  const auto file = std::make_shared<const ParquetFile>(bytes, "Parquet");
  DataTable table{.unit = "row"};
  for (const ParquetSchemaColumn& column : file->columns())
    table.columns.push_back({column.name, column.type == "string"});
  table.read = [file, columns = table.columns](const ColumnChoice& choice, ThreadPool& pool) {
    return read_rows(*file, columns, choice, pool);
  };
  table.class_names = [file](const std::string& column) { return names_in(*file, column); };
  return table;
}

}  // namespace hone
