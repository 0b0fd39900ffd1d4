#include "hone/data/thrift_compact.h"

#include <gtest/gtest.h>

#include "tests/data/thrift_writer.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

using testing::ThriftRecord;
using testing::varint;

// Reads a record and calls `read` for each field.
template <typename Read>
void read_all(const std::string& bytes, Read&& read) {
  ThriftReader reader(bytes);
  reader.read_record([&](const ThriftField& field) { read(reader, field); });
  EXPECT_EQ(reader.position(), bytes.size());
}

void skip_all(const std::string& bytes) {
  read_all(bytes, [](ThriftReader& reader, const ThriftField& field) { reader.skip(field); });
}

TEST(Thrift, ReadsEachKindOfValue) {
  const std::string bytes = ThriftRecord()
                                .integer(1, -7)
                                .field(2, 3, "\xff")
                                .field(3, 5, testing::zigzag(1 << 20))
                                .binary(4, "text")
                                .boolean(5, true)
                                .boolean(6, false)
                                .bytes();
  std::vector<std::string> seen;
  read_all(bytes, [&](ThriftReader& reader, const ThriftField& field) {
    const std::string value = field.id <= 3   ? std::to_string(reader.integer(field))
                              : field.id == 4 ? std::string(reader.binary(field))
                                              : std::to_string(reader.boolean(field));
    seen.push_back(fmt::format("{}={}", field.id, value));
  });
  EXPECT_EQ(seen, (std::vector<std::string>{"1=-7", "2=-1", "3=1048576", "4=text", "5=1", "6=0"}));
}

TEST(Thrift, CountsFieldNumbersFromTheOneBefore) {
  // The upper four bits give steps of 3 and 15. Both fields are true.
  std::vector<std::int64_t> ids;
  read_all(std::string("\x31\xf1\0", 3),
           [&](ThriftReader&, const ThriftField& field) { ids.push_back(field.id); });
  EXPECT_EQ(ids, (std::vector<std::int64_t>{3, 18}));
}

TEST(Thrift, PassesOverWhatItIsToldTo) {
  const std::string map = varint(2) + "\x51" + varint(2) + "\1" + varint(4) + "\2";  // int to bool
  skip_all(ThriftRecord()
               .integer(1, 5)
               .binary(2, "x")
               .field(3, 7, "12345678")
               .record(4, ThriftRecord().boolean(1, true))
               .records(5, {ThriftRecord().integer(1, 1), ThriftRecord()})
               .field(6, 9, "\x31\1\2\1")  // three booleans, a byte each
               .field(7, 10, "\x15\2")     // a set of one integer
               .field(8, 11, map)
               .field(9, 11, std::string(1, '\0'))  // an empty map
               .bytes());
}

TEST(Thrift, RefusesWhatTheProtocolDoesNotHave) {
  const auto refuse = [](const std::string& message, const std::string& bytes) {
    expect_user_error(message, [&] { skip_all(bytes); });
  };
  refuse("expected one of Thrift's kinds of values, got 13", "\x1d");
  refuse("expected 1 bytes at byte 0, only 0 are left", "");
  refuse("a list says it has 1000 elements, only 0 bytes follow",
         "\x19\xfc" + testing::varint(1000));
  refuse("expected a field number of 16 bits, got 40000", "\x01" + testing::zigzag(40'000));
  refuse("values of no kind", ThriftRecord().field(1, 9, "\x10").bytes());
  refuse("expected a number of at most 10 bytes", "\x16" + std::string(11, '\xff'));
  refuse("expected 4294967295 bytes at byte", "\x18" + testing::varint(0xffffffff));
}

// Maps may claim a huge size, and records may nest without end. Neither exhausts stack or time.
TEST(Thrift, RefusesDepthAndLengthWithoutEnd) {
  expect_user_error("records are nested deeper than 64",
                    [] { skip_all(std::string(100'000, '\x1c')); });
  expect_user_error("records are nested deeper than 64",
                    [] { skip_all(std::string(100'000, '\x19')); });
  expect_user_error("only 0 are left",
                    [] { skip_all("\x1b" + testing::varint(~std::uint64_t{0}) + "\x55"); });
}

TEST(Thrift, NamesAFieldOfAnotherKind) {
  const auto refuse = [](const std::string& message, auto&& read) {
    expect_user_error(message,
                      [&] { read_all(ThriftRecord().field(7, 7, "12345678").bytes(), read); });
  };
  refuse("field 7 before byte 2: expected Thrift kind 6, got 7",
         [](ThriftReader& reader, const ThriftField& field) { reader.integer(field); });
  refuse("expected Thrift kind 8, got 7",
         [](ThriftReader& reader, const ThriftField& field) { reader.binary(field); });
  refuse("expected Thrift kind 1, got 7",
         [](ThriftReader& reader, const ThriftField& field) { reader.boolean(field); });
  expect_user_error("field 3 before byte 3: expected a number from 0 to 9, got -1", [] {
    read_all(ThriftRecord().integer(3, -1).bytes(),
             [](ThriftReader& reader, const ThriftField& field) { reader.integer(field, 9); });
  });
}

}  // namespace
}  // namespace hone
