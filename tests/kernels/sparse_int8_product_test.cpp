#include "hone/kernels/sparse_int8_product.h"

#include "hone/kernels/int8_product.h"
#include "hone/kernels/packed_matrix.h"
#include "hone/kernels/scratch.h"
#include "tests/kernels/sparse_int8_testing.h"

namespace hone::kernels {
namespace {

template <typename Body>
void for_each_sparse_product(Body&& body, std::int64_t targets = kPlainTargets | kFusedTargets) {
  for_each_target(
      [&] {
        allow_quad_products(false);
        body();
        allow_quad_products(true);
        if (!uses_quad_products()) return;
        SCOPED_TRACE("quadruples");
        body();
      },
      targets);
}

struct SparseActivations {
  Scratch memory;
  Int8Rows rows;

  // Any 8-bit codes, or `code` everywhere.
  SparseActivations(std::int64_t m, std::int64_t k, int code = 1000) {
    const Int8Shape shape{m, k, k};
    rows = int8_rows(shape, memory.floats(int8_rows_bytes(shape) / sizeof(float) + 16));
    ThreadPool pool(1);
    round_rows(pool, random_floats(m * k, 1).data(), {}, rows);
    RandomSequence random(5, 9);
    for (std::int64_t i = 0; i < m; ++i) {
      std::int32_t sum = 0;
      for (std::int64_t j = 0; j < k; ++j) {
        const int any = static_cast<int>(random.below(256)) - 128;
        std::int8_t& at = rows.codes[i * shape.stride() + j];
        at = static_cast<std::int8_t>(code == 1000 ? any : code);
        sum += at;
      }
      rows.start(i, 0) = rows.origin(i, 0) - 128 * sum;
    }
  }
  std::int64_t code(std::int64_t m, std::int64_t k) const {
    return rows.codes[m * rows.shape.stride() + k];
  }
};

struct SparseWeights {
  SparseInt8Matrix matrix;
  std::vector<std::uint16_t> codes;
  SparseBytes bytes;
  std::vector<float> scales;
  SparseInt8Weight weight;

