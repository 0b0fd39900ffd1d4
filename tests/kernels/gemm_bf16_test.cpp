#include "hone/kernels/gemm_bf16.h"

#include <algorithm>
#include <cstring>

#include "hone/kernels/bf16_products.h"
#include "hone/kernels/half_conversion.h"
#include "hone/kernels/packed_matrix.h"
#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

std::vector<std::uint16_t> halves_of(const std::vector<float>& x) {
  ThreadPool pool(1);
  std::vector<std::uint16_t> halves(x.size());
  float_to_bfloat16(pool, static_cast<std::int64_t>(x.size()), x.data(), halves.data());
  return halves;
}

std::vector<float> rounded_to_bf16(const std::vector<float>& x) {
  std::vector<float> y(x.size());
  half_to_float(Half::bfloat16, static_cast<std::int64_t>(x.size()), halves_of(x).data(), y.data());
  return y;
}

// Returns W (N,K) packed for products.
std::vector<std::uint8_t> packed_weight(const std::vector<float>& w, std::int64_t n,
                                        std::int64_t k) {
  ThreadPool pool(1);
  const PackedMatrix matrix{n, k, 16};
  std::vector<std::uint8_t> packed(packed_bytes(matrix));
  arrange(pool, matrix, halves_of(w).data(), packed.data());
  return packed;
}

struct PairOperands {
  GemmShape shape;
  std::int64_t a_stride;
  std::vector<float> a, w, bias;

  explicit PairOperands(const GemmShape& sizes)
      : shape(sizes),
        a_stride(sizes.k + 3),
        a(random_floats(sizes.m * a_stride, 1)),
        w(random_floats(sizes.n * sizes.k, 2)),
        bias(random_floats(sizes.n, 3)) {}

  std::vector<float> product(ThreadPool& pool, const Epilogue& epilogue) const {
    const std::vector<std::uint8_t> packed = packed_weight(w, shape.n, shape.k);
    std::vector<float> c(static_cast<std::size_t>(shape.m * (shape.n + 2)), 7.0f);
    gemm_bf16(pool, shape, a.data(), a_stride, packed.data(), c.data(), shape.n + 2, epilogue);
    return c;
  }
};

constexpr GemmShape kPairShapes[] = {{1, 1, 1},    {1, 49, 2},      {8, 48, 64},    {9, 17, 33},
                                     {130, 65, 7}, {20, 100, 1601}, {140, 400, 20}, {2, 200, 900},
                                     {3, 96, 50},  {5, 33, 10}};

// Multiplies rounded operands and sums over blocks of at most 768 of K, with the odd element of each pair first.
float expected_at(const PairOperands& o, const std::vector<float>& a, const std::vector<float>& w,
                  std::int64_t i, std::int64_t j) {
  const std::int64_t k = o.shape.k, pairs = (k + 1) / 2,
                     blocks = std::max<std::int64_t>(1, (pairs + 383) / 384);
  const auto term = [&](std::int64_t l, float sum) {
    return l < k ? std::fmaf(a[i * o.a_stride + l], w[j * k + l], sum) : sum;
  };
  float c = 0;
  for (std::int64_t block = 0; block < blocks; ++block) {
    float sum = 0;
    for (std::int64_t p = pairs * block / blocks; p < pairs * (block + 1) / blocks; ++p)
      sum = term(2 * p, term(2 * p + 1, sum));
    c = block == 0 ? sum + o.bias[j] : c + sum;
  }
  return c;
}

TEST(GemmBf16, SumsRoundedOperandsPairByPair) {
  for_each_target(
      [] {
        for (const GemmShape& shape : kPairShapes) {
          SCOPED_TRACE(fmt::format("{}x{}x{}", shape.m, shape.n, shape.k));
          const PairOperands o(shape);
          const auto c = same_for_any_threads(
              [&](ThreadPool& pool) { return o.product(pool, {.bias = o.bias.data()}); });
          const std::vector<float> a = rounded_to_bf16(o.a), w = rounded_to_bf16(o.w);
          for (std::int64_t i = 0; i < shape.m; ++i) {
            for (std::int64_t j = 0; j < shape.n; ++j)
              ASSERT_EQ(c[i * (shape.n + 2) + j], expected_at(o, a, w, i, j)) << i << "," << j;
            ASSERT_EQ(c[i * (shape.n + 2) + shape.n], 7.0f) << "behind row " << i;
          }
        }
      },
      kFusedTargets);
}

