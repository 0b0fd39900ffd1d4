#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "hone/base/json.h"

/// Describes structs by tables of their fields:
///
///     struct Latency {
///       double batch_1 = 0;
///       std::optional<double> batch_32;
///     };
///     const Fields& fields_of(const Latency*) {
///       static const Fields fields = describe<Latency>(
///           "latency", "How fast a model is.",
///           field<&Latency::batch_1>("batch_1_ms", Unit::milliseconds, "Median of one example."),
///           field<&Latency::batch_32>("batch_32_ms", Unit::milliseconds, "Per example; null: not measured."));
///       return fields;
///     }
///
/// JSON in both directions, its schema and its documentation are plain functions over the table. Rows are type-erased,
/// so that structs compile quickly and functions over tables are compiled once.
///
/// A field may be a bool, a number, text, a path, JSON, an enum with names, an interval, a type with a text form
/// (`TextLike`), another described struct, and optionals, vectors and maps of these. Absent values are null, never
/// missing keys. NaN and infinite doubles are null, too.
namespace hone {

struct Fields;

/// The unit of a number.
enum class Unit : std::uint8_t {
  none,
  examples,
  rows,
  tokens,
  steps,
  seeds,
  bytes,
  bits,
  nats,
  logits,
  decibels,
  seconds,
  milliseconds,
  microseconds,
  examples_per_second,
  steps_per_second,
  flop,
  gflop,
  gflop_per_second,
  gop_per_second,
  gigabytes_per_second,
  share,       ///< from 0 to 1
  difference,  ///< between two shares
  ratio,
  utc,
};
/// Returns "examples", "dB", "GB/s", …; "" for none.
std::string_view to_string(Unit unit);

/// A value of an enum and its name.
struct EnumName {
  int value;
  std::string_view name;
};

enum class FieldKind : std::uint8_t {
  boolean,
  integer,
  number,
  text,
  json,      ///< any value
  choice,    ///< one of several names
  interval,  ///< [low, high]
  object,    ///< a described struct
  optional,  ///< an element or null
  list,      ///< a list of elements
  map,       ///< elements by name
};

/// Functions that write, read and describe values of a type.
struct TypeDef {
  FieldKind kind = FieldKind::json;
  const TypeDef* (*element)() = nullptr;             ///< for optionals, lists and maps
  const Fields& (*fields)() = nullptr;               ///< for objects
  std::span<const EnumName> (*choices)() = nullptr;  ///< for choices
  Json (*write)(const void* value) = nullptr;
  void (*read)(const Json& json, void* value) = nullptr;  ///< throws `UserError` for other types
};

/// One field of a described struct.
struct FieldDef {
  std::string_view key;  ///< "": the fields of an object are inlined
  Unit unit = Unit::none;
  std::string_view meaning = {};
  std::string_view header = {};  ///< column header in printed tables; "": not printed
  const TypeDef* type = nullptr;
  const void* (*get)(const void* object) = nullptr;  ///< nullptr: a computed value, see `value`
  void* (*at)(void* object) = nullptr;  ///< nullptr: a computed value, which is not read
  Json (*value)(const void* object) = nullptr;
  bool null = false;  ///< a number may be null
  /// For a map whose elements are inlined as `key` + name + `suffix`: the possible names.
  std::vector<std::string> (*names)() = nullptr;
  std::string_view suffix = {};

