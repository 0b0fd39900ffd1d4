#include "hone/data/thrift_compact.h"

namespace hone {
namespace {

constexpr int kMaxDepth = 64;

ThriftType checked_type(int value) {
  user_check(value <= static_cast<int>(ThriftType::record),
             "expected one of Thrift's kinds of values, got {}; the file is damaged", value);
  return static_cast<ThriftType>(value);
}

}  // namespace

/// Counts the nesting depth of records and lists during its lifetime.
class ThriftReader::Depth {
 public:
  Depth(ThriftReader& reader, bool in_list) : reader_(reader), outer_in_list_(reader.in_list_) {
    user_check(reader.depth_ < kMaxDepth, "records are nested deeper than {}; the file is damaged",
               kMaxDepth);
    ++reader.depth_;
    reader.in_list_ = in_list;
  }
  ~Depth() {
    --reader_.depth_;
    reader_.in_list_ = outer_in_list_;
  }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;

 private:
  ThriftReader& reader_;
  bool outer_in_list_;
};

void ThriftReader::read_record(FunctionRef<void(const ThriftField&)> read) {
  const Depth depth(*this, /*in_list=*/false);
  std::int64_t id = 0;
  for (;;) {
    const auto header = bytes_.number<std::uint8_t>();
    const ThriftType type = checked_type(header & 0x0f);
    if (type == ThriftType::stop) return;
    const int step = header >> 4;
    id = step != 0 ? id + step : bytes_.zigzag_varint();
    user_check(id >= INT16_MIN && id <= INT16_MAX,
               "expected a field number of 16 bits, got {}; the file is damaged", id);
    read({id, type});
  }
}

void ThriftReader::read_record(const ThriftField& field,
                               FunctionRef<void(const ThriftField&)> read) {
  expect(field, ThriftType::record);
  read_record(read);
}

void ThriftReader::read_list(const ThriftField& field, FunctionRef<void(const ThriftField&)> read) {
  expect(field, ThriftType::list);
  const Depth depth(*this, /*in_list=*/true);
  const auto header = bytes_.number<std::uint8_t>();
  const std::uint64_t count = header >> 4 == 15 ? bytes_.varint() : header >> 4;
  const ThriftType type = checked_type(header & 0x0f);
  user_check(count <= bytes_.remaining(),
             "a list says it has {} elements, only {} bytes follow; the file is damaged", count,
             bytes_.remaining());
  for (std::uint64_t i = 0; i < count; ++i) read({static_cast<std::int64_t>(i), type});
}

void ThriftReader::expect(const ThriftField& field, ThriftType type) const {
  user_check(field.type == type,
             "field {} before byte {}: expected Thrift kind {}, got {}; the file is damaged",
             field.id, bytes_.position(), static_cast<int>(type), static_cast<int>(field.type));
}

std::int64_t ThriftReader::integer(const ThriftField& field) {
  if (field.type == ThriftType::int8) return bytes_.number<std::int8_t>();
  const bool varint = field.type == ThriftType::int16 || field.type == ThriftType::int32;
  if (!varint) expect(field, ThriftType::int64);
  return bytes_.zigzag_varint();
}

std::int64_t ThriftReader::integer(const ThriftField& field, std::int64_t most) {
  const std::int64_t value = integer(field);
  user_check(value >= 0 && value <= most,
             "field {} before byte {}: expected a number from 0 to {}, got {}; the file is damaged",
             field.id, bytes_.position(), most, value);
  return value;
}

bool ThriftReader::boolean(const ThriftField& field) {
  if (field.type != ThriftType::no) expect(field, ThriftType::yes);
  if (in_list_) return bytes_.number<std::uint8_t>() == static_cast<int>(ThriftType::yes);
  return field.type == ThriftType::yes;
}

std::string_view ThriftReader::binary(const ThriftField& field) {
  expect(field, ThriftType::binary);
  return bytes_.take(bytes_.varint());
}

// Skips a key or value of a map, where booleans are bytes as in a list.
void ThriftReader::skip_element(ThriftType type) {
  const Depth depth(*this, /*in_list=*/true);
  skip({0, type});
}

void ThriftReader::skip(const ThriftField& field) {
  const auto ignore = [this](const ThriftField& inner) { skip(inner); };
  switch (field.type) {
    case ThriftType::stop:
      fail("a list or map holds values of no kind before byte {}; the file is damaged",
           bytes_.position());
    case ThriftType::yes:
    case ThriftType::no:
      boolean(field);
      return;
    case ThriftType::int8:
    case ThriftType::int16:
    case ThriftType::int32:
    case ThriftType::int64:
      integer(field);
      return;
    case ThriftType::real:
      bytes_.take(8);
      return;
    case ThriftType::binary:
      binary(field);
      return;
    case ThriftType::list:
    case ThriftType::set:
      return read_list({field.id, ThriftType::list}, ignore);
    case ThriftType::map: {
      const std::uint64_t count = bytes_.varint();
      if (count == 0) return;
      const auto types = bytes_.number<std::uint8_t>();
      const ThriftType key = checked_type(types >> 4);
      const ThriftType value = checked_type(types & 0x0f);
      for (std::uint64_t i = 0; i < count; ++i) {
        skip_element(key);
        skip_element(value);
      }
      return;
    }
    case ThriftType::record:
      return read_record(ignore);
  }
}

}  // namespace hone
