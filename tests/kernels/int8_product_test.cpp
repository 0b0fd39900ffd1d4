#include "hone/kernels/int8_product.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <set>

#include "hone/base/json.h"
#include "hone/kernels/activation.h"
#include "hone/kernels/int8_residues.h"
#include "hone/kernels/packed_matrix.h"
#include "hone/kernels/scratch.h"
#include "tests/kernels/kernel_testing.h"
#include "tests/support/test_data.h"

namespace hone::kernels {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Signed = std::vector<std::int8_t>;

// Runs `body` once for each instruction set. Sets with an instruction for quadruples also run without it.
template <typename Body>
void for_each_product(Body&& body, std::int64_t targets = kPlainTargets | kFusedTargets) {
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

// Activations as `Int8Rows`, with the memory that products read.
struct Activations {
  Int8Shape shape;
  Scratch memory;
  Int8Rows rows;

  explicit Activations(const Int8Shape& shape_) : shape(shape_) {
    rows = int8_rows(shape, memory.floats(int8_rows_bytes(shape) / sizeof(float) + 16));
    std::fill_n(rows.codes, shape.rows * shape.stride(), std::int8_t{0});
  }
  // `falls` are the exponents d of the blocks.
  Activations(const Int8Shape& shape_, const Signed& codes, const std::vector<int>& falls,
              const std::vector<float>& scales)
      : Activations(shape_) {
    for (std::int64_t m = 0; m < shape.rows; ++m) {
      std::copy_n(codes.begin() + m * shape.columns, shape.columns,
                  rows.codes + m * shape.stride());
      rows.scales[m] = scales[m];
      for (std::int64_t b = 0; b < shape.blocks(); ++b) {
        const std::int64_t begin = b * shape.block;
        const std::int64_t end = std::min(begin + shape.block, shape.columns);
        std::int32_t sum = 0;
        for (std::int64_t k = begin; k < end; ++k) sum += codes[m * shape.columns + k];
        const float origin = std::ldexp(1.5f, 23 + falls[m * shape.blocks() + b]);
        rows.origin(m, b) = std::bit_cast<std::int32_t>(origin);
        rows.start(m, b) = rows.origin(m, b) - 128 * sum;
      }
    }
  }
};

// Weights: codes (N,K) as stored, and packed in panels.
struct Weights {
  PackedMatrix matrix;
  Bytes codes, block_scales;  // (N,K), (N,blocks)
  std::vector<float> scales;  // (N)
  Bytes packed, packed_scales;
  Int8Weight weight;

  Weights(const PackedMatrix& matrix_, Bytes codes_) : matrix(matrix_), codes(std::move(codes_)) {
    ThreadPool pool(1);
    packed.resize(packed_bytes(matrix));
    const std::vector<std::uint16_t> words(codes.begin(), codes.end());
    arrange(pool, matrix, words.data(), packed.data());
    weight.rows = matrix.rows;
    weight.columns = matrix.columns;
    weight.bits = matrix.bits;
    weight.codes = packed.data();
  }
  void take_scales(std::vector<float> values) {
    scales = std::move(values);
    weight.scales = scales.data();
  }
  void take_block_scales(Bytes values, std::int64_t blocks) {
    ThreadPool pool(1);
    block_scales = std::move(values);
    packed_scales.resize(packed_scale_bytes(matrix.rows, blocks));
    arrange_scales(pool, matrix.rows, blocks, block_scales.data(), packed_scales.data());
    weight.block_scales = packed_scales.data();
  }
  std::int64_t value(std::int64_t n, std::int64_t k) const {
    const int code = codes[n * matrix.columns + k] ^ matrix.flip;
    return matrix.bits > 4 ? code - (1 << (matrix.bits - 1))
                           : weight.values[static_cast<std::size_t>(code)] - 128;
  }
};

std::int64_t block_sum(const Activations& x, const Weights& w, std::int64_t m, std::int64_t n,
                       std::int64_t begin, std::int64_t end) {
  std::int64_t sum = 0;
  for (std::int64_t k = begin; k < std::min(end, x.shape.columns); ++k)
    sum += x.rows.codes[m * x.shape.stride() + k] * w.value(n, k);
  return sum;
}

// Computes the formula of the header in plain loops. Integer sums are exact, so only the float operations below round.
float expected_at(const Activations& x, const Weights& w, const Epilogue& epilogue, std::int64_t m,
                  std::int64_t n) {
  const float bias = epilogue.bias == nullptr ? 0.0f : epilogue.bias[n];
  if (w.weight.scales != nullptr) {
    const auto sum = static_cast<float>(block_sum(x, w, m, n, 0, x.shape.columns));
    return std::fma(sum * w.scales[n], x.rows.scales[m], bias);
  }
  float total = 0;
  for (std::int64_t b = 0; b < x.shape.blocks(); ++b) {
    const std::int64_t begin = b * x.shape.block;
    const auto sum = static_cast<float>(block_sum(x, w, m, n, begin, begin + x.shape.block));
    const auto origin = std::bit_cast<float>(x.rows.origin(m, b));
    const float fall = origin / 0x1.8p23f;
    const std::uint8_t e = w.block_scales[n * x.shape.blocks() + b];
    const float scale = e == 0 ? 0.0f : std::ldexp(1.0f, e - 127);
    total = std::fma(sum * fall, scale, total);
  }
  return std::fma(total * w.weight.unit, x.rows.scales[m], bias);
}

std::vector<float> product(ThreadPool& pool, const Activations& x, const Weights& w,
                           const Epilogue& epilogue = {}) {
  std::vector<float> y(static_cast<std::size_t>(x.shape.rows * w.matrix.rows), 77.0f);
  int8_product(pool, x.rows, w.weight, epilogue, y.data(), w.matrix.rows);
  return y;
}

// Checks that every instruction set gives the expected bits.
void expect_product(const Activations& x, const Weights& w, const Epilogue& epilogue = {},
                    std::int64_t targets = kPlainTargets | kFusedTargets) {
  std::vector<float> expected;
  for (std::int64_t m = 0; m < x.shape.rows; ++m) {
    for (std::int64_t n = 0; n < w.matrix.rows; ++n)
      expected.push_back(expected_at(x, w, epilogue, m, n));
  }
  for_each_product(
      [&] {
        const auto got =
            same_for_any_threads([&](ThreadPool& pool) { return product(pool, x, w, epilogue); });
        ASSERT_TRUE(same_bits(got, expected));
      },
      targets);
}

std::uint8_t below(RandomSequence& random, std::uint32_t count) {
  return static_cast<std::uint8_t>(random.below(count));
}

Bytes random_bytes(std::int64_t count, std::uint32_t first, std::uint32_t values,
                   std::uint64_t stream) {
  RandomSequence random(3, stream);
  Bytes bytes(static_cast<std::size_t>(count));
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(first + below(random, values));
  return bytes;
}

Signed random_activations(const Int8Shape& shape) {
  Signed codes;
  for (const std::uint8_t byte : random_bytes(shape.rows * shape.columns, 1, 255, 1))
    codes.push_back(static_cast<std::int8_t>(byte - 128));
  return codes;
}

Activations random_rows(const Int8Shape& shape) {
  std::vector<int> falls;
  for (const std::uint8_t fall : random_bytes(shape.rows * shape.blocks(), 0, 20, 2))
    falls.push_back(-fall);
  return {shape, random_activations(shape), falls, random_floats(shape.rows, 3, 0.001, 0.1)};
}

Weights random_weights(std::int64_t n, std::int64_t k, int bits) {
  return {{n, k, bits, static_cast<std::uint8_t>(1 << (bits - 1))},
          random_bytes(n * k, 0, 1u << bits, 4)};
}

const std::vector<Int8Shape> kShapes = {{1, 4, 4},     {1, 768, 768}, {2, 31, 31},  {5, 64, 64},
                                        {6, 100, 100}, {7, 257, 257}, {97, 96, 96}, {130, 33, 33}};

TEST(Int8Product, OfRowsWithOneScaleHasTheBitsOfTheFormula) {
  for (const Int8Shape& shape : kShapes) {
    for (const int bits : {8, 4, 3, 2, 1}) {
      for (const std::int64_t n : {1, 31, 32, 70}) {
        SCOPED_TRACE(fmt::format("{}x{}x{} of {} bits", shape.rows, n, shape.columns, bits));
        Weights weights = random_weights(n, shape.columns, bits);
        weights.take_scales(random_floats(n, 5, 0.001, 0.1));
        const auto bias = random_floats(n, 6);
        expect_product(random_rows(shape), weights, {.bias = bias.data()}, kFusedTargets);
      }
    }
  }
}

// Returns codes whose quads are mostly small, as after layer norm and GELU: the standard deviation of codes, and the
// share of large ones.
Signed heavy_tailed(const Int8Shape& shape, double deviation, double share) {
  RandomSequence random(3, 9);
  Signed codes(static_cast<std::size_t>(shape.rows * shape.columns));
  for (std::int8_t& code : codes) {
    const bool is_large = random.uniform() < share;
    const double value = is_large ? 254 * random.uniform() - 127 : deviation * random.normal();
    code = static_cast<std::int8_t>(std::lround(std::clamp(value, -127.0, 127.0)));
  }
  return codes;
}

TEST(Int8Product, OfAnyActivationsHasTheBitsOfTheFormula) {
  std::set<int> taken;
  for (const double deviation : {5.0, 20.0, 40.0, 60.0, 100.0}) {
    for (const double share : {0.0, 0.01, 0.05, 0.3}) {
      for (const Int8Shape& shape : {Int8Shape{100, 260, 260}, {1700, 64, 64}}) {
        SCOPED_TRACE(
            fmt::format("deviation {}, {} large, {} columns", deviation, share, shape.columns));
        const Activations x(shape, heavy_tailed(shape, deviation, share),
                            std::vector<int>(shape.rows), std::vector<float>(shape.rows, 0.25f));
        std::vector<std::uint8_t> memory(limited_rows_bytes(shape, 96));
        taken.insert(limit_rows(x.rows, 0, 96, memory.data()).together);
        Weights weights = random_weights(40, shape.columns, 8);
        weights.take_scales(random_floats(40, 5, 0.001, 0.1));
        expect_product(x, weights, {}, kFusedTargets);
      }
    }
  }
  EXPECT_EQ(taken, (std::set<int>{0, 1, 2})) << "not every way was tried";
}

TEST(Int8Residues, AndLimitedRowsAddUpToTheCodes) {
  const Int8Shape shape{5, 260, 260};
  for (const double deviation : {10.0, 20.0, 40.0}) {
    const Activations x(shape, heavy_tailed(shape, deviation, 0.02), std::vector<int>(5),
                        std::vector<float>(5, 1.0f));
    std::vector<std::uint8_t> memory(limited_rows_bytes(shape, 5) + 64);
    const LimitedRows limited = limit_rows(x.rows, 0, 5, memory.data());
    ASSERT_GT(limited.together, 0);
    Signed sum(limited.codes, limited.codes + 5 * shape.stride());
    for (std::int64_t m = 0; m < 5; ++m) {
      for (std::int32_t i = m == 0 ? 0 : limited.ends[m - 1]; i < limited.ends[m]; ++i) {
        const Residue& residue = limited.residues[i];
        for (int pair = 0; pair < 4; pair += 2)
          EXPECT_LE(std::abs(residue.left.codes[pair] + residue.left.codes[pair + 1]), 128);
        for (int j = 0; j < 4; ++j) {
          std::int8_t& code = sum[m * shape.stride() + 4 * residue.quad + j];
          code = static_cast<std::int8_t>(code + residue.left.codes[j]);
        }
      }
      for (std::int64_t quad = 0; quad < shape.stride() / 4; quad += limited.together) {
        for (int pair = 0; pair < 4; pair += 2) {
          int positive = 0, negative = 0;
          for (int k = 0; k < 4 * limited.together; ++k) {
            const int code = limited.codes[m * shape.stride() + 4 * quad + k];
            if ((k & 2) == pair) (code > 0 ? positive : negative) += code;
          }
          EXPECT_LE(positive, 128);
          EXPECT_GE(negative, -128);
        }
      }
    }
    EXPECT_EQ(sum, Signed(x.rows.codes, x.rows.codes + 5 * shape.stride()));
  }
}

TEST(Int8Product, OfBlocksHasTheBitsOfTheFormula) {
  for (const std::int64_t rows : {1, 3, 6, 13, 100}) {
    for (const std::int64_t columns : {5, 16, 72, 256, 600}) {
      for (const std::int64_t block : {16, 32, 64, 128, 256}) {
        for (const int bits : {8, 4}) {
          const Int8Shape shape{rows, columns, block};
          const std::int64_t n = rows == 13 ? 70 : 33;
          SCOPED_TRACE(
              fmt::format("{}x{}x{} blocks of {} of {} bits", rows, n, columns, block, bits));
          Weights weights = random_weights(n, columns, bits);
          weights.take_block_scales(random_bytes(n * shape.blocks(), 110, 30, 5), shape.blocks());
          weights.weight.unit = 0x1p-6f;
          const auto bias = random_floats(n, 6);
          expect_product(random_rows(shape), weights, {.bias = bias.data()}, kFusedTargets);
          expect_product(random_rows(shape), weights, {}, kPlainTargets);
        }
      }
    }
  }
}

TEST(Int8Product, OfExtremeCodesSaturatesNowhere) {
  for (const int activation : {-128, -127, 127}) {
    for (const int weight : {-128, -127, 127}) {
      for (const std::int64_t block : {std::int64_t{256}, std::int64_t{4096}}) {
        SCOPED_TRACE(fmt::format("{} by {} in {}", activation, weight, block));
        const Int8Shape shape{7, 4096, block};
        const Activations x(shape, Signed(7 * 4096, static_cast<std::int8_t>(activation)),
                            std::vector<int>(7 * shape.blocks()), std::vector<float>(7, 1.0f));
        Weights weights({33, 4096, 8, 0x80}, Bytes(33 * 4096, static_cast<std::uint8_t>(weight)));
        if (block == 256) {
          weights.take_block_scales(Bytes(33 * shape.blocks(), 127), shape.blocks());
        } else {
          weights.take_scales(std::vector<float>(33, 1.0f));
        }
        expect_product(x, weights);
        ThreadPool pool(1);
        EXPECT_EQ(product(pool, x, weights)[0], static_cast<float>(activation * weight * 4096));
      }
    }
  }
}

TEST(Int8Product, OfOtherWidthsHasTheBitsOfTheFormula) {
  for (const int bits : {7, 6, 5, 3, 2, 1}) {
    // 16 and 48 columns are padded by an empty block; blocks of 16 end within bytes of 1-bit codes
    for (const Int8Shape& shape : {Int8Shape{7, 16, 16},
                                   {7, 20, 16},
                                   {1, 48, 16},
                                   {7, 96, 16},
                                   {8, 130, 16},
                                   {1, 96, 32},
                                   {7, 130, 32},
                                   {7, 200, 64},
                                   {7, 100, 48}}) {
      const std::int64_t columns = shape.columns;
      SCOPED_TRACE(fmt::format("{} bits, {} columns, blocks of {}", bits, columns, shape.block));
      Weights weights = random_weights(70, columns, bits);
      weights.weight.values = {128, 127, 131, 120, 129, 140, 100, 200};
      weights.take_block_scales(random_bytes(70 * shape.blocks(), 110, 30, 2), shape.blocks());
      expect_product(random_rows(shape), weights);
    }
  }
}

TEST(Int8Product, OfHalfBytesTakesTheirValuesFromTheTable) {
  // MXFP4: twice the value of E2M1
  const Int8Shape shape{7, 96, 32};
  Weights weights({40, 96, 4, 0}, random_bytes(40 * 96, 0, 16, 1));
  weights.weight.values = {128, 129, 130, 131, 132, 134, 136, 140,
                           128, 127, 126, 125, 124, 122, 120, 116};
  weights.weight.unit = 0.5f;
  weights.take_block_scales(random_bytes(40 * 3, 110, 30, 2), 3);
  expect_product(random_rows(shape), weights);
}

TEST(Int8Product, OfBlocksFarApartKeepsEveryBit) {
  // the smallest block that still counts next to the largest, and scales at both ends
  const Int8Shape shape{2, 64, 16};
  const Activations x(shape, random_activations(shape), {0, -120, -119, -1, -120, -120, -120, 0},
                      {1.0f, 0x1p-20f});
  Weights weights = random_weights(33, 64, 8);
  Bytes scales = random_bytes(33 * 4, 90, 70, 3);
  std::fill_n(scales.begin(), 8, std::uint8_t{200});
  weights.take_block_scales(scales, 4);
  expect_product(x, weights, {}, kFusedTargets);
}

TEST(Int8Product, ScaleBytesZeroAndNaNRuleTheirBlocks) {
  const Int8Shape shape{7, 64, 32};
  Weights weights = random_weights(33, 64, 8);
  Bytes scales(33 * 2, 127);
  scales[2 * 5] = 0;        // block 0 of row 5 is zero
  scales[2 * 9 + 1] = 255;  // block 1 of row 9 is NaN
  weights.take_block_scales(scales, 2);
  const Activations x = random_rows(shape);
  for_each_product([&] {
    ThreadPool pool(1);
    const auto y = product(pool, x, weights);
    for (std::int64_t m = 0; m < 7; ++m) {
      EXPECT_FALSE(std::isfinite(y[m * 33 + 9]));
      EXPECT_EQ(y[m * 33 + 5], expected_at(x, weights, {}, m, 5));
      const auto origin = std::bit_cast<float>(x.rows.origin(m, 1)) / 0x1.8p23f;
      EXPECT_EQ(y[m * 33 + 5], static_cast<float>(block_sum(x, weights, m, 5, 32, 64)) * origin *
                                   x.rows.scales[m]);
    }
  });
}

TEST(Int8Product, ARowWithoutNumbersIsNaNAlone) {
  const Int8Shape shape{7, 64, 32};
  const Activations x = random_rows(shape);
  x.rows.scales[2] = kNan;
  Weights weights = random_weights(33, 64, 8);
  weights.take_block_scales(Bytes(33 * 2, 127), 2);
  for_each_product([&] {
    ThreadPool pool(1);
    const auto y = product(pool, x, weights);
    for (std::int64_t m = 0; m < 7; ++m) {
      for (std::int64_t n = 0; n < 33; ++n) ASSERT_EQ(std::isnan(y[m * 33 + n]), m == 2);
    }
  });
}

// The parameter is the number of rows. Residuals fit the caches or not.
class Int8Endings : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(Int8Endings, AreActivationsAndResidualsOfTheFloatKernels) {
  const Int8Shape shape{GetParam(), 64, 64};
  const std::int64_t n = 45, count = shape.rows * n;
  const Activations x = random_rows(shape);
  Weights weights = random_weights(n, 64, 8);
  weights.take_scales(random_floats(n, 5, 0.001, 0.02));
  const auto bias = random_floats(n, 6), residual = random_floats(count, 7);
  using Map = void (*)(ThreadPool&, std::int64_t, const float*, float*);
  const Map none = [](ThreadPool&, std::int64_t, const float*, float*) {};
  const std::vector<std::pair<Activation, Map>> activations = {{Activation::none, none},
                                                               {Activation::relu, relu},
                                                               {Activation::gelu_erf, gelu_erf},
                                                               {Activation::gelu_tanh, gelu_tanh},
                                                               {Activation::tanh, tanh}};
  for (const auto& row : activations) {
    const Activation activation = row.first;
    const Map map = row.second;
    for_each_product([&] {
      ThreadPool pool(2);
      auto expected = product(pool, x, weights, {.bias = bias.data()});
      map(pool, count, expected.data(), expected.data());
      for (std::int64_t i = 0; i < count; ++i) expected[i] += residual[i];
      Epilogue epilogue{.bias = bias.data(), .activation = activation, .residual = residual.data()};
      epilogue.residual_stride = n;
      EXPECT_TRUE(same_bits(product(pool, x, weights, epilogue), expected));
    });
  }
}

INSTANTIATE_TEST_SUITE_P(OfRows, Int8Endings, ::testing::Values(13, 6000));

TEST(Int8Product, AddsToWhatIsThere) {
  const Int8Shape shape{13, 64, 32};
  const Activations x = random_rows(shape);
  Weights weights = random_weights(45, 64, 8);
  weights.take_block_scales(Bytes(45 * 2, 120), 2);
  const auto before = random_floats(13 * 45, 7);
  for_each_product([&] {
    ThreadPool pool(1);
    auto expected = product(pool, x, weights);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = before[i] + expected[i];
    auto y = before;
    int8_product(pool, x.rows, weights.weight, {.accumulate = true}, y.data(), 45);
    EXPECT_TRUE(same_bits(y, expected));
  });
}

TEST(Int8Product, WritesNothingBetweenRows) {
  const Int8Shape shape{7, 64, 64};
  Weights weights = random_weights(45, 64, 8);
  weights.take_scales(random_floats(45, 5));
  const Activations x = random_rows(shape);
  for_each_product([&] {
    ThreadPool pool(1);
    std::vector<float> y(7 * 50, 77.0f);
    int8_product(pool, x.rows, weights.weight, {}, y.data(), 50);
    for (int m = 0; m < 7; ++m) {
      for (int n = 45; n < 50; ++n) ASSERT_EQ(y[m * 50 + n], 77.0f);
    }
  });
}

TEST(Int8Product, RowsDoNotDependOnHowManyThereAre) {
  const Int8Shape shape{200, 96, 32};
  Weights weights = random_weights(70, 96, 8);
  weights.take_block_scales(random_bytes(70 * 3, 110, 30, 5), 3);
  const Activations x = random_rows(shape);
  for_each_product([&] {
    ThreadPool pool(2);
    const auto all = product(pool, x, weights);
    for (const std::int64_t rows : {1, 2, 5, 6, 7, 95, 96, 97}) {
      const auto y = product(pool, random_rows({rows, 96, 32}), weights);
      EXPECT_TRUE(std::equal(y.begin(), y.end(), all.begin())) << rows;
    }
  });
}

// Returns everything a product reads of rows: codes with padding, scales and starts.
std::vector<std::uint8_t> bytes_of(const Int8Rows& rows) {
  const auto* const first = reinterpret_cast<const std::uint8_t*>(rows.codes);
  return {first, first + int8_rows_bytes(rows.shape)};
}

// Checks that results rounded in the product equal float results that are rounded afterwards.
void expect_rounded_at_once(const Activations& x, const Weights& w, const Epilogue& epilogue,
                            const Int8Grid& grid) {
  const Int8Shape results{x.shape.rows, w.matrix.rows, w.matrix.rows};
  for_each_product([&] {
    ThreadPool alone(1);
    const Activations expected(results);
    round_rows(alone, product(alone, x, w, epilogue).data(), grid, expected.rows);
    for (const int threads : {1, 2, 5}) {
      ThreadPool pool(threads);
      const Activations y(results);
      std::fill_n(y.rows.codes, int8_rows_bytes(results), std::int8_t{77});
      int8_product(pool, x.rows, w.weight, epilogue, grid, y.rows);
      ASSERT_EQ(bytes_of(y.rows), bytes_of(expected.rows)) << threads << " threads";
    }
  });
}

TEST(Int8Product, RoundedAtOnceHasTheBytesOfRoundedAfterwards) {
  for (const Int8Shape& shape :
       {Int8Shape{1, 768, 768}, {5, 64, 64}, {97, 96, 96}, {200, 256, 256}}) {
    for (const std::int64_t n : {1, 31, 64, 70, 330}) {
      SCOPED_TRACE(fmt::format("{}x{}x{}", shape.rows, n, shape.columns));
      Weights weights = random_weights(n, shape.columns, 8);
      weights.take_scales(random_floats(n, 5, 0.001, 0.1));
      const auto bias = random_floats(n, 6), residual = random_floats(shape.rows * n, 7);
      const Activations x = random_rows(shape);
      expect_rounded_at_once(x, weights, {.bias = bias.data()}, {.bits = 8, .scale = 0.3f});
      expect_rounded_at_once(x, weights, {.bias = bias.data(), .activation = Activation::gelu_erf},
                             {.bits = 4, .scale = 5.0f});
      expect_rounded_at_once(
          x, weights,
          {.activation = Activation::relu, .residual = residual.data(), .residual_stride = n},
          {.bits = 8, .scale = 0.01f});
    }
  }
}

TEST(Int8Product, RoundedAtOnceOfBlocksToo) {
  const Int8Shape shape{100, 96, 32};
  Weights weights = random_weights(70, 96, 8);
  weights.take_block_scales(random_bytes(70 * 3, 110, 30, 5), 3);
  expect_rounded_at_once(random_rows(shape), weights, {}, {.bits = 8, .scale = 0x1p-3f});
}

TEST(Int8Product, RoundedAtOnceTellsRowsWithoutNumbers) {
  const Int8Shape shape{200, 64, 64};
  Weights weights = random_weights(330, 64, 8);
  weights.take_scales(std::vector<float>(330, 0.01f));
  const Activations x = random_rows(shape);
  auto bias = std::vector<float>(330, 0.0f);
  x.rows.scales[2] = kNan;
  x.rows.scales[199] = std::numeric_limits<float>::infinity();
  bias[5] = std::numeric_limits<float>::infinity();  // for all rows, which saturate
  expect_rounded_at_once(x, weights, {.bias = bias.data()}, {.bits = 8, .scale = 0.3f});
}

float float_of(const Json& hex) {
  return std::bit_cast<float>(
      static_cast<std::uint32_t>(std::stoul(hex.get<std::string>(), nullptr, 16)));
}

// Vectors of exact rational results: fp32 activations and weights, their codes and scales.
TEST(Int8Product, AgreesWithExactProductsOfMxint8) {
  const Json cases = read_json(test_data() / "vectors" / "mxint8.json")["mxint8_gemm"];
  ASSERT_EQ(cases.size(), 3u);
  for (const Json& item : cases) {
    const std::int64_t m = item["M"], n = item["N"], k = item["K"], g = item["group"];
    const Int8Shape shape{m, k, g};
    Bytes codes, scales;
    std::vector<float> activations;
    for (const Json& row : item["W_mant"]) {
      for (const Json& code : row) codes.push_back(static_cast<std::uint8_t>(code.get<int>()));
    }
    for (const Json& row : item["W_scale"]) {
      for (const Json& scale : row) scales.push_back(scale.get<std::uint8_t>());
    }
    for (const Json& row : item["A_fp32"]) {
      for (const Json& value : row) activations.push_back(float_of(value));
    }
    Weights weights({n, k, 8, 0x80}, codes);
    weights.take_block_scales(scales, shape.blocks());
    weights.weight.unit = 0x1p-6f;
    for_each_product([&] {
      ThreadPool pool(1);
      const Activations x(shape);
      round_rows_in_blocks(pool, activations.data(), {}, x.rows);
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < k; ++j)
          ASSERT_EQ(x.rows.codes[i * shape.stride() + j], item["A_mant"][i][j].get<int>());
      }
      const auto y = product(pool, x, weights);
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j)
          EXPECT_EQ(y[i * n + j], float_of(item["C_rne_fp32"][i][j])) << i << "," << j;
      }
    });
  }
}

