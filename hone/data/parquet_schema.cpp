#include "hone/data/parquet_schema.h"

#include <optional>

// Field numbers are those of parquet.thrift.
namespace hone {
namespace {

constexpr int kMaxSchemaDepth = 64;

/// Logical types, with their numbers in the union LogicalType.
enum class Logical {
  none = 0,
  string = 1,
  map = 2,
  list = 3,
  enumeration = 4,
  decimal = 5,
  date = 6,
  time = 7,
  timestamp = 8,
  integer = 10,
  null = 11,
  json = 12,
  bson = 13,
  uuid = 14,
  float16 = 15
};

struct SchemaElement {
  std::string_view name;
  std::optional<ParquetPhysical> physical;  // unset: a group
  std::int64_t repetition = 0;              // 0 required, 1 optional, 2 repeated
  std::int64_t children = 0;
  std::optional<std::int64_t> converted;  // ConvertedType, the older form of `logical`
  Logical logical = Logical::none;
  bool is_signed = true;
  std::int64_t bits = 0;  // for Logical::integer
};

// IntType: width and sign.
void read_integer_type(ThriftReader& reader, const ThriftField& type, SchemaElement& element) {
  reader.read_record(type, [&](const ThriftField& field) {
    if (field.id == 1) {
      element.bits = reader.integer(field);
    } else if (field.id == 2) {
      element.is_signed = reader.boolean(field);
    } else {
      reader.skip(field);
    }
  });
}

SchemaElement read_schema_element(ThriftReader& reader, const ThriftField& record) {
  SchemaElement element;
  reader.read_record(record, [&](const ThriftField& field) {
    switch (field.id) {
      case 1:
        element.physical = static_cast<ParquetPhysical>(reader.integer(field, 7));
        break;
      case 3:
        element.repetition = reader.integer(field, 2);
        break;
      case 4:
        element.name = reader.binary(field);
        break;
      case 5:
        element.children = reader.integer(field, INT32_MAX);
        break;
      case 6:
        element.converted = reader.integer(field);
        break;
      case 10:
        reader.read_record(field, [&](const ThriftField& logical) {
          const bool known = logical.id >= 1 && logical.id <= 15;
          element.logical = known ? static_cast<Logical>(logical.id) : Logical::none;
          if (element.logical == Logical::integer) {
            read_integer_type(reader, logical, element);
          } else {
            reader.skip(logical);
          }
        });
        break;
      default:
        reader.skip(field);
    }
  });
  user_check(!element.name.empty(), "an element of the schema has no name; the file is damaged");
  if (element.children > 0) element.physical.reset();  // a group, even with a type
  return element;
}

// Converts the older form of logical types, if there is no newer one.
void adopt_converted(SchemaElement& element) {
  if (element.logical != Logical::none || !element.converted) return;
  const std::int64_t converted = *element.converted;
  constexpr Logical kByNumber[] = {Logical::string,    Logical::map,         Logical::map,
                                   Logical::list,      Logical::enumeration, Logical::decimal,
                                   Logical::date,      Logical::time,        Logical::time,
                                   Logical::timestamp, Logical::timestamp};
  if (converted >= 0 && converted < std::ssize(kByNumber)) {
    element.logical = kByNumber[converted];
  } else if (converted >= 11 && converted <= 18) {  // UINT_8 … UINT_64, INT_8 … INT_64
    element.logical = Logical::integer;
    element.is_signed = converted >= 15;
    element.bits = 8 << (converted - 11) % 4;
  } else if (converted == 19) {
    element.logical = Logical::json;
  } else if (converted == 20) {
    element.logical = Logical::bson;
  }
}

std::string type_name(const SchemaElement& element) {
  const auto integer = [&](int bits) {
    return fmt::format("{}int{}", element.is_signed ? "" : "u",
                       element.bits > 0 ? element.bits : bits);
  };
  switch (element.logical) {
    case Logical::decimal:
      return "decimal";
    case Logical::date:
      return "date";
    case Logical::time:
      return "time";
    case Logical::timestamp:
      return "timestamp";
    case Logical::null:
      return "null";
    case Logical::bson:
      return "bson";
    case Logical::uuid:
      return "uuid";
    case Logical::float16:
      return "float16";
    default:
      break;
  }
  switch (*element.physical) {
    case ParquetPhysical::boolean:
      return "bool";
    case ParquetPhysical::int32:
      return integer(32);
    case ParquetPhysical::int64:
      return integer(64);
    case ParquetPhysical::int96:
      return "timestamp";
    case ParquetPhysical::float32:
      return "float32";
    case ParquetPhysical::float64:
      return "float64";
    case ParquetPhysical::byte_array:
      return element.logical == Logical::none ? "binary" : "string";
    case ParquetPhysical::fixed_byte_array:
      break;
  }
  return "fixed_size_binary";
}

bool is_plain_value(const SchemaElement& element) {
  const bool plain = element.logical == Logical::none || element.logical == Logical::string ||
                     element.logical == Logical::enumeration || element.logical == Logical::json ||
                     element.logical == Logical::integer;
  return plain && *element.physical != ParquetPhysical::int96 &&
         *element.physical != ParquetPhysical::fixed_byte_array;
}

/// Walks the schema, a tree listed depth first, and collects columns and leaves.
class SchemaWalk {
 public:
  SchemaWalk(const std::vector<SchemaElement>& elements, ParquetSchema& schema)
      : elements_(elements), schema_(schema) {}