// Without fused multiply-adds, each of the k products and additions has an error of at most kRounding of the sum of
// absolute terms.
TEST(GemmBf16, AgreesWithDoublesWithEveryInstructionSet) {
  for_each_target([] {
    const PairOperands o({10, 50, 300});
    const std::vector<float> a = rounded_to_bf16(o.a), w = rounded_to_bf16(o.w);
    ThreadPool pool(2);
    const auto c = o.product(pool, {.bias = o.bias.data()});
    for (std::int64_t i = 0; i < 10; ++i) {
      for (std::int64_t j = 0; j < 50; ++j) {
        double sum = o.bias[j], magnitude = std::abs(sum);
        for (std::int64_t l = 0; l < 300; ++l) {
          const double term = double{a[i * o.a_stride + l]} * w[j * 300 + l];
          sum += term;
          magnitude += std::abs(term);
        }
        ASSERT_NEAR(c[i * 52 + j], sum, 2 * 303 * kRounding * magnitude);
      }
    }
  });
}

TEST(GemmBf16, GoesThroughTheEpilogue) {
  for_each_target([] {
    const PairOperands o({20, 70, 1000});
    ThreadPool pool(2);
    const auto residual = random_floats(std::int64_t{20} * 70, 5);
    const auto plain = o.product(pool, {.bias = o.bias.data()});
    const auto done = o.product(pool, {.bias = o.bias.data(),
                                       .activation = Activation::relu,
                                       .residual = residual.data(),
                                       .residual_stride = 70});
    const auto added = o.product(pool, {.bias = o.bias.data(), .accumulate = true});
    for (std::int64_t i = 0; i < 20; ++i) {
      for (std::int64_t j = 0; j < 70; ++j) {
        const std::int64_t at = i * 72 + j;
        ASSERT_EQ(done[at], std::max(plain[at], 0.0f) + residual[i * 70 + j]);
        ASSERT_NEAR(added[at], plain[at] + 7, 1e-4);
      }
    }
  });
}

// Operands, products and sums near 2^-126.
TEST(GemmBf16, TakesWhatIsBelowTheSmallestNormalNumberForZero) {
  const std::vector<float> w = {1e-39f, 1}, a = {1e30f, 1e-39f};
  const std::vector<std::uint8_t> packed = packed_weight(w, 1, 2);
  for_each_target([&] {
    ThreadPool pool(1);
    float c = 1;
    gemm_bf16(pool, {1, 1, 2}, a.data(), 2, packed.data(), &c, 1);
    EXPECT_EQ(c, 0);
  });
  PairOperands o({9, 70, 200});
  for (float& value : o.a) value *= 0x1p-64f;
  for (float& value : o.w) value *= 0x1p-61f;
  const std::vector<float> c =
      same_for_any_target([&](ThreadPool& pool) { return o.product(pool, {}); }, kFusedTargets);
  EXPECT_NE(std::ranges::count(c, 0.0f), 0);
  for (const float value : c) EXPECT_TRUE(value == 0 || std::isnormal(value)) << value;
}

// A has M rows or, if transposed, K rows. B likewise.
struct HalfOperands {
  GemmShape shape;
  bool a_transposed, b_transposed;
  std::vector<float> a, b, bias, residual;

  HalfOperands(const GemmShape& sizes, bool transposes_a, bool transposes_b)
      : shape(sizes),
        a_transposed(transposes_a),
        b_transposed(transposes_b),
        a(rounded_to_bf16(random_floats(sizes.m * sizes.k, 1))),
        b(rounded_to_bf16(random_floats(sizes.n * sizes.k, 2))),
        bias(rounded_to_bf16(random_floats(sizes.n, 3))),
        residual(rounded_to_bf16(random_floats(sizes.m * sizes.n, 4))) {}

  float a_at(std::int64_t i, std::int64_t l) const {
    return a_transposed ? a[l * shape.m + i] : a[i * shape.k + l];
  }
  float b_at(std::int64_t l, std::int64_t j) const {
    return b_transposed ? b[j * shape.k + l] : b[l * shape.n + j];
  }

