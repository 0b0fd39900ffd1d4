#pragma once

#include <cstdint>
#include <string_view>

#include "hone/base/byte_reader.h"
#include "hone/base/thread_pool.h"

/// Records in Apache Thrift's compact protocol (thrift-compact-protocol.md), in which Parquet keeps its footer and
/// the headers of its pages.
namespace hone {

/// The kinds of values; numbers as in the protocol.
enum class ThriftType : std::uint8_t {
  stop = 0,
  yes = 1,  // of a field: the value itself is in the type
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

/// A field whose value the reader stands before.
struct ThriftField {
  std::int64_t id = 0;
  ThriftType type = ThriftType::stop;
};

/// Reads a record from front to back. Nothing is kept, so a record costs no memory but what the caller makes of it;
/// lists are no longer than the bytes that are left, nesting is at most 64 deep.
///
///     reader.read_record([&](const ThriftField& field) {
///       if (field.id == 3) rows = reader.integer(field);
///       else reader.skip(field);
///     });
///
/// Throws `UserError` where the bytes end, or a value is of another kind than asked for.
class ThriftReader {
 public:
  explicit ThriftReader(std::string_view bytes) : bytes_(bytes) {}

  std::size_t position() const { return bytes_.position(); }

  /// Calls `read` for each field of the record at hand; it must read or skip the value.
  void read_record(FunctionRef<void(const ThriftField&)> read);
  /// The same of a field that is a record.
  void read_record(const ThriftField& field, FunctionRef<void(const ThriftField&)> read);
  /// Calls `read` for each element of a field that is a list, in order.
  void read_list(const ThriftField& field, FunctionRef<void(const ThriftField&)> read);

  std::int64_t integer(const ThriftField& field);
  /// An integer that must lie in [0, most].
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
  bool in_list_ = false;  // the value of a boolean is a byte there, not in its type
};

}  // namespace hone
