#include "hone/kernels/sparse_float_matrix.h"

#include <cstring>

#include "tests/kernels/sparse_float_testing.h"

namespace hone::kernels {
namespace {

// Returns values of which a share is zero, some of them -0.
std::vector<float> sparse_values(std::int64_t count, double sparsity) {
  RandomSequence random(5, static_cast<std::uint64_t>(count));
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values)
    value = (random.uniform() < sparsity ? 0.0f : 1.0f) * static_cast<float>(random.normal());
  return values;
}

TEST(SparseFloatMatrix, StoresEveryValueThatIsNotZero) {
  ThreadPool pool(1);
  for (const int together : {4, 1}) {
    for (const int bits : {32, 16}) {
      for (const std::int64_t rows : {0, 1, 3, 4, 5, 70}) {
        for (const std::int64_t columns : {0, 1, 33, 768, 769, 2000}) {
          for (const double sparsity : {0.0, 0.9, 1.0}) {
            const SparseFloatMatrix matrix{rows, columns, together, bits};
            SCOPED_TRACE(
                fmt::format("{} x {}, {} together, {} bits", rows, columns, together, bits));
            std::vector<float> dense = sparse_values(rows * columns, sparsity);
            const PackedBytes packed = pack_sparse(matrix, dense);
            if (bits == 16) {
              std::vector<std::uint16_t> halves(dense.size());
              float_to_bfloat16(pool, rows * columns, dense.data(), halves.data());
              bfloat16_to_float(pool, rows * columns, halves.data(), dense.data());
            }
            ASSERT_EQ(unpack_sparse(matrix, packed), dense);
          }
        }
      }
    }
  }
}

TEST(SparseFloatMatrix, StoresEndsColumnsAndValues) {
  const std::vector<float> dense = {0, 1, 0, 0, 2, 0,  //
                                    0, 0, 0, 0, 0, 0,  //
                                    0, 3, 0, 0, 0, 0,  //
                                    0, 0, 0, 0, 0, 0,  //
                                    0, 0, 0, 0, 0, -1};
  const SparseFloatMatrix blocks{5, 6, 4, 16};
  const PackedBytes expected = {2,    0,    0, 0, 3,    0,    0, 0,  // ends
                                1,    0,    4, 0, 5,    0,    0, 0,  // columns, with one of padding
                                0x80, 0x3f, 0, 0, 0x40, 0x40, 0, 0,  // 1, 0, 3, 0
                                0,    0x40, 0, 0, 0,    0,    0, 0,  // 2, 0, 0, 0
                                0x80, 0xbf, 0, 0, 0,    0,    0, 0};  // -1 and padding rows
  EXPECT_EQ(pack_sparse(blocks, dense), expected);
  const SparseFloatMatrix single{5, 6, 1, 16};
  const PackedBytes lists = {2, 0, 0, 0, 2,    0,    0, 0,    3,    0,    0,    0,
                             3, 0, 0, 0, 4,    0,    0, 0,    1,    0,    4,    0,
                             1, 0, 5, 0, 0x80, 0x3f, 0, 0x40, 0x40, 0x40, 0x80, 0xbf};
  EXPECT_EQ(pack_sparse(single, dense), lists);
}

TEST(SparseFloatMatrix, KeepsValuesThatAreNoNumbersAndDropsNegativeZeros) {
  const SparseFloatMatrix matrix{1, 4, 1, 32};
  const std::vector<float> dense = {-0.0f, kNan, -kInfinity, 0x1p-149f};
  const PackedBytes packed = pack_sparse(matrix, dense);
  EXPECT_EQ(packed.size(), 4u + 8u + 12u);
  const std::vector<float> restored = unpack_sparse(matrix, packed);
  EXPECT_FALSE(std::signbit(restored[0]));
  EXPECT_TRUE(std::isnan(restored[1]));
  EXPECT_EQ(restored[2], -kInfinity);
  EXPECT_EQ(restored[3], 0x1p-149f);
}

}  // namespace
}  // namespace hone::kernels
