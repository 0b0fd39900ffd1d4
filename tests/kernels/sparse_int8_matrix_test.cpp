#include "hone/kernels/sparse_int8_matrix.h"

#include "tests/kernels/sparse_int8_testing.h"

namespace hone::kernels {
namespace {

using Words = std::vector<std::uint16_t>;

Words restored_blocks(const SparseInt8Matrix& matrix, const SparseBytes& bytes) {
  return same_for_any_threads([&](ThreadPool& pool) {
    Words codes(static_cast<std::size_t>(matrix.rows * matrix.columns), 77);
    restore(pool, matrix, bytes.data(), codes.data());
    return codes;
  });
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

TEST(SparseInt8Matrix, RestoresTheCodes) {
  for_sparse_matrices([](const SparseInt8Matrix& matrix, double stored) {
    const Words codes = random_blocks(matrix, stored, 1);
    const SparseBytes bytes = arranged_blocks(matrix, codes);
    EXPECT_EQ(restored_blocks(matrix, bytes), codes);
    EXPECT_EQ(sparse_int8_error(matrix, bytes.data(), bytes.size()), "");
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
  EXPECT_EQ(count_entries(pool, matrix, codes.data()), 3);
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

// Bytes of two groups and two panels, of codes so small that none are split, with one thing changed.
class SparseMatrixErrors : public ::testing::Test {
 protected:
  const SparseInt8Matrix matrix{70, 1001, 8};
  SparseBytes bytes = arranged_blocks(matrix, random_blocks({70, 1001, 4}, 0.3, 3));

  std::uint8_t* part(const void* at) {
    return bytes.data() + (static_cast<const std::uint8_t*>(at) - bytes.data());
  }
  SparseLists lists() const { return sparse_lists(matrix, bytes.data()); }
  void expect_error(const std::string& text) const {
    const std::string error = sparse_int8_error(matrix, bytes.data(), bytes.size());
    EXPECT_NE(error.find(text), std::string::npos) << error;
  }
};

TEST_F(SparseMatrixErrors, AreFoundInSizes) {
  EXPECT_NE(sparse_int8_error(matrix, bytes.data(), bytes.size() - 1), "");
  EXPECT_NE(sparse_int8_error(matrix, bytes.data(), 8), "");
  bytes.resize(bytes.size() + 1);
  expect_error("bytes, not");
}

TEST_F(SparseMatrixErrors, AreFoundInEnds) {
  const std::uint32_t large = 0xffffff00u;
  std::memcpy(part(lists().ends), &large, sizeof(large));
  expect_error("cell 0: it ends before it begins");
}

TEST_F(SparseMatrixErrors, AreFoundInCounts) {
  part(lists().counts)[1] = 200;
  expect_error("do not add up");
}

TEST_F(SparseMatrixErrors, AreFoundInTheOrderOfLists) {
  std::swap(part(lists().counts)[0], part(lists().counts)[2 * 63]);
  expect_error("order of their lengths");
}

TEST_F(SparseMatrixErrors, AreFoundInOutputs) {
  part(lists().outputs)[0] = part(lists().outputs)[1];
  expect_error("every output once");
  part(lists().outputs)[0] = 64;
  expect_error("every output once");
}

TEST_F(SparseMatrixErrors, AreFoundInOutputsThatAreNotThere) {
  std::uint8_t* const last = part(lists().outputs) + 2 * 64;  // the first cell of group 1
  std::swap(last[0], *std::find(last, last + 64, std::uint8_t{63}));
  expect_error("not there");
}

TEST_F(SparseMatrixErrors, AreFoundInQuads) {
  part(lists().quads)[0] = 255;
  expect_error("behind the last quad");
  part(lists().quads)[0] = 125;  // the last of the panel
  expect_error("do not ascend");
  part(lists().quads)[0] = part(lists().quads)[1];
  expect_error("a quad twice");
}

TEST_F(SparseMatrixErrors, AreFoundInCodes) {
  std::fill_n(part(lists().codes), 4, std::uint8_t{0});
  expect_error("are zero");
  std::fill_n(part(lists().codes), 4, std::uint8_t{127});
  expect_error("more than 128");
  std::fill_n(part(lists().codes), 4, std::uint8_t{50});
  expect_error("the sums of group 0");
}

TEST_F(SparseMatrixErrors, AreFoundBehindTheLastColumn) {
  const std::uint32_t first = lists().ends[2], end = lists().ends[3];
  for (std::uint32_t i = first; i < end; ++i) {
    if (lists().quads[i] != 250 - 126) continue;  // columns 1000 to 1003
    part(lists().codes)[4 * i + 1] = 1;
    return expect_error("behind the last column");
  }
  FAIL() << "no list has the last quad";
}

TEST(SparseInt8Matrix, BytesWithoutErrorAreThoseOfTheirCodes) {
  const SparseInt8Matrix matrix{70, 1001, 8};
  const SparseBytes bytes = arranged_blocks(matrix, random_blocks(matrix, 0.3, 3));
  RandomSequence random(5, 1);
  int valid = 0;
  for (int i = 0; i < 1000; ++i) {
    SparseBytes changed = bytes;
    const std::size_t at = random.below(static_cast<std::uint32_t>(bytes.size()));
    changed[at] = static_cast<std::uint8_t>(changed[at] + 1 + random.below(255));
    if (!sparse_int8_error(matrix, changed.data(), changed.size()).empty()) continue;
    ++valid;
    EXPECT_EQ(arranged_blocks(matrix, restored_blocks(matrix, changed)), changed) << at;
  }
  EXPECT_LT(valid, 100);  // other quads
}

}  // namespace
}  // namespace hone::kernels
