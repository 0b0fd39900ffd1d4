#include "hone/formats/codes.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone::testing {
namespace {

TEST(Codes, ArePackedWithoutGapsLowestBitsFirst) {
  const std::vector<std::byte> bytes = pack({{1, 2, 7}, {0xAB}}, {3, 8, 1});
  // 1, 2 and 7 in three bits each: 001, 010, 111 from the lowest bit on. Then the shared byte.
  EXPECT_EQ(bytes,
            (std::vector<std::byte>{std::byte{0b11010001}, std::byte{0b1}, std::byte{0xAB}}));
}

TEST(Codes, ComeBackFromAnyNumberOfBits) {
  for (int bits = 1; bits <= 32; ++bits) {
    const std::uint32_t all = static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1);
    const Codes codes{{all, 0, 0x5A5A5A5A & all, 1, all}, {all, 0}};
    const CodeLayout layout{bits, bits, 2};
    const Codes again = unpack(pack(codes, layout), layout, 5);
    EXPECT_EQ(again.elements, codes.elements) << bits;
    EXPECT_EQ(again.shared, codes.shared) << bits;
  }
}

TEST(Codes, AreTwosComplement) {
  for (const int bits : {2, 8, 31, 32}) {
    const std::int64_t half = std::int64_t{1} << (bits - 1);
    for (const std::int64_t value : {-half, std::int64_t{-1}, std::int64_t{0}, half - 1})
      EXPECT_EQ(signed_value(signed_code(value, bits), bits), value) << bits;
  }
  EXPECT_EQ(signed_code(-1, 4), 15u);
}

TEST(Codes, RefuseBytesOfAnotherSize) {
  expect_user_error("packed codes: expected 3 bytes, got 2", [] {
    unpack(std::vector<std::byte>(2), {8, 0, 0}, 3);
  });
}

}  // namespace
}  // namespace hone::testing
