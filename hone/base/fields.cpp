#include "hone/base/fields.h"

#include <fmt/ranges.h>

#include "hone/base/error.h"

namespace hone {
namespace {

// Returns the table of an inlined field.
const Fields& inlined_fields(const FieldDef& field) {
  const TypeDef* type = field.type;
  if (type->kind == FieldKind::optional) type = type->element();
  return type->fields();
}

void add_nulls(const Fields& fields, Json& json) {
  for (const FieldDef& field : fields.rows) {
    if (field.key.empty())
      add_nulls(inlined_fields(field), json);
    else if (field.names == nullptr)
      json[field.key] = nullptr;
  }
}

void read_field(const FieldDef& field, const Json& json, void* object) {
  if (field.at == nullptr) return;
  if (field.key.empty()) {
    if (field.type->kind != FieldKind::optional) return field.type->read(json, field.at(object));
    // The optional exists if any of its keys does.
    const bool is_there = std::ranges::any_of(inlined_fields(field).rows, [&](const FieldDef& row) {
      const auto found = json.find(row.key);
      return found != json.end() && !found->is_null();
    });
    return field.type->read(is_there ? json : Json(), field.at(object));
  }
  if (field.names != nullptr) {
    Json map = Json::object();
    for (const std::string& name : field.names())
      if (const auto found = json.find(fmt::format("{}{}{}", field.key, name, field.suffix));
          found != json.end())
        map[name] = *found;
    return field.type->read(map, field.at(object));
  }
  const auto found = json.find(field.key);
  const bool optional = field.type->kind == FieldKind::optional || field.null;
  user_check(found != json.end() || optional, "has no key '{}'", field.key);
  with_context(field.key,
               [&] { field.type->read(found == json.end() ? Json() : *found, field.at(object)); });
}

}  // namespace

std::string_view to_string(Unit unit) {
  switch (unit) {
    case Unit::none:
    case Unit::ratio:
      return "";
    case Unit::examples:
      return "examples";
    case Unit::rows:
      return "rows";
    case Unit::tokens:
      return "tokens";
    case Unit::steps:
      return "steps";
    case Unit::seeds:
      return "seeds";
    case Unit::bytes:
      return "bytes";
    case Unit::bits:
      return "bits";
    case Unit::nats:
      return "nats";
    case Unit::logits:
      return "logits";
    case Unit::decibels:
      return "dB";
    case Unit::seconds:
      return "s";
    case Unit::milliseconds:
      return "ms";
    case Unit::microseconds:
      return "µs";
    case Unit::examples_per_second:
      return "examples/s";
    case Unit::steps_per_second:
      return "steps/s";
    case Unit::flop:
      return "FLOP";
    case Unit::gflop:
      return "GFLOP";
    case Unit::gflop_per_second:
      return "GFLOP/s";
    case Unit::gop_per_second:
      return "GOP/s";
    case Unit::gigabytes_per_second:
      return "GB/s";
    case Unit::share:
    case Unit::difference:
      return "share";
    case Unit::utc:
      return "UTC";
  }
  return "";
}

Json FieldDef::write(const void* object) const {
  return get == nullptr ? value(object) : type->write(get(object));
}

Json write_fields(const Fields& fields, const void* object) {
  Json json = Json::object();
  for (const FieldDef& field : fields.rows) {
    Json value = field.write(object);
    if (field.names != nullptr)
      for (auto& [name, element] : value.items())
        json[fmt::format("{}{}{}", field.key, name, field.suffix)] = std::move(element);
    else if (!field.key.empty())
      json[field.key] = std::move(value);
    else if (value.is_null())
      add_nulls(inlined_fields(field), json);
    else
      json.update(value);
  }
  return json;
}

void read_fields(const Fields& fields, const Json& json, void* object) {
  detail::check_kind(json.is_object(), "an object", json);
  for (const FieldDef& field : fields.rows) read_field(field, json, object);
}

namespace detail {

void check_kind(bool is_kind, std::string_view expected, const Json& json) {
  user_check(is_kind, "expected {}, found {}", expected, to_line(json));
}

Json write_interval(double low, double high) {
  return Json::array({finite_or_null(low), finite_or_null(high)});
}

std::pair<double, double> read_interval(const Json& json) {
  check_kind(json.is_array() && json.size() == 2, "[low, high]", json);
  return {read_number(json[0]), read_number(json[1])};
}

double read_number(const Json& json) {
  check_kind(json.is_number() || json.is_null(), "a number", json);
  return number_or_nan(json);
}

std::int64_t read_integer(const Json& json) {
  check_kind(json.is_number_integer(), "a whole number", json);
  return json.get<std::int64_t>();
}

bool read_boolean(const Json& json) {
  check_kind(json.is_boolean(), "true or false", json);
  return json.get<bool>();
}

const std::string& read_text(const Json& json) {
  check_kind(json.is_string(), "text", json);
  return json.get_ref<const std::string&>();
}

int read_choice(const Json& json, std::span<const EnumName> choices) {
  std::vector<std::string_view> words;
  for (const EnumName& choice : choices) {
    if (json == choice.name) return choice.value;
    words.push_back(choice.name);
  }
  fail("expected one of {}, found {}", fmt::join(words, ", "), to_line(json));
}

}  // namespace detail
}  // namespace hone
