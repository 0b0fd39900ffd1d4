#include "hone/kernels/gemm.h"

#include "hone/kernels/activation.h"
#include "hone/kernels/elementwise.h"
#include "hone/kernels/scratch.h"

#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

// A matrix of random values with padding between its lines, stored by rows or by columns.
struct Stored {
  std::vector<float> values;
  ConstMatrix view;

  Stored(std::int64_t rows, std::int64_t columns, bool transposed, std::uint64_t stream,
         std::int64_t padding = 3) {
    const std::int64_t lines = transposed ? columns : rows;
    const std::int64_t stride = (transposed ? rows : columns) + padding;
    values = random_floats(lines * stride, stream);
    view =
        transposed ? ConstMatrix{values.data(), 1, stride} : ConstMatrix{values.data(), stride, 1};
  }
};

// Each of k products and additions (and up to two more for bias and C) has an error of at most kRounding of the sum of
// the absolute terms. The last factor covers the rounding of the expected value.
void expect_near_product(const GemmShape& shape, const ConstMatrix& a, const ConstMatrix& b,
                         const Epilogue& add, const std::vector<float>& before,
                         const std::vector<float>& c, std::int64_t stride) {
  std::vector<float> expected = before;
  gemm_reference(shape, a, b, expected.data(), stride, add);
  for (std::int64_t i = 0; i < shape.m; ++i) {
    for (std::int64_t j = 0; j < stride; ++j) {
      const std::int64_t at = i * stride + j;
      if (j >= shape.n) {
        ASSERT_EQ(c[at], before[at]) << "padding of row " << i << " was written";
        continue;
      }
      double magnitude =
          (add.bias ? std::abs(add.bias[j]) : 0.0) + (add.accumulate ? std::abs(before[at]) : 0.0);
      for (std::int64_t l = 0; l < shape.k; ++l) {
        magnitude += std::abs(double{a.data[i * a.row_stride + l * a.column_stride]} *
                              b.data[l * b.row_stride + j * b.column_stride]);
      }
      ASSERT_NEAR(c[at], expected[at], (static_cast<double>(shape.k) + 3) * kRounding * magnitude)
          << "at " << i << "," << j;
    }
  }
}

void check_product(const GemmShape& shape, bool a_transposed, bool b_transposed, bool with_bias,
                   bool accumulate, std::int64_t padding = 3) {
  SCOPED_TRACE(fmt::format("{}x{}x{} {}{} bias {} accumulate {}", shape.m, shape.n, shape.k,
                           a_transposed ? "T" : "N", b_transposed ? "T" : "N", with_bias,
                           accumulate));
  const Stored a(shape.m, shape.k, a_transposed, 1, padding);
  const Stored b(shape.k, shape.n, b_transposed, 2);
  const auto bias = random_floats(shape.n, 3);
  const std::int64_t stride = shape.n + 5;
  const auto before = random_floats(shape.m * stride, 4);
  const Epilogue add{with_bias ? bias.data() : nullptr, accumulate};
  const auto c = same_for_any_threads([&](ThreadPool& pool) {
    std::vector<float> result = before;
    gemm(pool, shape, a.view, b.view, result.data(), stride, add);
    return result;
  });
  expect_near_product(shape, a.view, b.view, add, before, c, stride);
  ThreadPool pool(2);
  const std::size_t floats = gemm_packed_floats(shape.n, shape.k);
  Scratch packed;
  gemm_pack(pool, shape.n, shape.k, b.view, packed.floats(floats));
  std::vector<float> of_packed = before;
  gemm_packed(pool, shape, a.view, packed.floats(floats), of_packed.data(), stride, add);
  EXPECT_EQ(of_packed, c);
}

// So texts give the same values alone, in a batch, and with any padding.
TEST(Gemm, RowsDoNotDependOnHowManyThereAre) {
  for_each_target([] {
    constexpr std::int64_t kRows = 300, kColumns = 770, kDepth = 900;
    const Stored a(kRows, kDepth, false, 1), b(kDepth, kColumns, true, 2);
    ThreadPool pool(2);
    std::vector<float> all(kRows * kColumns);
    gemm(pool, {kRows, kColumns, kDepth}, a.view, b.view, all.data(), kColumns);
    for (const std::int64_t rows : {1, 7, 8, 9, 127, 128, 129}) {
      std::vector<float> few(static_cast<std::size_t>(rows * kColumns));
      gemm(pool, {rows, kColumns, kDepth}, a.view, b.view, few.data(), kColumns);
      EXPECT_TRUE(std::equal(few.begin(), few.end(), all.begin())) << rows << " rows";
    }
  });
}

