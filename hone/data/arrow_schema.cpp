#include "hone/data/arrow_schema.h"

#include <algorithm>

namespace hone {
namespace {

constexpr int kDeepest = 32;
constexpr std::uint64_t kFieldBytes = sizeof(ArrowField) + sizeof(ColumnSchema);

struct KindName {
  ArrowKind kind;
  std::string_view name;
};
constexpr KindName kNames[] = {{ArrowKind::null, "null"},
                               {ArrowKind::binary, "binary"},
                               {ArrowKind::utf8, "string"},
                               {ArrowKind::boolean, "bool"},
                               {ArrowKind::decimal, "decimal"},
                               {ArrowKind::date, "date"},
                               {ArrowKind::time, "time"},
                               {ArrowKind::timestamp, "timestamp"},
                               {ArrowKind::interval, "interval"},
                               {ArrowKind::structure, "struct"},
                               {ArrowKind::union_of, "union"},
                               {ArrowKind::fixed_size_binary, "fixed_size_binary"},
                               {ArrowKind::fixed_size_list, "fixed_size_list"},
                               {ArrowKind::map, "map"},
                               {ArrowKind::duration, "duration"},
                               {ArrowKind::large_binary, "large_binary"},
                               {ArrowKind::large_utf8, "string"},
                               {ArrowKind::run_end_encoded, "run_end_encoded"},
                               {ArrowKind::binary_view, "binary_view"},
                               {ArrowKind::utf8_view, "string_view"},
                               {ArrowKind::list_view, "list_view"},
                               {ArrowKind::large_list_view, "large_list_view"}};

// Field numbers are those of the tables in Schema.fbs.
void read_type(const FlatTable& type, ArrowField& field) {
  if (field.kind == ArrowKind::integer) {
    field.bits = type.number<std::int32_t>(0);
    field.is_signed = type.number<std::uint8_t>(1) != 0;
  } else if (field.kind == ArrowKind::floating_point) {
    const auto precision = type.number<std::int16_t>(0);
    user_check(precision >= 0 && precision <= 2,
               "column '{}': floating point of precision {}; the file is damaged", field.name,
               precision);
    field.bits = 16 << precision;
  } else if (field.kind == ArrowKind::union_of) {
    field.is_dense = type.number<std::int16_t>(0) == 1;
  }
}

bool is_width(int bits) { return bits == 8 || bits == 16 || bits == 32 || bits == 64; }

void read_dictionary(const FlatTable& encoding, ArrowField& field) {
  field.in_dictionary = true;
  field.dictionary = encoding.number<std::int64_t>(0);
  if (const auto type = encoding.table(1)) {
    field.index_bits = type->number<std::int32_t>(0);
    field.index_is_signed = type->number<std::uint8_t>(1) != 0;
  }
}

ArrowField read_field(const FlatTable& table, int depth, MemoryBudget& budget) {
  user_check(depth < kDeepest, "columns are nested more than {} deep", kDeepest);
  ArrowField field{.name = table.text(0)};
  budget.charge(kFieldBytes + field.name.size());
  const auto kind = table.number<std::uint8_t>(2);
  user_check(kind >= 1 && kind <= static_cast<int>(ArrowKind::large_list_view),
             "column '{}' is of a type that Arrow does not have ({}); the file is damaged or newer",
             field.name, kind);
  field.kind = static_cast<ArrowKind>(kind);
  if (const auto type = table.table(3)) read_type(*type, field);
  if (const auto encoding = table.table(4)) read_dictionary(*encoding, field);
  user_check(
      (field.kind != ArrowKind::integer || is_width(field.bits)) && is_width(field.index_bits),
      "column '{}': integers of {} bits; the file is damaged", field.name, field.bits);
  const FlatVector children = table.vector(5, 4);
  for (std::size_t i = 0; i < children.count; ++i)
    field.children.push_back(read_field(FlatTable::element(children, i), depth + 1, budget));
  const bool one_child = field.is_list() || field.kind == ArrowKind::map;
  user_check(!one_child || field.children.size() == 1,
             "column '{}': expected one type of elements; the file is damaged", field.name);
  return field;
}

}  // namespace

std::string ArrowField::type() const {
  if (kind == ArrowKind::integer) return fmt::format("{}int{}", is_signed ? "" : "u", bits);
  if (kind == ArrowKind::floating_point) return fmt::format("float{}", bits);
  if (is_list()) return fmt::format("list<{}>", children[0].type());
  return std::string(std::ranges::find(kNames, kind, &KindName::kind)->name);
}

bool ArrowField::is_flat() const {
  return kind == ArrowKind::null || kind == ArrowKind::integer ||
         kind == ArrowKind::floating_point || kind == ArrowKind::boolean ||
         kind == ArrowKind::utf8 || kind == ArrowKind::large_utf8;
}

ArrowSchema read_arrow_schema(const FlatTable& table, MemoryBudget& budget) {
  user_check(table.number<std::int16_t>(0) == 0,
             "the file is big-endian, which is not supported; write it on a little-endian machine");
  ArrowSchema schema;
  const FlatVector fields = table.vector(1, 4);
  for (std::size_t i = 0; i < fields.count; ++i)
    schema.fields.push_back(read_field(FlatTable::element(fields, i), 0, budget));
  const FlatVector pairs = table.vector(2, 4);
  for (std::size_t i = 0; i < pairs.count; ++i) {
    const FlatTable pair = FlatTable::element(pairs, i);
    budget.charge(pair.text(0).size() + pair.text(1).size() + 128);
    schema.metadata.emplace(pair.text(0), pair.text(1));
  }
  return schema;
}

}  // namespace hone