  Json write(const void* object) const;
};

struct Fields {
  std::string_view name;     ///< name in schemas: "latency"
  std::string_view meaning;  ///< a sentence
  std::vector<FieldDef> rows;
};

/// A struct with a table: `const Fields& fields_of(const T*)` in its namespace.
template <typename T>
concept Described = requires(const T* t) {
  { fields_of(t) } -> std::same_as<const Fields&>;
};
template <Described T>
const Fields& fields() {
  return fields_of(static_cast<const T*>(nullptr));
}

/// An enum with names: `std::span<const EnumName> enum_names(E)` in its namespace.
template <typename E>
concept NamedEnum = std::is_enum_v<E> && requires(E e) {
  { enum_names(e) } -> std::convertible_to<std::span<const EnumName>>;
};
/// Returns the name of a value.
template <NamedEnum E>
std::string_view enum_name(E value) {
  for (const EnumName& choice : enum_names(value))
    if (choice.value == static_cast<int>(value)) return choice.name;
  return "";
}

/// A type with a text form: `std::string field_text(const T&)` and `void read_field_text(const std::string&, T&)`,
/// which throws `UserError`, in its namespace.
template <typename T>
concept TextLike = requires(const T& value, T& to, const std::string& text) {
  { field_text(value) } -> std::convertible_to<std::string>;
  read_field_text(text, to);
};

Json write_fields(const Fields& fields, const void* object);
void read_fields(const Fields& fields, const Json& json, void* object);

/// Writes the fields of an object by their keys.
template <Described T>
Json to_json(const T& object) {
  return write_fields(fields<T>(), &object);
}
template <Described T>
Json to_json(const std::vector<T>& objects) {
  Json list = Json::array();
  for (const T& object : objects) list.push_back(to_json(object));
  return list;
}
/// Reads an object that `to_json` wrote. Ignores unknown keys. Throws `UserError` for missing keys and values of other
/// types.
template <Described T>
T from_json(const Json& json) {
  T object;
  read_fields(fields<T>(), json, &object);
  return object;
}

namespace detail {

template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <typename T>
inline constexpr bool is_vector = false;
template <typename T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <typename T>
inline constexpr bool is_map = false;
template <typename T>
inline constexpr bool is_map<std::map<std::string, T>> = true;
template <typename T>
inline constexpr bool is_map<std::vector<std::pair<std::string, T>>> = true;  // keeps its order

template <typename T>
concept IntervalLike = std::is_aggregate_v<T> && !Described<T> && requires(T t) {
  { t.low } -> std::same_as<double&>;
  { t.high } -> std::same_as<double&>;
};

// Writers and readers of basic values.
Json write_interval(double low, double high);
std::pair<double, double> read_interval(const Json& json);
double read_number(const Json& json);
std::int64_t read_integer(const Json& json);
bool read_boolean(const Json& json);
const std::string& read_text(const Json& json);
int read_choice(const Json& json, std::span<const EnumName> choices);
void check_kind(bool is_kind, std::string_view expected, const Json& json);

template <typename T>
const TypeDef* type_of();

template <typename T>
TypeDef make_type() {
  TypeDef type;
  const auto as = [](const void* value) -> const T& { return *static_cast<const T*>(value); };
  using As = decltype(as);
  static_assert(std::is_empty_v<As>);
  if constexpr (std::same_as<T, bool>) {
    type.kind = FieldKind::boolean;
    type.write = [](const void* v) { return Json(As()(v)); };
    type.read = [](const Json& json, void* v) { *static_cast<T*>(v) = read_boolean(json); };
  } else if constexpr (std::integral<T>) {
    type.kind = FieldKind::integer;
    type.write = [](const void* v) { return Json(As()(v)); };
    type.read = [](const Json& json, void* v) {
      *static_cast<T*>(v) = static_cast<T>(read_integer(json));
    };
  } else if constexpr (std::floating_point<T>) {
    type.kind = FieldKind::number;
    type.write = [](const void* v) { return finite_or_null(As()(v)); };
    type.read = [](const Json& json, void* v) {
      *static_cast<T*>(v) = static_cast<T>(read_number(json));
    };
  } else if constexpr (std::same_as<T, std::string>) {
    type.kind = FieldKind::text;
    type.write = [](const void* v) { return Json(As()(v)); };
    type.read = [](const Json& json, void* v) { *static_cast<T*>(v) = read_text(json); };
  } else if constexpr (std::same_as<T, std::string_view>) {
    type.kind = FieldKind::text;
    type.write = [](const void* v) { return Json(As()(v)); };
  } else if constexpr (std::same_as<T, fs::path>) {
    type.kind = FieldKind::text;
    type.write = [](const void* v) { return Json(As()(v).string()); };
    type.read = [](const Json& json, void* v) { *static_cast<T*>(v) = read_text(json); };
  } else if constexpr (std::same_as<T, Json>) {
    type.kind = FieldKind::json;
    type.write = [](const void* v) { return As()(v); };
    type.read = [](const Json& json, void* v) { *static_cast<T*>(v) = json; };
  } else if constexpr (TextLike<T>) {
    type.kind = FieldKind::text;
    type.write = [](const void* v) { return Json(field_text(As()(v))); };
    type.read = [](const Json& json, void* v) {
      read_field_text(read_text(json), *static_cast<T*>(v));
    };
  } else if constexpr (NamedEnum<T>) {
    type.kind = FieldKind::choice;
    type.choices = [] { return std::span<const EnumName>(enum_names(T())); };
    type.write = [](const void* v) { return Json(enum_name(As()(v))); };
    type.read = [](const Json& json, void* v) {
      *static_cast<T*>(v) = static_cast<T>(read_choice(json, enum_names(T())));
    };
  } else if constexpr (IntervalLike<T>) {
    type.kind = FieldKind::interval;
    type.write = [](const void* v) { return write_interval(As()(v).low, As()(v).high); };
    type.read = [](const Json& json, void* v) {
      auto& interval = *static_cast<T*>(v);
      std::tie(interval.low, interval.high) = read_interval(json);
    };
  } else if constexpr (Described<T>) {
    type.kind = FieldKind::object;
    type.fields = []() -> const Fields& { return fields<T>(); };
    type.write = [](const void* v) { return to_json(As()(v)); };
    type.read = [](const Json& json, void* v) { read_fields(fields<T>(), json, v); };
  } else if constexpr (is_optional<T>) {
    using Element = typename T::value_type;
    type.kind = FieldKind::optional;
    type.element = [] { return type_of<Element>(); };
    type.write = [](const void* v) {
      return As()(v) ? type_of<Element>()->write(&*As()(v)) : Json();
    };
    type.read = [](const Json& json, void* v) {
      auto& optional = *static_cast<T*>(v);
      optional.reset();
      if (!json.is_null()) type_of<Element>()->read(json, &optional.emplace());
    };
  } else if constexpr (is_map<T>) {
    using Element = typename T::value_type::second_type;
    type.kind = FieldKind::map;
    type.element = [] { return type_of<Element>(); };
    type.write = [](const void* v) {
      Json json = Json::object();
      for (const auto& [name, element] : As()(v)) json[name] = type_of<Element>()->write(&element);
      return json;
    };
    type.read = [](const Json& json, void* v) {
      check_kind(json.is_object(), "an object", json);
      auto& map = *static_cast<T*>(v);
      map.clear();
      for (const auto& [name, value] : json.items()) {
        Element element{};
        type_of<Element>()->read(value, &element);
        map.insert(map.end(), {name, std::move(element)});
      }
    };
  } else {
    static_assert(is_vector<T>, "a type that fields cannot have; describe it");
    using Element = typename T::value_type;
    type.kind = FieldKind::list;
    type.element = [] { return type_of<Element>(); };
    type.write = [](const void* v) {
      Json json = Json::array();
      for (const auto& element : As()(v)) {
        const Element copy = element;  // an element of vector<bool> has no address
        json.push_back(type_of<Element>()->write(&copy));
      }
      return json;
    };
    type.read = [](const Json& json, void* v) {
      check_kind(json.is_array(), "a list", json);
      auto& list = *static_cast<T*>(v);
      list.clear();
      for (const Json& value : json) {
        Element element{};
        type_of<Element>()->read(value, &element);
        list.push_back(std::move(element));
      }
    };
  }
  return type;
}

template <typename T>
const TypeDef* type_of() {
  static const TypeDef type = make_type<T>();
  return &type;
}

template <typename M>
struct Member;
template <typename C, typename T>
struct Member<T C::*> {
  using Class = C;
  using Type = T;
};
template <typename C, typename T>
struct Member<T (C::*)() const> {
  using Class = C;
  using Type = std::remove_cvref_t<T>;
};

// Converts to any type, to count the members of an aggregate.
struct AnyValue {
  template <typename T>
  operator T() const;
};
template <typename T, typename... Values>
consteval std::size_t member_count() {
  if constexpr (requires { T{Values{}..., AnyValue{}}; })
    return member_count<T, Values..., AnyValue>();
  else
    return sizeof...(Values);
}

// A row that records whether it describes a data member.
template <typename C, bool kData>
struct Row {
  std::optional<FieldDef> def;