TEST(Gemm, AgreesWithReferenceForSmallSizesAndAllTransposes) {
  for_each_target([] {
    for (const std::int64_t m : {1, 3, 8, 9}) {
      for (const std::int64_t n : {1, 15, 16, 17, 47, 48, 49, 100}) {
        for (const std::int64_t k : {1, 2, 5, 64}) {
          for (const int transposes : {0, 1, 2, 3})
            check_product({m, n, k}, transposes & 1, transposes & 2, n % 2, m % 2);
        }
      }
    }
  });
}

TEST(Gemm, AgreesWithReferenceAcrossTilesAndDepthBlocks) {
  for_each_target([] {
    for (const int transposes : {0, 1, 2, 3}) {
      check_product({131, 65, 401}, transposes & 1, transposes & 2, true, false);
      check_product({130, 130, 130}, transposes & 1, transposes & 2, false, true);
    }
    check_product({40, 1000, 33}, false, true, true, true);
    check_product({33, 20, 1600}, true, false, false, false);
  });
}

TEST(Gemm, PacksRowsThatShareCacheSets) {
  // rows of A exactly one page apart are packed instead of read in place
  for_each_target([] { check_product({37, 33, 1024}, false, false, true, false, /*padding=*/0); });
}

// Applies the activation with its own kernel.
void activate(Activation activation, ThreadPool& pool, std::vector<float>& x) {
  const auto count = static_cast<std::int64_t>(x.size());
  if (activation == Activation::relu) relu(pool, count, x.data(), x.data());
  if (activation == Activation::gelu_erf) gelu_erf(pool, count, x.data(), x.data());
  if (activation == Activation::gelu_tanh) gelu_tanh(pool, count, x.data(), x.data());
  if (activation == Activation::tanh) tanh(pool, count, x.data(), x.data());
}

constexpr Activation kActivations[] = {Activation::none, Activation::relu, Activation::gelu_erf,
                                       Activation::gelu_tanh, Activation::tanh};

TEST(Gemm, EpilogueHasTheBitsOfItsSteps) {
  const GemmShape shapes[] = {{1, 1, 1}, {9, 50, 7}, {131, 65, 801}};
  for_each_target([&] {
    for (const GemmShape& shape : shapes) {
      const Stored a(shape.m, shape.k, false, 1), b(shape.k, shape.n, true, 2);
      const auto bias = random_floats(shape.n, 3);
      const std::int64_t stride = shape.n + 3;
      const auto residual = random_floats(shape.m * stride, 4);
      for (const Activation activation : kActivations) {
        for (const bool adds : {false, true}) {
          ThreadPool pool(2);
          std::vector<float> expected(static_cast<std::size_t>(shape.m * shape.n));
          gemm(pool, shape, a.view, b.view, expected.data(), shape.n, {.bias = bias.data()});
          activate(activation, pool, expected);
          const std::int64_t sizes[] = {shape.m, shape.n}, dense[] = {shape.n, 1},
                             apart[] = {stride, 1};
          if (adds)
            add(pool, sizes, {expected.data(), dense}, {residual.data(), apart}, expected.data());
          const auto got = same_for_any_threads([&](ThreadPool& threads) {
            std::vector<float> c(expected.size());
            gemm(threads, shape, a.view, b.view, c.data(), shape.n,
                 {.bias = bias.data(),
                  .activation = activation,
                  .residual = adds ? residual.data() : nullptr,
                  .residual_stride = stride});
            return c;
          });
          EXPECT_TRUE(same_bits(got, expected))
              << shape.m << "x" << shape.n << "x" << shape.k << " activation "
              << static_cast<int>(activation) << " residual " << adds;
        }
      }
    }
  });
}

// The error of an activation with slope below 1.13 is that of its sum, plus 16 units of its value. A residual rounds
// once.
TEST(Gemm, EpilogueAgreesWithReference) {
  constexpr std::int64_t kRows = 20, kColumns = 70, kDepth = 40;
  const Stored a(kRows, kDepth, false, 1), b(kDepth, kColumns, true, 2);
  const auto bias = random_floats(kColumns, 3), residual = random_floats(kRows * kColumns, 4);
  ThreadPool pool(2);
  for (const Activation activation : kActivations) {
    const Epilogue epilogue{.bias = bias.data(),
                            .activation = activation,
                            .residual = residual.data(),
                            .residual_stride = kColumns};
    std::vector<float> got(kRows * kColumns), expected(got.size());
    gemm(pool, {kRows, kColumns, kDepth}, a.view, b.view, got.data(), kColumns, epilogue);
    gemm_reference({kRows, kColumns, kDepth}, a.view, b.view, expected.data(), kColumns, epilogue);
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], expected[i],
                  1.13 * kRounding * (kDepth + 3) * (kDepth + 1) + 32 * kRounding * 8);
  }
}