  void run() {
    const SchemaElement& root = next();
    user_check(!root.physical, "the schema begins with a value; expected a group of columns");
    for (std::int64_t i = 0; i < root.children; ++i) read_column();
    user_check(position_ == elements_.size(),
               "the schema lists {} elements, its groups hold {}; the file is damaged",
               elements_.size(), position_);
  }

 private:
  const SchemaElement& next() {
    user_check(position_ < elements_.size(),
               "the schema lists {} elements, its groups hold more; the file is damaged",
               elements_.size());
    return elements_[position_++];
  }
  void read_column() {
    const std::size_t at = position_;
    schema_.first_leaf.push_back(schema_.leaves.size());
    const std::string type = read_type(0, {});
    const SchemaElement& element = elements_[at];
    const bool flat = element.physical && element.repetition != 2;
    schema_.columns.push_back({std::string(element.name), type, flat && is_plain_value(element),
                               is_list(schema_.first_leaf.back(), type)});
  }
  // Returns whether the last column is a single list of plain values. Other nested columns have other types:
  // list<struct>, struct, map.
  bool is_list(std::size_t leaf, const std::string& type) const {
    const SchemaElement& element = elements_[position_ - 1];
    return schema_.leaves.size() == leaf + 1 && schema_.leaves[leaf].levels.repetition == 1 &&
           is_plain_value(element) && type == fmt::format("list<{}>", type_name(element));
  }
  // Reads the next element, collects its leaves, and returns its type for messages.
  std::string read_type(int depth, ParquetLevels levels) {
    user_check(depth < kMaxSchemaDepth, "the schema is nested deeper than {}; the file is damaged",
               kMaxSchemaDepth);
    const SchemaElement& element = next();
    if (element.repetition != 0) ++levels.definition;
    if (element.repetition == 2) {
      ++levels.repetition;
      levels.element = levels.definition;
    }
    if (element.physical) {
      schema_.leaves.push_back({*element.physical, levels, !element.is_signed});
      const std::string name = type_name(element);
      return element.repetition == 2 ? fmt::format("list<{}>", name) : name;
    }
    std::string inner;
    for (std::int64_t i = 0; i < element.children; ++i) {
      std::string type = read_type(depth + 1, levels);
      if (i == 0) inner = std::move(type);
    }
    if (element.logical == Logical::map) return "map";
    // Omits the repeated group between a list and its element, an artifact of the encoding.
    const bool between = element.repetition == 2 && element.children == 1;
    if (between) return inner;
    if (element.logical == Logical::list) return fmt::format("list<{}>", inner);
    return "struct";
  }

  const std::vector<SchemaElement>& elements_;
  ParquetSchema& schema_;
  std::size_t position_ = 0;
};

}  // namespace

ParquetSchema read_parquet_schema(ThriftReader& reader, const ThriftField& field) {
  std::vector<SchemaElement> elements;
  reader.read_list(field, [&](const ThriftField& element) {
    elements.push_back(read_schema_element(reader, element));
    adopt_converted(elements.back());
  });
  ParquetSchema schema;
  SchemaWalk(elements, schema).run();
  return schema;
}

}  // namespace hone
