#include "hone/kernels/sparse_float_product.h"

#include "hone/kernels/activation.h"
#include "hone/kernels/gemm.h"
#include "tests/kernels/sparse_float_testing.h"

namespace hone::kernels {
namespace {

// Weights (N,K), pruned in blocks or one by one, with their sparse form. `values` are the ones that products use.
struct PrunedWeights {
  SparseFloatMatrix matrix;
  std::vector<float> values;
  PackedBytes packed;

  PrunedWeights(const SparseFloatMatrix& matrix_, double sparsity) : matrix(matrix_) {
    RandomSequence random(5, 4);
    values = random_floats(matrix.rows * matrix.columns, 5);
    for (std::int64_t row = 0; row < matrix.rows; row += matrix.together) {
      for (std::int64_t k = 0; k < matrix.columns; ++k) {
        if (random.uniform() >= sparsity) continue;
        for (std::int64_t r = row; r < std::min(row + matrix.together, matrix.rows); ++r)
          values[r * matrix.columns + k] = 0;
      }
    }
    pack();
  }
  void pack() {
    packed = pack_sparse(matrix, values);
    values = unpack_sparse(matrix, packed);
  }
  // Returns the columns that have an entry for a row.
  std::vector<std::int64_t> kept(std::int64_t n) const {
    std::vector<std::int64_t> columns;
    const std::int64_t first = n / matrix.together * matrix.together;
    const std::int64_t end = std::min(first + matrix.together, matrix.rows);
    for (std::int64_t k = 0; k < matrix.columns; ++k) {
      bool keeps = false;
      for (std::int64_t r = first; r < end; ++r)
        keeps = keeps || values[r * matrix.columns + k] != 0;
      if (keeps) columns.push_back(k);
    }
    return columns;
  }
};

// Computes the formula of the header in plain loops, before activation and residual.
float expected_sum(const float* x, const PrunedWeights& w, const Epilogue& epilogue, float c,
                   const std::vector<std::int64_t>& kept, std::int64_t n) {
  float value = 0;
  auto column = kept.begin();
  for (std::int64_t block = 0; block < w.matrix.blocks(); ++block) {
    float sum = 0;
    for (; column != kept.end() && *column < w.matrix.block_begin(block + 1); ++column)
      sum = std::fma(x[*column], w.values[n * w.matrix.columns + *column], sum);
    if (block == 0 && epilogue.bias != nullptr) sum += epilogue.bias[n];
    value = block > 0 ? value + sum : epilogue.accumulate ? c + sum : sum;
  }
  return value;
}

std::vector<float> product_of(ThreadPool& pool, const std::vector<float>& x, std::int64_t rows,
                              const PrunedWeights& w, const Epilogue& epilogue,
                              std::vector<float> y) {
  sparse_product(pool, {x.data(), rows, w.matrix.columns}, {w.matrix, w.packed.data()}, epilogue,
                 y.data(), w.matrix.rows);
  return y;
}

// Checks that every fused instruction set gives the expected bits.
void expect_sparse_product(const std::vector<float>& x, std::int64_t rows, const PrunedWeights& w,
                           const Epilogue& epilogue = {}) {
  const auto c = random_floats(rows * w.matrix.rows, 8);
  std::vector<float> expected(c.size());
  for (std::int64_t n = 0; n < w.matrix.rows; ++n) {
    const auto kept = w.kept(n);
    for (std::int64_t m = 0; m < rows; ++m) {
      float& at = expected[m * w.matrix.rows + n];
      at = expected_sum(x.data() + m * w.matrix.columns, w, epilogue, c[m * w.matrix.rows + n],
                        kept, n);
    }
  }
  for_each_target(
      [&] {
        const auto got = same_for_any_threads(
            [&](ThreadPool& pool) { return product_of(pool, x, rows, w, epilogue, c); });
        ASSERT_TRUE(same_bits(got, expected));
      },
      kFusedTargets);
}

template <typename Body>
void for_patterns(Body&& body) {
  for (const int together : {4, 1}) {
    for (const int bits : {32, 16}) {
      SCOPED_TRACE(fmt::format("{} together, {} bits", together, bits));
      body(together, bits);
    }
  }
}

TEST(SparseFloatProduct, HasTheBitsOfOneMultiplyAddAfterTheOther) {
  for_patterns([](int together, int bits) {
    for (const std::int64_t columns : {1, 33, 100, 768, 1000}) {
      for (const std::int64_t outputs : {1, 6, 64, 70}) {
        const PrunedWeights w({outputs, columns, together, bits}, columns == 100 ? 0.0 : 0.8);
        const auto bias = random_floats(outputs, 6);
        for (const std::int64_t rows : {1, 3, 4, 5, 9, 16, 17, 24, 25, 48, 130}) {
          SCOPED_TRACE(fmt::format("{}x{}x{}", rows, outputs, columns));
          const auto x = random_floats(rows * columns, 7);
          expect_sparse_product(x, rows, w, {.bias = bias.data()});
        }
      }
    }
  });
}

TEST(SparseFloatProduct, OfManyPiecesHasTheBitsOfOneMultiplyAddAfterTheOther) {
  for_patterns([](int together, int bits) {
    // So many rows that tiles build their own panels.
    const PrunedWeights few({20, 800, together, bits}, 0.95);
    expect_sparse_product(random_floats(1030 * 800, 7), 1030, few);
    const PrunedWeights w({330, 1600, together, bits}, 0.9);
    const auto bias = random_floats(330, 6);
    expect_sparse_product(random_floats(200 * 1600, 7), 200, w, {.bias = bias.data()});
    expect_sparse_product(random_floats(2 * 1600, 7), 2, w,
                          {.bias = bias.data(), .accumulate = true});
  });
}

TEST(SparseFloatProduct, AddsToResults) {
  for_patterns([](int together, int bits) {
    for (const std::int64_t columns : {40, 900}) {
      const PrunedWeights w({37, columns, together, bits}, 0.5);
      expect_sparse_product(random_floats(29 * columns, 7), 29, w, {.accumulate = true});
    }
  });
}

TEST(SparseFloatProduct, OfEmptyListsIsTheBias) {
  for_patterns([](int together, int bits) {
    const auto bias = random_floats(9, 6);
    for (const std::int64_t columns : {0, 5, 800}) {
      const PrunedWeights w({9, columns, together, bits}, 1.0);
      expect_sparse_product(random_floats(30 * columns, 7), 30, w, {.bias = bias.data()});
    }
    const PrunedWeights none({0, 20, together, bits}, 0.0);
    expect_sparse_product(random_floats(3 * 20, 7), 3, none);
    const PrunedWeights some({9, 20, together, bits}, 0.0);
    expect_sparse_product({}, 0, some);
  });
}

// Removed weights multiply nothing, not even infinity or NaN.
TEST(SparseFloatProduct, TakesExtremes) {
  for_patterns([](int together, int bits) {
    PrunedWeights w({12, 50, together, bits}, 0.7);
    auto x = random_floats(30 * 50, 7);
    x[3] = kInfinity;
    x[50 + 20] = -kInfinity;
    x[100 + 49] = 0x1p127f;
    x[150] = 0x1p-149f;
    for (std::int64_t n = 0; n < 12; ++n) {
      w.values[n * 50 + 3] = 0;
      w.values[n * 50 + 20] = n < 8 ? 0.0f : 1.0f;
      w.values[n * 50 + 49] = 4;
    }
    w.pack();
    expect_sparse_product(x, 30, w);
  });
}

TEST(SparseFloatProduct, EqualsTheDenseProductOfTheSameWeights) {
  for_patterns([](int together, int bits) {
    const std::int64_t rows = 50, outputs = 70, columns = 1700;
    const PrunedWeights w({outputs, columns, together, bits}, 0.8);
    const auto x = random_floats(rows * columns, 7), bias = random_floats(outputs, 6),
               residual = random_floats(rows * outputs, 9);
    for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu_erf}) {
      const Epilogue epilogue{.bias = bias.data(),
                              .activation = activation,
                              .residual = residual.data(),
                              .residual_stride = outputs};
      for_each_target([&] {
        ThreadPool pool(2);
        std::vector<float> dense(static_cast<std::size_t>(rows * outputs));
        gemm(pool, {rows, outputs, columns}, {x.data(), columns, 1}, {w.values.data(), 1, columns},
             dense.data(), outputs, epilogue);
        EXPECT_TRUE(same_bits(
            product_of(pool, x, rows, w, epilogue, std::vector<float>(dense.size(), kNan)), dense));
      });
    }
  });
}