  // Returns the bits of C, with two elements between rows.
  std::vector<std::uint16_t> product(ThreadPool& pool, bool packed) const {
    const auto [m, n, k] = shape;
    const std::vector<std::uint16_t> left = halves_of(a), right = halves_of(b),
                                     starts = halves_of(bias), added = halves_of(residual);
    const Bf16Matrix a_bits{left.data(), a_transposed ? 1 : k, a_transposed ? m : 1},
        b_bits{right.data(), b_transposed ? 1 : n, b_transposed ? k : 1};
    const Bf16Epilogue epilogue{starts.data(), Activation::relu, added.data(), n};
    std::vector<std::uint16_t> c(static_cast<std::size_t>(m * (n + 2)), 7);
    if (packed) {
      std::vector<std::uint32_t> columns(gemm_bf16_packed_words(n, k));
      gemm_bf16_pack(pool, n, k, b_bits, columns.data());
      gemm_bf16_packed(pool, shape, a_bits, columns.data(), c.data(), n + 2, epilogue);
    } else {
      std::vector<std::uint32_t> workspace(gemm_bf16_workspace_words(shape));
      gemm_bf16(pool, shape, a_bits, b_bits, c.data(), n + 2, epilogue, workspace.data());
    }
    return c;
  }

  // Like the function above, with the epilogue and before the final rounding.
  float expected_at(std::int64_t i, std::int64_t j) const {
    const std::int64_t pairs = (shape.k + 1) / 2,
                       blocks = std::max<std::int64_t>(1, (pairs + 383) / 384);
    const auto term = [&](std::int64_t l, float sum) {
      return l < shape.k ? std::fmaf(a_at(i, l), b_at(l, j), sum) : sum;
    };
    float c = 0;
    for (std::int64_t block = 0; block < blocks; ++block) {
      float sum = 0;
      for (std::int64_t p = pairs * block / blocks; p < pairs * (block + 1) / blocks; ++p)
        sum = term(2 * p, term(2 * p + 1, sum));
      c = block == 0 ? sum + bias[j] : c + sum;
    }
    return std::max(c, 0.0f) + residual[i * shape.n + j];
  }
};

TEST(GemmBf16, RoundsOnceWhatHalvesGiveHoweverTheyLie) {
  for_each_target(
      [] {
        for (const GemmShape& shape : kPairShapes) {
          for (const bool a_transposed : {false, true}) {
            for (const bool b_transposed : {false, true}) {
              SCOPED_TRACE(fmt::format("{}x{}x{} {} {}", shape.m, shape.n, shape.k, a_transposed,
                                       b_transposed));
              const HalfOperands o(shape, a_transposed, b_transposed);
              const auto c =
                  same_for_any_threads([&](ThreadPool& pool) { return o.product(pool, false); });
              ThreadPool pool(2);
              ASSERT_EQ(c, o.product(pool, true));
              std::vector<float> row(static_cast<std::size_t>(shape.n));
              for (std::int64_t i = 0; i < shape.m; ++i) {
                for (std::int64_t j = 0; j < shape.n; ++j) row[j] = o.expected_at(i, j);
                const std::vector<std::uint16_t> expected = halves_of(row);
                for (std::int64_t j = 0; j < shape.n; ++j)
                  ASSERT_EQ(c[i * (shape.n + 2) + j], expected[j]) << i << "," << j;
                ASSERT_EQ(c[i * (shape.n + 2) + shape.n], 7) << "behind row " << i;
              }
            }
          }
        }
      },
      kFusedTargets);
}

// Packing bf16 values gives the layout of weights in files, including the padding.
TEST(GemmBf16, PacksColumnsAsFilesHaveWeights) {
  for_each_target([] {
    ThreadPool pool(2);
    for (const GemmShape& shape : kPairShapes) {
      const auto w = random_floats(shape.n * shape.k, 2);
      const std::vector<std::uint16_t> halves = halves_of(w);
      std::vector<std::uint32_t> packed(gemm_bf16_packed_words(shape.n, shape.k), 7);
      gemm_bf16_pack(pool, shape.n, shape.k, {halves.data(), 1, shape.k}, packed.data());
      const std::vector<std::uint8_t> expected = packed_weight(w, shape.n, shape.k);
      ASSERT_EQ(packed.size() * sizeof(packed[0]), expected.size());
      EXPECT_EQ(std::memcmp(packed.data(), expected.data(), expected.size()), 0)
          << shape.n << "x" << shape.k;
    }
  });
}

TEST(GemmBf16, OfNothingIsTheBias) {
  const PairOperands o({2, 3, 0});
  ThreadPool pool(1);
  const auto c = o.product(pool, {.bias = o.bias.data()});
  EXPECT_EQ(c[0], o.bias[0]);
  EXPECT_EQ(c[5 + 2], o.bias[2]);
}

}  // namespace
}  // namespace hone::kernels