  /// Allows the number to be null, if it is not always defined.
  Row or_null() && {
    def->null = true;
    return std::move(*this);
  }
};

template <auto kMember>
using RowOf = Row<typename Member<decltype(kMember)>::Class,
                  std::is_member_object_pointer_v<decltype(kMember)>>;

}  // namespace detail

/// Describes a data member, or a const member function without arguments, which is written but not read. `header`:
/// column header in printed tables.
template <auto kMember>
detail::RowOf<kMember> field(std::string_view key, Unit unit, std::string_view meaning,
                             std::string_view header = {}) {
  using Class = typename detail::Member<decltype(kMember)>::Class;
  using Type = typename detail::Member<decltype(kMember)>::Type;
  FieldDef def{.key = key,
               .unit = unit,
               .meaning = meaning,
               .header = header,
               .type = detail::type_of<Type>()};
  if constexpr (std::is_member_object_pointer_v<decltype(kMember)>) {
    def.get = [](const void* object) -> const void* {
      return &(static_cast<const Class*>(object)->*kMember);
    };
    def.at = [](void* object) -> void* { return &(static_cast<Class*>(object)->*kMember); };
  } else {
    def.value = [](const void* object) {
      const Type value = (static_cast<const Class*>(object)->*kMember)();
      return detail::type_of<Type>()->write(&value);
    };
  }
  return {def};
}
template <auto kMember>
detail::RowOf<kMember> field(std::string_view key, std::string_view meaning,
                             std::string_view header = {}) {
  return field<kMember>(key, Unit::none, meaning, header);
}
/// Inlines the fields of a described member, or of an optional one, among those of the object. Each field of an absent
/// optional is null.
template <auto kMember>
detail::RowOf<kMember> inlined() {
  return field<kMember>("", Unit::none, "");
}
/// Inlines the elements of a map member as fields of the object: `prefix` + name + `suffix`. `names`: the possible
/// names.
template <auto kMember>
detail::RowOf<kMember> spread(std::string_view prefix, std::vector<std::string> (*names)(),
                              std::string_view suffix, Unit unit, std::string_view meaning) {
  detail::RowOf<kMember> row = field<kMember>(prefix, unit, meaning);
  row.def->names = names;
  row.def->suffix = suffix;
  return row;
}
/// Marks a data member that is not a field.
template <auto kMember>
detail::RowOf<kMember> omitted() {
  return {std::nullopt};
}

/// Returns the table of T: a row for each member, in JSON order.
template <typename T, typename... Classes, bool... kData>
Fields describe(std::string_view name, std::string_view meaning,
                detail::Row<Classes, kData>... rows) {
  static_assert((std::same_as<Classes, T> && ...), "a row of another struct");
  if constexpr (std::is_aggregate_v<T>)
    static_assert(detail::member_count<T>() == (std::size_t{kData} + ... + 0),
                  "each member has one row: field, inlined or omitted");
  Fields fields{name, meaning, {}};
  (void)std::initializer_list<int>{(rows.def ? (fields.rows.push_back(*rows.def), 0) : 0)...};
  return fields;
}

}  // namespace hone