// So many weights that tiles process them in pieces.
TEST(SparseFloatProduct, OfManyWeightsEqualsTheDenseProduct) {
  for_patterns([](int together, int bits) {
    const std::int64_t rows = 1030, outputs = 1900, columns = 800;
    const PrunedWeights w({outputs, columns, together, bits}, 0.2);
    const auto x = random_floats(rows * columns, 7);
    for_each_target(
        [&] {
          ThreadPool pool(2);
          std::vector<float> dense(static_cast<std::size_t>(rows * outputs)), y = dense;
          gemm(pool, {rows, outputs, columns}, {x.data(), columns, 1},
               {w.values.data(), 1, columns}, dense.data(), outputs);
          EXPECT_TRUE(same_bits(product_of(pool, x, rows, w, {}, y), dense));
        },
        kFusedTargets);
  });
}

// Rows of x and y have gaps between them.
TEST(SparseFloatProduct, LeavesWhatLiesBetweenRowsAlone) {
  for_patterns([](int together, int bits) {
    const std::int64_t rows = 27, outputs = 21, columns = 35;
    const PrunedWeights w({outputs, columns, together, bits}, 0.6);
    const auto x = random_floats(rows * columns, 7);
    std::vector<float> apart(static_cast<std::size_t>(rows * 40), kNan);
    for (std::int64_t m = 0; m < rows; ++m)
      std::copy_n(x.begin() + m * columns, columns, apart.begin() + m * 40);
    for_each_target([&] {
      ThreadPool pool(1);
      std::vector<float> y(static_cast<std::size_t>(rows * 25), 77.0f);
      sparse_product(pool, {apart.data(), rows, 40}, {w.matrix, w.packed.data()}, {}, y.data(), 25);
      const auto expected = product_of(
          pool, x, rows, w, {}, std::vector<float>(static_cast<std::size_t>(rows * outputs)));
      for (std::int64_t m = 0; m < rows; ++m) {
        for (std::int64_t n = 0; n < 25; ++n)
          ASSERT_EQ(y[m * 25 + n], n < outputs ? expected[m * outputs + n] : 77.0f);
      }
    });
  });
}

