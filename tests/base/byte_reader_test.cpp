#include "hone/base/byte_reader.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

TEST(ByteReader, ReadsFromFrontToBack) {
  ByteReader reader(std::string_view("\x01\x02rest\nmore", 11), 0);
  EXPECT_EQ(reader.number<std::uint16_t>(), 0x201);
  EXPECT_EQ(reader.line(), "rest");
  EXPECT_EQ(reader.remaining(), 4u);
  EXPECT_EQ(reader.take(4), "more");
  EXPECT_EQ(reader.position(), 11u);
}

TEST(ByteReader, ReadsNumbersInGroupsOfSevenBits) {
  EXPECT_EQ(ByteReader("\x7f").varint(), 127u);
  EXPECT_EQ(ByteReader("\xac\x02").varint(), 300u);
  EXPECT_EQ(ByteReader(std::string(9, '\xff') + "\x01").varint(), ~std::uint64_t{0});
  EXPECT_EQ(ByteReader("\x03").zigzag_varint(), -2);
  EXPECT_EQ(ByteReader("\x04").zigzag_varint(), 2);
  EXPECT_EQ(ByteReader(std::string(9, '\xff') + "\x01").zigzag_varint(), INT64_MIN);
}

TEST(ByteReader, RefusesToReadBeyondTheEnd) {
  expect_user_error("expected 3 bytes at byte 0, only 2 are left; the file is cut off or damaged",
                    [] { ByteReader("ab", 3); });
  expect_user_error("expected 18446744073709551615 bytes at byte 1, only 1 are left", [] {
    ByteReader reader("ab");
    reader.take(1);
    reader.take(~std::uint64_t{0});
  });
  expect_user_error("expected 4 bytes", [] { ByteReader("abc").number<std::uint32_t>(); });
  expect_user_error("expected a line at byte 0, found no end of it",
                    [] { ByteReader("abc").line(); });
  expect_user_error("expected 1 bytes at byte 2", [] { ByteReader("\xff\xff").varint(); });
  expect_user_error("expected a number of at most 10 bytes before byte 10",
                    [] { ByteReader(std::string(11, '\xff')).varint(); });
}

}  // namespace
}  // namespace hone