TEST(Gemm, EmptySumIsWhatIsAdded) {
  ThreadPool pool(2);
  const std::vector<float> bias = {1, 2, 3};
  std::vector<float> c(6, 10.0f);
  gemm(pool, {2, 3, 0}, {nullptr, 0, 1}, {nullptr, 3, 1}, c.data(), 3, {bias.data(), true});
  EXPECT_EQ(c, (std::vector<float>{11, 12, 13, 11, 12, 13}));
  gemm(pool, {2, 3, 0}, {nullptr, 0, 1}, {nullptr, 3, 1}, c.data(), 3);
  EXPECT_EQ(c, std::vector<float>(6, 0.0f));
}

TEST(Gemm, RefusesMatricesWithoutUnitStride) {
  ThreadPool pool(1);
  std::vector<float> data(64);
  EXPECT_THROW(gemm(pool, {2, 2, 2}, {data.data(), 4, 2}, {data.data(), 2, 1}, data.data(), 2),
               InternalError);
}

TEST(GemmBatched, TreatsHeadsInPlace) {
  // scores(B,N,S,S) = Q K^T with Q and K stored as (B,S,N,D)
  constexpr std::int64_t B = 2, N = 3, S = 19, D = 10;
  const auto q = random_floats(B * S * N * D, 1);
  const auto k = random_floats(B * S * N * D, 2);
  const GemmShape shape{S, S, D};
  for_each_target([&] {
    const auto scores = same_for_any_threads([&](ThreadPool& pool) {
      std::vector<float> result(B * N * S * S);
      gemm_batched(pool, {B, N}, shape, {{q.data(), N * D, 1}, {S * N * D, D}},
                   {{k.data(), 1, N * D}, {S * N * D, D}}, {result.data(), S, {N * S * S, S * S}});
      return result;
    });
    for (std::int64_t p = 0; p < B; ++p) {
      for (std::int64_t h = 0; h < N; ++h) {
        const std::vector<float> item(scores.begin() + (p * N + h) * S * S,
                                      scores.begin() + (p * N + h + 1) * S * S);
        const ConstMatrix left{q.data() + p * S * N * D + h * D, N * D, 1};
        const ConstMatrix right{k.data() + p * S * N * D + h * D, 1, N * D};
        expect_near_product(shape, left, right, {}, std::vector<float>(S * S), item, S);
      }
    }
  });
}

TEST(GemmBatched, StrideZeroUsesOneMatrixForAllItems) {
  constexpr std::int64_t kItems = 5;
  const GemmShape shape{7, 20, 9};
  const auto a = random_floats(kItems * 7 * 9, 1);
  const Stored b(9, 20, false, 2);
  ThreadPool pool(2);
  std::vector<float> c(kItems * 7 * 20);
  gemm_batched(pool, {kItems, 1}, shape, {{a.data(), 9, 1}, {63, 0}}, {b.view, {0, 0}},
               {c.data(), 20, {140, 0}});
  std::vector<float> alone(7 * 20);
  for (std::int64_t i = 0; i < kItems; ++i) {
    gemm(pool, shape, {a.data() + i * 63, 9, 1}, b.view, alone.data(), 20);
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), c.begin() + i * 140));
  }
}

TEST(GemmBatched, LargeItemsAreSplit) {
  // above 2^27 multiply-adds, every item is cut into tiles, as `gemm` cuts a single product
  const GemmShape shape{520, 513, 512};
  const auto a = random_floats(2 * 520 * 512, 1);
  const auto b = random_floats(512 * 513, 2);
  ThreadPool pool(2);
  std::vector<float> c(2 * 520 * 513);
  gemm_batched(pool, {1, 2}, shape, {{a.data(), 512, 1}, {0, 520 * 512}},
               {{b.data(), 513, 1}, {0, 0}}, {c.data(), 513, {0, 520 * 513}});
  std::vector<float> alone(520 * 513);
  gemm(pool, shape, {a.data() + 520 * 512, 512, 1}, {b.data(), 513, 1}, alone.data(), 513);
  EXPECT_TRUE(std::equal(alone.begin(), alone.end(), c.begin() + 520 * 513));
}

}  // namespace
}  // namespace hone::kernels
