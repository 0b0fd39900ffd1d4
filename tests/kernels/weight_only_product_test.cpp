#include "hone/kernels/weight_only_product.h"

#include "hone/kernels/gemm.h"
#include "hone/kernels/packed_matrix.h"
#include "hone/kernels/scalar/half.h"
#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

// The values of codes: consecutive integers, any integers, any bfloat16, or any numbers.
enum class Values { counted, whole, bfloat16, any };

// A packed weight and its float values.
struct FloatWeights {
  PackedMatrix matrix;
  std::int64_t block;
  std::vector<std::uint8_t> packed, packed_scales;
  std::vector<float> values, offsets, scales, floats;  // (2^bits), (N), (N), (N,K)
  CodedWeight weight;

  FloatWeights(std::int64_t rows, std::int64_t columns, int bits, std::int64_t block_,
               Values kind = Values::counted, bool with_offsets = false, int scale_bytes = 1)
      : matrix{rows, columns, bits}, block(block_) {
    ThreadPool pool(1);
    RandomSequence random(5, static_cast<std::uint64_t>(bits));
    const auto byte = [&](std::uint32_t count) {
      return static_cast<std::uint8_t>(random.below(count));
    };
    std::vector<std::uint16_t> codes(static_cast<std::size_t>(rows * columns));
    for (std::uint16_t& code : codes) code = byte(1u << bits);
    packed.resize(packed_bytes(matrix));
    arrange(pool, matrix, codes.data(), packed.data());
    for (int code = 0; code < 1 << bits; ++code) {
      const int drawn = byte(255) - 127;
      values.push_back(kind == Values::counted ? static_cast<float>(code - (1 << (bits - 1)))
                       : kind == Values::whole ? static_cast<float>(drawn)
                       : kind == Values::bfloat16
                           ? std::ldexp(static_cast<float>(drawn), code % 5 - 9)
                           : static_cast<float>(drawn) / 3);
    }
    for (std::int64_t n = 0; n < rows; ++n) offsets.push_back(static_cast<float>(n % 7 - 4));
    const std::int64_t blocks = block == 0 ? 0 : (columns + block - 1) / block;
    std::vector<std::uint8_t> block_scales(static_cast<std::size_t>(rows * blocks * scale_bytes));
    for (std::uint8_t& scale : block_scales) scale = static_cast<std::uint8_t>(110 + byte(30));
    if (!block_scales.empty()) block_scales[0] = 0;
    for (std::size_t i = 0; scale_bytes > 1 && i < block_scales.size();) {
      // Half of the scales are negative, and some are subnormal.
      block_scales[i + 1] = static_cast<std::uint8_t>(byte(2) << 7 | byte(50));
      if (scale_bytes == 3) block_scales[i + 2] = byte(1u << bits);
      i += static_cast<std::size_t>(scale_bytes);
    }
    scales = random_floats(rows, 7, 0.001, 0.1);
    weight = {.rows = rows,
              .columns = columns,
              .bits = bits,
              .codes = packed.data(),
              .values = values.data(),
              .offsets = with_offsets ? offsets.data() : nullptr};
    if (block == 0) {
      weight.scales = scales.data();
    } else {
      weight.block = block;
      weight.scale_bytes = scale_bytes;
      weight.unit = scale_bytes == 1 ? 0x1p-6f : 1;
      packed_scales.resize(packed_scale_bytes(rows, blocks * scale_bytes));
      arrange_scales(pool, rows, blocks * scale_bytes, block_scales.data(), packed_scales.data());
      weight.block_scales = packed_scales.data();
    }
    for (std::int64_t n = 0; n < rows; ++n) {
      for (std::int64_t k = 0; k < columns; ++k) {
        const std::uint8_t* const own =
            block == 0 ? nullptr : &block_scales[(n * blocks + k / block) * scale_bytes];
        float value = values[codes[n * columns + k]] + (with_offsets ? offsets[n] : 0.0f);
        if (scale_bytes == 3) value -= own[2];
        floats.push_back(value * (block == 0         ? scales[n]
                                  : scale_bytes == 1 ? scale_of(*own)
                                                     : scalar::half_value(own[0] | own[1] << 8)));
      }
    }
  }
  static float scale_of(std::uint8_t byte) {
    return byte == 0 ? 0.0f : std::ldexp(1.0f, byte - 127 - 6);
  }
};

// Checks that the product has the bits of `gemm` on the float weights.
void expect_product(std::int64_t rows, const FloatWeights& weights, bool accumulate) {
  const std::int64_t n = weights.matrix.rows, k = weights.matrix.columns, stride = n + 3;
  const auto x = random_floats(rows * (k + 5), 1), bias = random_floats(n, 2);
  const auto before = random_floats(rows * stride, 3), residual = random_floats(rows * n, 4);
  Epilogue epilogue{.bias = bias.data(), .accumulate = accumulate};
  for_each_target([&] {
    ThreadPool pool(1);
    auto expected = before;
    gemm(pool, {rows, n, k}, {x.data(), k + 5, 1}, {weights.floats.data(), 1, k}, expected.data(),
         stride, {.bias = bias.data(), .accumulate = accumulate});
    const auto got = same_for_any_threads([&](ThreadPool& threads) {
      auto y = before;
      weight_only_product(threads, {x.data(), rows, k + 5}, weights.weight, epilogue, y.data(),
                          stride);
      return y;
    });
    ASSERT_TRUE(same_bits(got, expected));
    Epilogue whole = epilogue;
    whole.activation = Activation::relu;
    whole.residual = residual.data();
    whole.residual_stride = n;
    auto y = before;
    weight_only_product(pool, {x.data(), rows, k + 5}, weights.weight, whole, y.data(), stride);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < n; ++j)
        ASSERT_EQ(y[i * stride + j],
                  std::max(0.0f, expected[i * stride + j]) + residual[i * n + j]);
    }
  });
}

