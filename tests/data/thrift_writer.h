#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Writes records in Thrift's compact protocol, valid or not.
namespace hone::testing {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value > 0x7f; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
inline std::string zigzag(std::int64_t value) {
  return varint(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
}

/// A record; field ids may come in any order.
class ThriftRecord {
 public:
  ThriftRecord& integer(int id, std::int64_t value) { return field(id, 6, zigzag(value)); }
  ThriftRecord& binary(int id, std::string_view value) {
    return field(id, 8, varint(value.size()) + std::string(value));
  }
  ThriftRecord& boolean(int id, bool value) { return field(id, value ? 1 : 2, ""); }
  ThriftRecord& record(int id, const ThriftRecord& value) { return field(id, 12, value.bytes()); }
  ThriftRecord& records(int id, const std::vector<ThriftRecord>& values) {
    std::string list = "\xfc" + varint(values.size());
    for (const ThriftRecord& value : values) list += value.bytes();
    return field(id, 9, list);
  }
  /// Adds a field of this type with these bytes.
  ThriftRecord& field(int id, int type, std::string_view value) {
    fields_ += static_cast<char>(type) + zigzag(id) + std::string(value);
    return *this;
  }
  std::string bytes() const { return fields_ + std::string(1, '\0'); }

 private:
  std::string fields_;
};

}  // namespace hone::testing
