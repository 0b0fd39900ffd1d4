#include "hone/report/field_table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hone/base/text.h"

namespace hone {
namespace {

constexpr std::string_view kInterval = "_interval";

const TypeDef& type_of(const FieldDef& field) {
  return field.type->kind == FieldKind::optional ? *field.type->element() : *field.type;
}

// Returns "change" for "change_interval".
std::string interval_name(std::string key) {
  if (key.ends_with(kInterval)) key.resize(key.size() - kInterval.size());
  return key;
}

// Returns the member, null if it is missing.
const Json& member(const Json& object, std::string_view key) {
  static const Json null;
  const auto found = object.is_object() ? object.find(std::string(key)) : object.end();
  return found == object.end() ? null : *found;
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

void add_headed(const Fields& fields, std::vector<const FieldDef*>& headed) {
  for (const FieldDef& field : fields.rows) {
    if (field.key.empty())
      add_headed(type_of(field).fields(), headed);
    else if (!field.header.empty())
      headed.push_back(&field);
  }
}

Cell shown_within(double value, Unit unit, const Json& ends) {
  const Quantity of = unit == Unit::share        ? Quantity::share
                      : unit == Unit::difference ? Quantity::points
                                                 : Quantity::number;
  const auto end = [&](std::size_t i) {
    return ends.is_array() && ends[i].is_number() ? ends[i].get<double>() : std::nan("");
  };
  return Estimate{value, end(0), end(1), of};
}

Cell shown_number(double value, Unit unit, int share_digits) {
  switch (unit) {
    case Unit::share:
      return percent(value, share_digits);
    case Unit::bytes:
      return bytes(std::llround(value));
    case Unit::bits:
      return bits(value);
    case Unit::decibels:
    case Unit::seconds:
      return real(value, 1);
    default:
      return significant(value);
  }
}

Cell shown_cell(const FieldDef& field, const Json& row, int share_digits) {
  const Json& value = member(row, field.key);
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (const TypeDef& type = type_of(field);
      type.kind == FieldKind::list && type.element()->kind == FieldKind::text)
    return value.empty()
               ? Cell(absent)
               : Cell(fmt::format("{}", fmt::join(value.get<std::vector<std::string>>(), ", ")));
  if (!value.is_number() || (value.is_number_integer() && field.unit != Unit::bytes))
    return cell_of(value);
  const Json& ends = member(row, fmt::format("{}{}", field.key, kInterval));
  if (!ends.is_null() || field.unit == Unit::difference)
    return shown_within(value.get<double>(), field.unit, ends);
  return shown_number(value.get<double>(), field.unit, share_digits);
}

// Returns the decimals that show values other than zero.
int share_digits(const FieldDef& field, const Json& rows) {
  const bool vanishes = std::ranges::any_of(rows, [&](const Json& row) {
    const Json& value = member(row, field.key);
    return value.is_number() && value != 0 &&
           std::abs(value.get<double>()) < 0.5 * std::pow(10, -2 - kShareDigits);
  });
  return vanishes ? kDifferenceDigits : kShareDigits;
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

Table headed_table(const Fields& fields, const Json& rows) {
  std::vector<const FieldDef*> headed;
  add_headed(fields, headed);
  std::vector<Column> columns;
  std::vector<int> digits;
  for (const FieldDef* field : headed) {
    columns.push_back({std::string(field->key), std::string(field->header)});
    digits.push_back(share_digits(*field, rows));
  }
  Table table(std::move(columns));
  for (const Json& row : rows) {
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < headed.size(); ++i)
      cells.push_back(shown_cell(*headed[i], row, digits[i]));
    table.add_row(std::move(cells));
  }
  return table;
}

}  // namespace hone
