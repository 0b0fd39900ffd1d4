#include "hone/kernels/sparse_int8_matrix.h"

#include "tests/kernels/sparse_int8_testing.h"

namespace hone::kernels {
namespace {

using Words = std::vector<std::uint16_t>;

// Returns the stored codes (N,K). A second entry of the same quad adds codes where the first one has zeros.
Words restored_blocks(const SparseInt8Matrix& matrix, const SparseBytes& bytes) {
  const SparseLists lists = sparse_lists(matrix, bytes.data());
  const auto code_of = [&](std::int64_t entry, std::int64_t k) {
    if (matrix.bits == 8) return int{lists.codes[4 * entry + k]};
    return lists.codes[2 * entry + k / 2] >> k % 2 * 4 & 15;
  };
  Words codes(static_cast<std::size_t>(matrix.rows * matrix.columns));
  std::int64_t entry = 0;
  for (std::int64_t cell = 0; cell < matrix.cells(); ++cell) {
    const std::int64_t first_row = cell / matrix.panels() * kSparseOutputs,
                       first_quad = cell % matrix.panels() * matrix.panel_quads();
    for (std::int64_t i = cell * kSparseOutputs; i < (cell + 1) * kSparseOutputs; ++i) {
      const std::int64_t row = first_row + lists.outputs[i];
      for (const std::int64_t end = entry + lists.counts[i]; entry < end; ++entry) {
        const std::int64_t column = 4 * (first_quad + lists.quads[entry]);
        for (std::int64_t k = column; k < std::min(column + 4, matrix.columns); ++k)
          codes[static_cast<std::size_t>(row * matrix.columns + k)] |=
              static_cast<std::uint16_t>(code_of(entry, k - column));
      }
    }
    EXPECT_EQ(entry, lists.ends[cell]);
  }
  return codes;
}

template <typename Body>
void for_sparse_matrices(Body&& body) {
  for (const int bits : {8, 4}) {
    for (const std::int64_t rows : {0, 1, 63, 64, 65, 200}) {
      for (const std::int64_t columns : {0, 1, 4, 7, 100, 768, 772, 1600}) {
        for (const double stored : {0.0, 0.05, 0.5, 1.0}) {
          SCOPED_TRACE(fmt::format("{} x {} of {} bits, {} stored", rows, columns, bits, stored));
          body(SparseInt8Matrix{rows, columns, bits}, stored);
        }
      }
    }
  }
}

TEST(SparseInt8Matrix, StoresEveryCodeThatIsNotZero) {
  for_sparse_matrices([](const SparseInt8Matrix& matrix, double stored) {
    const Words codes = random_blocks(matrix, stored, 1);
    const SparseBytes bytes = arranged_blocks(matrix, codes);
    EXPECT_EQ(restored_blocks(matrix, bytes), codes);
  });
}

TEST(SparseInt8Matrix, StoresAnEntryForABlockAndTwoWherePairsAreLarge) {
  ThreadPool pool(1);
  const SparseInt8Matrix matrix{2, 12, 8};
  Words codes(24);
  codes[4] = 100;
  codes[5] = 28;
  codes[6] = codes[7] = 0x80;  // -128
  codes[12 + 8] = 1;
  const CountedInt8Blocks counted = count_blocks(pool, matrix, codes.data());
  EXPECT_EQ(counted.entries, 3);
  EXPECT_EQ(counted.blocks.kept, 2);
  EXPECT_EQ(counted.blocks.all, 6);
  const SparseBytes bytes = arranged_blocks(matrix, codes);
  const SparseLists lists = sparse_lists(matrix, bytes.data());
  EXPECT_EQ(lists.ends[0], 3u);
  EXPECT_EQ(lists.sums[0], -128);
  EXPECT_EQ(lists.sums[1], 1);
  EXPECT_EQ(lists.counts[0], 2);
  EXPECT_EQ(lists.counts[1], 1);
  EXPECT_EQ(lists.outputs[0], 0);
  const auto codes_of = [&](int entry) {
    const std::uint8_t* const at = lists.codes + 4 * entry;
    return std::vector<std::uint8_t>(at, at + 4);
  };
  EXPECT_EQ(codes_of(0), (std::vector<std::uint8_t>{100, 28, 128, 0}));
  EXPECT_EQ(codes_of(1), (std::vector<std::uint8_t>{0, 0, 0, 128}));
  EXPECT_EQ(codes_of(2), (std::vector<std::uint8_t>{1, 0, 0, 0}));
  EXPECT_EQ(std::vector<std::uint8_t>(lists.quads, lists.quads + 3),
            (std::vector<std::uint8_t>{1, 1, 2}));
  EXPECT_EQ(bytes.size(), sparse_bytes(matrix, 3));
  EXPECT_EQ(sparse_bytes(matrix, 3), 4u + 64 * (4 + 3) + 3 * 5);
  EXPECT_EQ(sparse_bytes(SparseInt8Matrix{2, 12, 4}, 3), 4u + 64 * (4 + 3) + 3 * 3);
}

TEST(SparseInt8Matrix, ListsOfACellAreSortedByLength) {
  const SparseInt8Matrix matrix{64, 400, 8};
  const SparseBytes bytes = arranged_blocks(matrix, random_blocks(matrix, 0.2, 2));
  const SparseLists lists = sparse_lists(matrix, bytes.data());
  EXPECT_TRUE(std::is_sorted(lists.counts, lists.counts + 64, std::greater<>()));
}

}  // namespace
}  // namespace hone::kernels
