#include "hone/kernels/packed_matrix.h"

#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Words = std::vector<std::uint16_t>;

Words random_codes(std::int64_t count, int bits, std::uint64_t stream) {
  RandomSequence random(5, stream);
  Words codes(static_cast<std::size_t>(count));
  for (std::uint16_t& code : codes) code = static_cast<std::uint16_t>(random.below(1u << bits));
  return codes;
}

Bytes arranged(const PackedMatrix& matrix, const Words& codes) {
  return same_for_any_threads([&](ThreadPool& pool) {
    Bytes packed(packed_bytes(matrix), 0xaa);
    arrange(pool, matrix, codes.data(), packed.data());
    return packed;
  });
}

std::uint16_t sign_bit(int bits) { return static_cast<std::uint16_t>(1 << (bits - 1)); }

// Runs `body` for all bit widths and for sizes near those of units and panels.
template <typename Body>
void for_matrices(Body&& body) {
  for (int bits = 1; bits <= 16; ++bits) {
    for (const std::int64_t rows : {1, 31, 32, 33, 70}) {
      for (const std::int64_t columns : {1, 4, 7, 32, 33, 100}) {
        for (const std::uint16_t flip : {std::uint16_t{0}, sign_bit(bits)}) {
          SCOPED_TRACE(fmt::format("{} x {} of {} bits, flip {}", rows, columns, bits, flip));
          body(PackedMatrix{rows, columns, bits, flip});
        }
      }
    }
  }
}

TEST(PackedMatrix, PlanesHoldTheHighestBitsInTheWidest) {
  const auto text = [](int bits) {
    std::string planes;
    for (const BitPlane& plane : bit_planes(bits))
      planes += fmt::format("{}<<{} ", plane.bits, plane.shift);
    return planes;
  };
  EXPECT_EQ(text(16), "16<<0 ");
  EXPECT_EQ(text(13), "8<<5 4<<1 1<<0 ");
  EXPECT_EQ(text(8), "8<<0 ");
  EXPECT_EQ(text(7), "4<<3 2<<1 1<<0 ");
  EXPECT_EQ(text(6), "4<<2 2<<0 ");
  EXPECT_EQ(text(5), "4<<1 1<<0 ");
  EXPECT_EQ(text(3), "2<<1 1<<0 ");
  EXPECT_EQ(text(1), "1<<0 ");
}

TEST(PackedMatrix, BytesOfEightBitsLieAsQuadsOfColumns) {
  // byte (n/32 K/4 + k/4) 128 + n%32 4 + k%4
  const PackedMatrix matrix{40, 8, 8, 0x80};
  const Words codes = random_codes(40 * 8, 8, 1);
  const Bytes packed = arranged(matrix, codes);
  ASSERT_EQ(packed.size(), 64u * 8);
  for (int n = 0; n < 64; ++n) {
    for (int k = 0; k < 8; ++k) {
      const int code = n < 40 ? codes[n * 8 + k] : 0;
      ASSERT_EQ(packed[(n / 32 * 2 + k / 4) * 128 + n % 32 * 4 + k % 4], code ^ 0x80)
          << n << "," << k;
    }
  }
}

TEST(PackedMatrix, WordsOfSixteenBitsLieAsPairsOfColumns) {
  // byte (n/32 K/2 + k/2) 128 + n%32 4 + k%2 2, lowest byte first
  const PackedMatrix matrix{40, 5, 16};
  const Words codes = random_codes(40 * 5, 16, 1);
  const Bytes packed = arranged(matrix, codes);
  ASSERT_EQ(packed.size(), 64u * 6 * 2);
  for (int n = 0; n < 64; ++n) {
    for (int k = 0; k < 6; ++k) {
      const std::uint8_t* const at = &packed[(n / 32 * 3 + k / 2) * 128 + n % 32 * 4 + k % 2 * 2];
      ASSERT_EQ(at[0] | at[1] << 8, n < 40 && k < 5 ? codes[n * 5 + k] : 0) << n << "," << k;
    }
  }
}

TEST(PackedMatrix, HalfBytesHoldTheFirstFourOfEightColumnsLow) {
  const PackedMatrix matrix{32, 16, 4};
  const Words codes = random_codes(32 * 16, 4, 1);
  const Bytes packed = arranged(matrix, codes);
  ASSERT_EQ(packed.size(), 32u * 8);
  for (int n = 0; n < 32; ++n) {
    for (int k = 0; k < 16; ++k) {
      const int byte = packed[k / 8 * 128 + n * 4 + k % 4];
      ASSERT_EQ(k / 4 % 2 == 0 ? byte & 15 : byte >> 4, codes[n * 16 + k]) << n << "," << k;
    }
  }
}

TEST(PackedMatrix, PlanesOfAPanelFollowEachOther) {
  // 5 bits: 32 columns in units of 8 for the upper four bits, then one unit for the lowest
  const PackedMatrix matrix{1, 32, 5};
  const Words codes = random_codes(32, 5, 1);
  const Bytes packed = arranged(matrix, codes);
  ASSERT_EQ(packed.size(), 32u * 32 * 5 / 8);
  for (int k = 0; k < 32; ++k) {
    const int upper = packed[k / 8 * 128 + k % 4] >> (k / 4 % 2 * 4) & 15;
    const int lowest = packed[4 * 128 + k % 4] >> (k / 4) & 1;
    ASSERT_EQ(upper << 1 | lowest, codes[k]) << k;
  }
}