TEST(SparseFloatProduct, RefusesOtherPatterns) {
  ThreadPool pool(1);
  float y = 0;
  EXPECT_THROW(sparse_product(pool, {&y, 1, 1}, {{1, 1, 2, 32}, nullptr}, {}, &y, 1),
               InternalError);
  EXPECT_THROW(sparse_product(pool, {&y, 1, 1}, {{1, 1, 4, 8}, nullptr}, {}, &y, 1), InternalError);
}

// Used for blocks up to a share of a half and for single weights up to a quarter, whichever takes less. The last group
// has two rows.
TEST(SparseFloatProduct, IsTakenWhereFewWeightsAreKept) {
  ThreadPool pool(2);
  for (const int together : {4, 1}) {
    for (const double sparsity : {0.0, 0.3, 0.45, 0.55, 0.7, 0.72, 0.78, 0.9, 1.0}) {
      SCOPED_TRACE(fmt::format("{} together, {}", together, sparsity));
      const PrunedWeights w({70, 100, together, 32}, sparsity);
      const auto kept = [&](int rows) {
        const SparseFloatMatrix matrix{70, 100, rows, 32};
        return static_cast<double>(sparse_entries(pool, matrix, w.values.data())) /
               static_cast<double>(matrix.groups() * 100);
      };
      const auto matrix = faster_sparse_matrix(pool, 70, 100, w.values.data());
      const bool blocks = kept(4) <= kMaxSparseFloatBlocks, single = kept(1) <= kMaxSparseFloats;
      ASSERT_EQ(matrix.has_value(), blocks || single);
      if (!matrix) continue;
      const bool takes_blocks = blocks && (!single || kept(4) <= 1.7 * kept(1));
      EXPECT_EQ(matrix->matrix.together, takes_blocks ? 4 : 1);
      EXPECT_EQ(matrix->entries, sparse_entries(pool, matrix->matrix, w.values.data()));
      const double most =
          takes_blocks ? kSparseFloatLimits[0].blocks : kSparseFloatLimits[0].single;
      EXPECT_EQ(fewest_sparse_float_rows(*matrix), matrix->kept().share() <= most ? 1 : 16);
    }
  }
}

}  // namespace
}  // namespace hone::kernels
