#include "hone/report/field_table.h"

#include <algorithm>

#include "hone/base/text.h"

namespace hone {
namespace {

constexpr std::string_view kInterval = "_interval";

const TypeDef& type_of(const FieldDef& field) {
  return field.type->kind == FieldKind::optional ? *field.type->element() : *field.type;
}

// "change_interval" is the interval of "change".
std::string interval_name(std::string key) {
  if (key.ends_with(kInterval)) key.resize(key.size() - kInterval.size());
  return key;
}

const Json& member(const Json& object, std::string_view key) {
  static const Json null;
  return object.is_object() ? object.at(std::string(key)) : null;
}

void add_columns(const Fields& fields, const std::string& prefix, std::vector<Column>& columns) {
  const auto add = [&](const std::string& key) { columns.push_back({key, key}); };
  for (const FieldDef& field : fields.rows) {
    const TypeDef& type = type_of(field);
    const std::string key = prefix + std::string(field.key);
    if (field.names != nullptr) {
      for (const std::string& name : field.names())
        add(fmt::format("{}{}{}", key, name, field.suffix));
    } else if (type.kind == FieldKind::object) {
      add_columns(type.fields(), field.key.empty() ? prefix : key + "_", columns);
    } else if (type.kind == FieldKind::interval) {
      for (const char* end : {"_low", "_high"}) add(interval_name(key) + end);
    } else {
      add(key);
    }
  }
}

Cell cell_of(const Json& value) {
  if (value.is_null()) return absent;
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return Significant{value.get<double>()};
  const bool whole = value.is_array() && std::ranges::all_of(value, [](const Json& element) {
                       return element.is_number_integer();
                     });
  return whole ? Cell(value.get<Cell::List>()) : Cell(to_line(value));
}

void add_cells(const Fields& fields, const Json& row, std::vector<Cell>& cells) {
  for (const FieldDef& field : fields.rows) {
    const TypeDef& type = type_of(field);
    if (field.names != nullptr) {
      for (const std::string& name : field.names()) {
        const std::string key = fmt::format("{}{}{}", field.key, name, field.suffix);
        cells.push_back(row.is_object() && row.contains(key) ? cell_of(row.at(key)) : absent);
      }
    } else if (type.kind == FieldKind::object) {
      add_cells(type.fields(), field.key.empty() ? row : member(row, field.key), cells);
    } else if (type.kind == FieldKind::interval) {
      const Json& ends = member(row, field.key);
      for (const std::size_t end : {0, 1})
        cells.push_back(ends.is_null() ? absent : cell_of(ends.at(end)));
    } else {
      cells.push_back(cell_of(member(row, field.key)));
    }
  }
}

}  // namespace

Table field_table(const Fields& fields, const Json& rows) {
  std::vector<Column> columns;
  add_columns(fields, "", columns);
  Table table(std::move(columns));
  for (const Json& row : rows) {
    std::vector<Cell> cells;
    add_cells(fields, row, cells);
    table.add_row(std::move(cells));
  }
  return table;
}

}  // namespace hone