TEST(Int8Product, RefusesShapesThatDoNotFit) {
  ThreadPool pool(1);
  const Activations blocks = random_rows({1, 64, 32});
  Weights weights = random_weights(32, 64, 8);
  std::vector<float> y(32);
  const auto multiply = [&](const Activations& x) {
    int8_product(pool, x.rows, weights.weight, {}, y.data(), 32);
  };
  EXPECT_THROW(multiply(blocks), InternalError);  // scales are missing
  weights.take_scales(std::vector<float>(32, 1.0f));
  EXPECT_THROW(multiply(blocks), InternalError);  // blocks with per-row scales
  EXPECT_THROW(multiply(random_rows({1, 60, 60})), InternalError);
  const Activations x = random_rows({1, 64, 64});
  const auto round_to = [&](const Int8Shape& shape, const Int8Grid& grid) {
    const Activations results(shape);
    int8_product(pool, x.rows, weights.weight, {}, grid, results.rows);
  };
  round_to({1, 32, 32}, {.scale = 1});
  EXPECT_THROW(round_to({1, 33, 33}, {.scale = 1}), InternalError);
  EXPECT_THROW(round_to({1, 32, 16}, {.scale = 1}), InternalError);
  EXPECT_THROW(round_to({1, 32, 32}, {}), InternalError);  // no scale
}

}  // namespace
}  // namespace hone::kernels
