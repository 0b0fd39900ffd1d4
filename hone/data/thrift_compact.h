#pragma once

#include <cstdint>
#include <string_view>

#include "hone/base/byte_reader.h"
#include "hone/base/thread_pool.h"

/// Reads records in Apache Thrift's compact protocol (thrift-compact-protocol.md), which Parquet uses for its footer
/// and page headers.
namespace hone {

/// Types of values, with the numbers of the protocol.
enum class ThriftType : std::uint8_t {
  stop = 0,
  yes = 1,  // in fields, the type contains the value
  no = 2,
  int8 = 3,
  int16 = 4,
  int32 = 5,
  int64 = 6,
  real = 7,
  binary = 8,
  list = 9,
  set = 10,
  map = 11,
  record = 12
};

/// A field header; the reader is positioned at its value.
struct ThriftField {
  std::int64_t id = 0;
  ThriftType type = ThriftType::stop;
};

/// Reads a record sequentially. Nothing is stored, so a record takes no memory except in the caller. Lists are no
/// longer than the remaining bytes, and nesting is at most 64 deep.
///
///     reader.read_record([&](const ThriftField& field) {
///       if (field.id == 3) rows = reader.integer(field);
///       else reader.skip(field);
///     });
///
/// Throws `UserError` at the end of the bytes, or if a value has another type than requested.
class ThriftReader {
 public:
  explicit ThriftReader(std::string_view bytes) : bytes_(bytes) {}

  std::size_t position() const { return bytes_.position(); }

  /// Calls `read` for each field of the current record; it must read or skip the value.
  void read_record(FunctionRef<void(const ThriftField&)> read);
  /// The same for a field that contains a record.
  void read_record(const ThriftField& field, FunctionRef<void(const ThriftField&)> read);
  /// Calls `read` for each element of a field that is a list, in order.
  void read_list(const ThriftField& field, FunctionRef<void(const ThriftField&)> read);

  std::int64_t integer(const ThriftField& field);
  /// Reads an integer and checks that it is in [0, most].
  std::int64_t integer(const ThriftField& field, std::int64_t most);
  bool boolean(const ThriftField& field);
  std::string_view binary(const ThriftField& field);
  void skip(const ThriftField& field);

 private:
  class Depth;
  void expect(const ThriftField& field, ThriftType type) const;
  void skip_element(ThriftType type);

  ByteReader bytes_;
  int depth_ = 0;
  bool in_list_ = false;  // in lists, a boolean is a byte instead of a type
};

}  // namespace hone