  SparseWeights(const SparseInt8Matrix& matrix_, std::vector<std::uint16_t> codes_)
      : matrix(matrix_), codes(std::move(codes_)), bytes(arranged_blocks(matrix, codes)) {
    scales = random_floats(matrix.rows, 4, 0.001, 0.1);
    weight = {matrix, bytes.data(), scales.data()};
  }
  SparseWeights(const SparseInt8Matrix& matrix_, double stored)
      : SparseWeights(matrix_, random_blocks(matrix_, stored, 3)) {}
  std::int64_t code(std::int64_t n, std::int64_t k) const {
    const int sign = 1 << (matrix.bits - 1);
    return (codes[static_cast<std::size_t>(n * matrix.columns + k)] ^ sign) - sign;
  }
};

std::vector<float> sparse_product(ThreadPool& pool, const SparseActivations& x,
                                  const SparseWeights& w, const Epilogue& epilogue = {}) {
  std::vector<float> y(static_cast<std::size_t>(x.rows.shape.rows * w.matrix.rows), 0.5f);
  sparse_int8_product(pool, x.rows, w.weight, epilogue, y.data(), w.matrix.rows);
  return y;
}

// Checks the formula of the header, computed in plain loops.
void expect_sparse_product(const SparseActivations& x, const SparseWeights& w,
                           const float* bias = nullptr) {
  std::vector<float> expected;
  for (std::int64_t m = 0; m < x.rows.shape.rows; ++m) {
    for (std::int64_t n = 0; n < w.matrix.rows; ++n) {
      std::int64_t sum = 0;
      for (std::int64_t k = 0; k < w.matrix.columns; ++k) sum += x.code(m, k) * w.code(n, k);
      expected.push_back(std::fma(static_cast<float>(sum) * w.scales[n], x.rows.scales[m],
                                  bias == nullptr ? 0.0f : bias[n]));
    }
  }
  for_each_sparse_product(
      [&] {
        const auto got = same_for_any_threads(
            [&](ThreadPool& pool) { return sparse_product(pool, x, w, {.bias = bias}); });
        ASSERT_TRUE(same_bits(got, expected));
      },
      bias == nullptr ? kPlainTargets | kFusedTargets : kFusedTargets);
}

TEST(SparseInt8Product, HasTheBitsOfTheFormula) {
  for (const int bits : {8, 4}) {
    for (const std::int64_t m : {1, 7, 16, 33, 130}) {
      for (const std::int64_t n : {1, 63, 70, 200}) {
        for (const std::int64_t k : {1, 4, 31, 256, 1001}) {
          for (const double stored : {0.0, 0.1, 0.5, 1.0}) {
            if (m * n * k > 10000000) continue;
            SCOPED_TRACE(fmt::format("{}x{}x{} of {} bits, {} stored", m, n, k, bits, stored));
            const SparseActivations x(m, k);
            const SparseWeights weights({n, k, bits}, stored);
            const auto bias = random_floats(n, 6);
            expect_sparse_product(x, weights);
            expect_sparse_product(x, weights, bias.data());
          }
        }
      }
    }
  }
}

TEST(SparseInt8Product, HasTheBitsOfTheDenseProduct) {
  for (const std::int64_t k : {768, 3072}) {
    const SparseActivations x(1100, k);
    const SparseWeights weights({130, k, 8}, 0.2);
    ThreadPool pool(2);
    const PackedMatrix matrix{130, k, 8, 0x80};
    std::vector<std::uint8_t> packed(packed_bytes(matrix));
    arrange(pool, matrix, weights.codes.data(), packed.data());
    const Int8Weight dense{
        .rows = 130, .columns = k, .codes = packed.data(), .scales = weights.scales.data()};
    for_each_sparse_product([&] {
      std::vector<float> expected(1100 * 130);
      int8_product(pool, x.rows, dense, {}, expected.data(), 130);
      EXPECT_TRUE(same_bits(sparse_product(pool, x, weights), expected));
    });
  }
}

TEST(SparseInt8Product, OfExtremeCodesSaturatesNowhere) {
  for (const int activation : {-128, -127, 127}) {
    for (const int bits : {8, 4}) {
      const int highest = (1 << (bits - 1)) - 1;
      for (const int weight : {-highest - 1, -highest, highest}) {
        SCOPED_TRACE(fmt::format("{} by {}", activation, weight));
        const auto code = static_cast<std::uint16_t>(weight & (2 * highest + 1));
        expect_sparse_product({7, 4096, activation},
                              {{66, 4096, bits}, std::vector<std::uint16_t>(66 * 4096, code)});
      }
    }
  }
}

TEST(SparseInt8Product, EndsAsTheDenseProductDoes) {
  const std::int64_t m = 70, n = 100, k = 64;
  const SparseActivations x(m, k);
  const SparseWeights weights({n, k, 8}, 0.3);
  const auto bias = random_floats(n, 6), residual = random_floats(m * n, 7);
  ThreadPool pool(2);
  const PackedMatrix matrix{n, k, 8, 0x80};
  std::vector<std::uint8_t> packed(packed_bytes(matrix));
  arrange(pool, matrix, weights.codes.data(), packed.data());
  const Int8Weight dense{
      .rows = n, .columns = k, .codes = packed.data(), .scales = weights.scales.data()};
  for (const Activation activation :
       {Activation::none, Activation::relu, Activation::gelu_erf, Activation::tanh}) {
    for (const bool adds : {false, true}) {
      for (const bool accumulate : {false, true}) {
        Epilogue epilogue{.bias = bias.data(), .accumulate = accumulate, .activation = activation};
        if (adds) {
          epilogue.residual = residual.data();
          epilogue.residual_stride = n;
        }
        for_each_sparse_product([&] {
          std::vector<float> expected(static_cast<std::size_t>(m * n), 0.5f);
          int8_product(pool, x.rows, dense, epilogue, expected.data(), n);
          EXPECT_TRUE(same_bits(sparse_product(pool, x, weights, epilogue), expected));
          if (accumulate) return;
          const Int8Shape shape{m, n, n};
          const Int8Grid grid{.bits = 8, .scale = 0.05f};
          Scratch memories[2];
          std::vector<std::uint8_t> bytes[2];
          for (int i = 0; i < 2; ++i) {
            const std::size_t size = int8_rows_bytes(shape);
            const Int8Rows y = int8_rows(shape, memories[i].floats(size / sizeof(float) + 1));
            std::fill_n(y.codes, size, std::int8_t{77});
            if (i == 0) int8_product(pool, x.rows, dense, epilogue, grid, y);
            if (i == 1) sparse_int8_product(pool, x.rows, weights.weight, epilogue, grid, y);
            const auto* const first = reinterpret_cast<const std::uint8_t*>(y.codes);
            bytes[i].assign(first, first + size);
          }
          EXPECT_EQ(bytes[0], bytes[1]);
        });
      }
    }
  }
}

TEST(SparseInt8Product, WritesNothingBetweenRows) {
  const SparseActivations x(7, 64);
  const SparseWeights weights({45, 64, 8}, 0.5);
  for_each_sparse_product([&] {
    ThreadPool pool(1);
    std::vector<float> y(7 * 50, 77.0f);
    sparse_int8_product(pool, x.rows, weights.weight, {}, y.data(), 50);
    for (int m = 0; m < 7; ++m) {
      for (int n = 45; n < 50; ++n) ASSERT_EQ(y[m * 50 + n], 77.0f);
    }
  });
}

TEST(SparseInt8Product, RefusesShapesThatDoNotFit) {
  ThreadPool pool(1);
  const SparseWeights weights({32, 64, 8}, 0.5);
  const auto multiply = [&](const SparseActivations& x) {
    return sparse_product(pool, x, weights);
  };
  multiply({1, 64});
  EXPECT_THROW(multiply({1, 60}), InternalError);
  const SparseActivations x(1, 64), wide(1, 33);
  const auto round_to = [&](const SparseActivations& y, const Int8Grid& grid) {
    sparse_int8_product(pool, x.rows, weights.weight, {}, grid, y.rows);
  };
  EXPECT_THROW(round_to(wide, {.scale = 1}), InternalError);
  EXPECT_THROW(round_to({1, 32}, {}), InternalError);  // no scale
}

}  // namespace
}  // namespace hone::kernels
