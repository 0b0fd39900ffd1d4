#include "hone/data/parquet_values.h"

#include <gtest/gtest.h>

#include "tests/data/thrift_writer.h"
#include "tests/support/expect.h"

// Pages built by hand. parquet_test.cpp reads files of real writers.
namespace hone {
namespace {

using testing::varint;
using testing::zigzag;
using Integers = std::vector<std::int64_t>;
using Strings = std::vector<std::string_view>;
using enum ParquetEncoding;
using enum ParquetPhysical;

DecodedValues decode(const std::string& bytes, ParquetEncoding encoding, ParquetPhysical physical,
                     std::int64_t count, const ParquetValues* dictionary = nullptr) {
  MemoryBudget budget(1000);
  return decode_values(bytes, encoding, physical, count, dictionary, budget);
}

void expect_refused(const std::string& message, const std::string& bytes, ParquetEncoding encoding,
                    ParquetPhysical physical, std::int64_t count,
                    const ParquetValues* dictionary = nullptr) {
  expect_user_error(message, [&] { decode(bytes, encoding, physical, count, dictionary); });
}

const ParquetValues kThree = Integers{10, 20, 30};

TEST(ParquetValues, LooksUpRunsAndPackedIndices) {
  // Width 2: a run of five times 2, then a packed group of eight: 0 1 2 0 1 2 0 1.
  const std::string bytes =
      std::string("\x02") + varint(5 << 1) + "\x02" + varint(1 << 1 | 1) + "\x24\x49";
  EXPECT_EQ(std::get<Integers>(decode(bytes, rle_dictionary, int64, 12, &kThree).values),
            (Integers{30, 30, 30, 30, 30, 10, 20, 30, 10, 20, 30, 10}));
}

TEST(ParquetValues, LooksUpIndicesOfNoBits) {
  EXPECT_EQ(std::get<Integers>(
                decode(std::string(1, '\0') + varint(3 << 1), plain_dictionary, int64, 3, &kThree)
                    .values),
            (Integers{10, 10, 10}));
}

TEST(ParquetValues, RefusesIndicesThatMeanNothing) {
  expect_refused("a page refers to a dictionary, the column has none", "\x01", rle_dictionary,
                 int64, 1);
  expect_refused("indices of 33 bits; expected at most 32", "\x21", rle_dictionary, int64, 1,
                 &kThree);
  expect_refused("a run of no values", std::string("\x02\x00", 2), rle_dictionary, int64, 1,
                 &kThree);
  expect_refused("a value has number 3 in a dictionary of 3", "\x02\x02\x03", rle_dictionary, int64,
                 1, &kThree);
  expect_refused("only 0 are left", "\x02\x02", rle_dictionary, int64, 1, &kThree);
}

TEST(ParquetValues, RefusesMoreValuesThanBytes) {
  expect_refused("3 values do not fit the 11 bytes of their page", "12345678123", plain, int32, 3);
  expect_refused("2 values do not fit the 15 bytes of their page", "123456781234567", plain,
                 float64, 2);
  expect_refused("9 values do not fit the 1 bytes of their page", "1", plain, boolean, 9);
  expect_refused("expected 4294967295 bytes at byte 4, only 3 are left",
                 "\xff\xff\xff\xff"
                 "abc",
                 plain, byte_array, 1);
}

TEST(ParquetValues, RefusesStreamsThatAreTooShort) {
  expect_refused("2 values do not fit the 15 bytes of their page", "123456781234567",
                 byte_stream_split, float64, 2);
}

TEST(ParquetValues, RefusesDictionariesOfBooleansOrInOtherEncodings) {
  expect_user_error("a dictionary in encoding 3", [] { decode_dictionary("", rle, int64, 0); });
  expect_user_error("one of booleans", [] { decode_dictionary("", plain, boolean, 0); });
}

// Returns a block of 128 values in 4 miniblocks.
std::string deltas(std::uint64_t total, std::int64_t first, const std::string& rest,
                   std::uint64_t per_block = 128, std::uint64_t miniblocks = 4) {
  return varint(per_block) + varint(miniblocks) + varint(total) + zigzag(first) + rest;
}

TEST(ParquetValues, AddsUpDifferences) {
  // The example of Encodings.md: 1 2 3 4 5. All differences are equal and take no bits.
  EXPECT_EQ(std::get<Integers>(decode(deltas(5, 1, zigzag(1) + std::string(4, '\0')),
                                      delta_binary_packed, int64, 5)
                                   .values),
            (Integers{1, 2, 3, 4, 5}));
  // 64-bit differences wrap around.
  const std::string wide =
      zigzag(0) + std::string("\x40\0\0\0", 4) + std::string(8, '\xff') + std::string(31 * 8, '\0');
  EXPECT_EQ(std::get<Integers>(decode(deltas(2, 5, wide), delta_binary_packed, int64, 2).values),
            (Integers{5, 4}));
}

TEST(ParquetValues, RefusesDifferencesThatDoNotAddUp) {
  const auto refuse = [](const std::string& message, const std::string& bytes) {
    expect_refused(message, bytes, delta_binary_packed, int64, 5);
  };
  refuse("differences in blocks of 100 values, 4 miniblocks each", deltas(5, 1, "", 100));
  refuse("differences in blocks of 128 values, 0 miniblocks each", deltas(5, 1, "", 128, 0));
  refuse("differences in blocks of 4294967296 values", deltas(5, 1, "", std::uint64_t{1} << 32));
  refuse("expected 5 values, the differences give 6", deltas(6, 1, ""));
  refuse("differences of 65 bits", deltas(5, 1, zigzag(0) + "AAAA"));
  refuse("only 0 are left", deltas(5, 1, zigzag(0) + "\x08\x08\x08\x08"));
}

// Encodes two strings: lengths, then bytes.
std::string lengths(std::int64_t first, std::int64_t second) {
  return deltas(2, first, zigzag(second - first) + std::string(4, '\0'));
}

TEST(ParquetValues, PutsStringsTogetherOfPieces) {
  EXPECT_EQ(std::get<Strings>(
                decode(lengths(3, 2) + "onetw", delta_length_byte_array, byte_array, 2).values),
            (Strings{"one", "tw"}));
  const DecodedValues decoded =
      decode(lengths(0, 2) + lengths(4, 1) + "onlye", delta_byte_array, byte_array, 2);
  EXPECT_EQ(std::get<Strings>(decoded.values), (Strings{"only", "one"}));
}

TEST(ParquetValues, RefusesPiecesThatDoNotFit) {
  expect_refused("a string of -1 bytes", lengths(3, -1) + "one", delta_length_byte_array,
                 byte_array, 2);
  expect_refused("expected 9 bytes at byte", lengths(3, 9) + "one", delta_length_byte_array,
                 byte_array, 2);
  expect_refused("a string shares 1 bytes with the one before, which has 0",
                 lengths(1, 0) + lengths(1, 1) + "ab", delta_byte_array, byte_array, 2);
  expect_refused("the column would take more than 1000 B of memory",
                 lengths(0, 600) + lengths(600, 0) + std::string(600, 'x'), delta_byte_array,
                 byte_array, 2);
}

TEST(ParquetValues, RefusesEncodingsOfOtherTypes) {
  const std::string message = "are not read in a column of this type";
  expect_refused("values in encoding 3 " + message, "", rle, int64, 0);
  expect_refused("values in encoding 5 " + message, "", delta_binary_packed, byte_array, 0);
  expect_refused("values in encoding 6 " + message, "", delta_length_byte_array, int64, 0);
  expect_refused("values in encoding 9 " + message, "", byte_stream_split, byte_array, 0);
  expect_refused("values in encoding 7 " + message, "", delta_byte_array, float64, 0);
}

TEST(ParquetValues, FindsTheFirstNull) {
  EXPECT_EQ(find_null(varint(9 << 1) + "\x01", 9), 9);
  EXPECT_EQ(find_null(varint(4 << 1) + "\x01" + varint(2 << 1) + std::string(1, '\0'), 6), 4);
  EXPECT_EQ(find_null("\x03\xfb", 8), 2);
}

}  // namespace
}  // namespace hone