TEST(PackedMatrix, IsRestoredFromPanels) {
  for_matrices([](const PackedMatrix& matrix) {
    const Words codes = random_codes(matrix.rows * matrix.columns, matrix.bits, 2);
    const Bytes packed = arranged(matrix, codes);
    EXPECT_EQ(same_for_any_threads([&](ThreadPool& pool) {
                Words back(codes.size(), 0xaaaa);
                restore(pool, matrix, packed.data(), back.data());
                return back;
              }),
              codes);
  });
}

TEST(PackedMatrix, TakesTheBytesOfWholeUnits) {
  const auto bytes = [](std::int64_t rows, std::int64_t columns, int bits) {
    return packed_bytes({rows, columns, bits});
  };
  EXPECT_EQ(bytes(768, 768, 16), 768u * 768 * 2);
  EXPECT_EQ(bytes(33, 5, 16), 64u * 6 * 2);
  EXPECT_EQ(bytes(768, 768, 8), 768u * 768);
  EXPECT_EQ(bytes(768, 768, 6), 768u * 768 * 6 / 8);
  EXPECT_EQ(bytes(2, 768, 4), 32u * 768 / 2);
  EXPECT_EQ(bytes(33, 5, 8), 64u * 8);
  EXPECT_EQ(bytes(32, 5, 4), 32u * 8 / 2);
  EXPECT_EQ(bytes(32, 17, 6), 32u * 32 * 6 / 8);
  EXPECT_EQ(bytes(32, 1, 3), 32u * 32 * 3 / 8);
  EXPECT_EQ(bytes(0, 5, 8), 0u);
  EXPECT_EQ(packed_scale_bytes(33, 3), 64u * 3);
}

TEST(PackedMatrix, ScalesLieByBlockWithinAPanel) {
  const std::int64_t rows = 40, blocks = 3;
  const Words drawn = random_codes(rows * blocks, 8, 3);
  const Bytes scales(drawn.begin(), drawn.end());
  const Bytes packed = same_for_any_threads([&](ThreadPool& pool) {
    Bytes result(packed_scale_bytes(rows, blocks), 0xaa);
    arrange_scales(pool, rows, blocks, scales.data(), result.data());
    return result;
  });
  for (int n = 0; n < 64; ++n) {
    for (int b = 0; b < blocks; ++b)
      ASSERT_EQ(packed[(n / 32 * blocks + b) * 32 + n % 32], n < rows ? scales[n * blocks + b] : 0);
  }
  ThreadPool pool(2);
  Bytes back(scales.size());
  restore_scales(pool, rows, blocks, packed.data(), back.data());
  EXPECT_EQ(back, scales);
}

TEST(PackedRows, EveryRowIsGatheredFromItsOwnBytes) {
  for_matrices([](const PackedMatrix& matrix) {
    const Words codes = random_codes(matrix.rows * matrix.columns, matrix.bits, 4);
    const Bytes packed = same_for_any_threads([&](ThreadPool& pool) {
      Bytes result(packed_rows_bytes(matrix), 0xaa);
      arrange_rows(pool, matrix, codes.data(), result.data());
      return result;
    });
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      Words got(static_cast<std::size_t>(matrix.columns));
      gather_packed_row(matrix, packed.data(), row, got.data());
      ASSERT_TRUE(std::equal(got.begin(), got.end(), codes.begin() + row * matrix.columns)) << row;
    }
  });
}

TEST(PackedRows, PlanesOfARowEndWithWholeBytes) {
  EXPECT_EQ(packed_row_bytes({9, 5, 16}), 10u);
  EXPECT_EQ(packed_row_bytes({9, 128, 8}), 128u);
  EXPECT_EQ(packed_row_bytes({9, 5, 4}), 3u);
  EXPECT_EQ(packed_row_bytes({9, 5, 6}), 3u + 2u);
  EXPECT_EQ(packed_row_bytes({9, 9, 3}), 3u + 2u);
  EXPECT_EQ(packed_rows_bytes({9, 9, 3}), 9u * 5);
  // 6 bits: the upper four of three codes in two bytes, the lower two in one
  ThreadPool pool(1);
  const Words codes = {0b010101, 0b111110, 0b000011};
  Bytes packed(packed_rows_bytes({1, 3, 6}));
  arrange_rows(pool, {1, 3, 6}, codes.data(), packed.data());
  EXPECT_EQ(packed, (Bytes{0b1111'0101, 0b0000'0000, 0b00'11'10'01}));
}

TEST(PackedMatrix, RefusesWidthsThatAreNone) {
  ThreadPool pool(1);
  Words code(1);
  Bytes byte(1);
  EXPECT_THROW(bit_planes(0), InternalError);
  EXPECT_THROW(bit_planes(17), InternalError);
  EXPECT_THROW(arrange(pool, {1, 1, 4, 0x80}, code.data(), byte.data()), InternalError);
}

}  // namespace
}  // namespace hone::kernels