TEST(WeightOnlyProduct, HasTheBitsOfTheFloatProduct) {
  for (const std::int64_t rows : {1, 2, 4, 7, 40}) {
    for (const std::int64_t columns : {7, 96, 400, 1100}) {
      for (const std::int64_t block : {0, 32}) {
        for (const int bits : {8, 4}) {
          SCOPED_TRACE(fmt::format("{} rows, {} columns, {} bits, blocks of {}", rows, columns,
                                   bits, block));
          expect_product(rows, FloatWeights(70, columns, bits, block), rows % 2 == 0);
        }
      }
    }
  }
}

TEST(WeightOnlyProduct, TakesEveryWidth) {
  for (const int bits : {1, 2, 3, 5, 6, 7}) {
    for (const std::int64_t rows : {1, 9, 33}) {
      SCOPED_TRACE(fmt::format("{} rows, {} bits", rows, bits));
      expect_product(rows, FloatWeights(45, 130, bits, 64), false);
    }
  }
}

// Sizes for which words are read whole, partly, and in blocks that end within a word.
TEST(WeightOnlyProduct, TakesAnyValuesAndOffsetsOfRows) {
  for (int bits = 1; bits <= 8; ++bits) {
    for (const Values kind : {Values::counted, Values::whole, Values::bfloat16, Values::any}) {
      for (const std::int64_t rows : {1, 3, 33}) {
        SCOPED_TRACE(fmt::format("{} rows, {} bits, {}", rows, bits, static_cast<int>(kind)));
        expect_product(rows, FloatWeights(100, 130, bits, 0, kind, rows != 3), false);
        expect_product(rows, FloatWeights(70, 90, bits, 20, kind, rows == 3), false);
      }
    }
  }
}

// Normal and subnormal numbers, and both zeros.
TEST(WeightOnlyProduct, TakesHalvesAsTheyAre) {
  ThreadPool pool(1);
  for (const Half half : {Half::bfloat16, Half::float16}) {
    for (const std::int64_t rows : {1, 2, 7, 40}) {
      for (const std::int64_t columns : {7, 96, 770}) {
        SCOPED_TRACE(
            fmt::format("half {}, {} rows, {} columns", static_cast<int>(half), rows, columns));
        FloatWeights weights(70, columns, 8, 0);
        const std::int64_t count = 70 * columns;
        std::vector<float> drawn = random_floats(count, 9, -0.2, 0.2);
        for (std::size_t i = 0; i < drawn.size(); i += 5)
          drawn[i] *= half == Half::bfloat16 ? 0x1p-130f : 0x1p-20f;
        drawn[1] = -0.0f;
        std::vector<std::uint16_t> codes(drawn.size());
        (half == Half::bfloat16 ? float_to_bfloat16 : float_to_float16)(pool, count, drawn.data(),
                                                                        codes.data());
        half_to_float(half, count, codes.data(), weights.floats.data());
        weights.matrix.bits = weights.weight.bits = 16;
        weights.packed.resize(packed_bytes(weights.matrix));
        arrange(pool, weights.matrix, codes.data(), weights.packed.data());
        weights.weight.codes = weights.packed.data();
        weights.weight.values = nullptr;
        weights.weight.half = half;
        weights.scales.assign(70, 1);
        weights.weight.scales = weights.scales.data();
        expect_product(rows, weights, rows == 2);
      }
    }
  }
}

TEST(WeightOnlyProduct, TakesFloat16ScalesAndZeroPointsOfBlocks) {
  for (const int bits : {2, 3, 4, 8}) {
    for (const Values kind : {Values::counted, Values::any}) {
      for (const std::int64_t rows : {1, 3, 33}) {
        for (const std::int64_t block : {20, 32}) {
          SCOPED_TRACE(fmt::format("{} rows, {} bits, {}, blocks of {}", rows, bits,
                                   static_cast<int>(kind), block));
          expect_product(rows, FloatWeights(70, 130, bits, block, kind, false, 2), false);
          if (kind == Values::counted)
            expect_product(rows, FloatWeights(70, 130, bits, block, kind, false, 3), false);
        }
      }
    }
  }
}

TEST(WeightOnlyProduct, RefusesWeightsWithoutScales) {
  ThreadPool pool(1);
  FloatWeights weights(32, 64, 8, 0);
  weights.weight.scales = nullptr;
  std::vector<float> x(64), y(32);
  EXPECT_THROW(weight_only_product(pool, {x.data(), 1, 64}, weights.weight, {}, y.data(), 32),
               InternalError);
}

}  // namespace
}  // namespace hone::kernels
