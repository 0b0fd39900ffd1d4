#include "hone/kernels/int8_rows.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>

#include "hone/kernels/scratch.h"
#include "tests/formats/block_testing.h"
#include "tests/formats/formats_testing.h"
#include "tests/kernels/kernel_testing.h"

// Compares the int8 rows that integer products read with the formats' values.
namespace hone::testing {
namespace {

using kernels::Int8Rows;
using kernels::Int8Shape;

// Returns the values of the rows; each is exact. All values of a row with NaN are NaN.
std::vector<float> values_of(const Int8Rows& rows) {
  std::vector<float> values;
  for (std::int64_t m = 0; m < rows.shape.rows; ++m) {
    for (std::int64_t k = 0; k < rows.shape.columns; ++k) {
      const std::int32_t origin = rows.origin(m, k / rows.shape.block);
      const double power = static_cast<double>(std::bit_cast<float>(origin)) / 0x1.8p23;
      const double code = rows.codes[m * rows.shape.stride() + k];
      values.push_back(static_cast<float>(code * power * static_cast<double>(rows.scales[m])));
    }
  }
  return values;
}

// Checks the sums, the zeros after each row, and the bound of the codes.
void expect_in_order(const Int8Rows& rows, int bits) {
  const int bound = (1 << (bits - 1)) - 1;
  for (std::int64_t m = 0; m < rows.shape.rows; ++m) {
    if (std::isnan(rows.scales[m])) continue;
    const std::int8_t* const codes = rows.codes + m * rows.shape.stride();
    for (std::int64_t b = 0; b < rows.shape.blocks(); ++b) {
      const std::int64_t end = std::min((b + 1) * rows.shape.block, rows.shape.columns);
      EXPECT_EQ(rows.origin(m, b) - rows.start(m, b),
                128 * std::accumulate(codes + b * rows.shape.block, codes + end, 0));
    }
    for (std::int64_t k = 0; k < rows.shape.stride(); ++k)
      EXPECT_LE(std::abs(codes[k]), k < rows.shape.columns ? bound : 0);
  }
}

// Checks that `round(pool, rows)` gives `expected` on every instruction set, or NaN for rows that contain a NaN.
template <typename Round>
void expect_rounds(const Int8Shape& shape, int bits, const std::vector<float>& expected,
                   Round&& round) {
  kernels::for_each_target([&] {
    for (const int threads : {1, 3}) {
      ThreadPool pool(threads);
      kernels::Scratch memory;
      const std::size_t bytes = kernels::int8_rows_bytes(shape);
      float* const floats = memory.floats(bytes / sizeof(float));
      std::fill_n(floats, bytes / sizeof(float), 77.0f);
      const Int8Rows rows = kernels::int8_rows(shape, floats);
      round(pool, rows);
      const auto got = values_of(rows);
      expect_in_order(rows, bits);
      for (std::int64_t m = 0; m < shape.rows; ++m) {
        const auto begin = expected.begin() + m * shape.columns;
        const bool numbers =
            std::none_of(begin, begin + shape.columns, [](float v) { return std::isnan(v); });
        ASSERT_EQ(std::isnan(rows.scales[m]), !numbers) << "row " << m;
        for (std::int64_t k = 0; numbers && k < shape.columns; ++k)
          ASSERT_TRUE(same(got[m * shape.columns + k], begin[k])) << m << "," << k;
      }
    }
  });
}

TEST(Int8Rows, HaveTheValuesOfMxint) {
  for (const int block : {16, 32, 64, 256}) {
    for (const int bits : {8, 6, 4, 2}) {
      for (const char* scale : {"floor", "ceil"}) {
        for (const std::int64_t columns : {5, 64, 100, 520}) {
          const std::string format =
              fmt::format("mxint(bits={},block={},scale={})", bits, block, scale);
          SCOPED_TRACE(fmt::format("{} of {} columns", format, columns));
          const Int8Shape shape{9, columns, block};
          kernels::Int8Blocks blocks{bits};
          if (scale[0] == 'c') blocks.next_from = (1u << 23) - (1u << (25 - bits)) + 1;
          for (const int spread : {3, 50}) {
            const auto x = values_in_runs(static_cast<std::size_t>(9 * columns), block, spread);
            expect_rounds(shape, bits, by_reference(format, x, {9, columns}),
                          [&](ThreadPool& pool, const Int8Rows& rows) {
                            kernels::round_rows_in_blocks(pool, x.data(), blocks, rows);
                          });
          }
        }
      }
    }
  }
}

// Each row is one block, so that no block counts as zero next to a larger one.
TEST(Int8Rows, HaveTheValuesOfMxintToTheEndsOfFloats) {
  for (const int bits : {8, 4, 2}) {
    for (const bool ceil : {false, true}) {
      const std::string format =
          fmt::format("mxint(bits={},block=32,scale={})", bits, ceil ? "ceil" : "floor");
      kernels::Int8Blocks blocks{bits};
      if (ceil) blocks.next_from = (1u << 23) - (1u << (25 - bits)) + 1;
      auto x = any_values_in_runs(32 * 300, 32);
      for (std::size_t i = 0; i < 960; ++i) x[i] = std::ldexp(x[i], -140);  // subnormal blocks
      expect_rounds({300, 32, 32}, bits, by_reference(format, x, {300, 32}),
                    [&](ThreadPool& pool, const Int8Rows& rows) {
                      kernels::round_rows_in_blocks(pool, x.data(), blocks, rows);
                    });
    }
  }
}

TEST(Int8Rows, ABlockFarBelowAnotherCountsAsZero) {
  std::vector<float> x(64, 0x1p-100f);
  x[0] = 0x1p20f;
  auto expected =
      x;  // 2^-100 is 2^-120 of the first block's scale: zero there, but kept in the second block
  std::fill_n(expected.begin() + 1, 31, 0.0f);
  const auto round = [&](ThreadPool& pool, const Int8Rows& rows) {
    kernels::round_rows_in_blocks(pool, x.data(), {}, rows);
  };
  expect_rounds({1, 64, 32}, 8, expected, round);
  x[0] = expected[0] = 0x1p21f;
  std::fill(expected.begin() + 32, expected.end(), 0.0f);
  expect_rounds({1, 64, 32}, 8, expected, round);
}

TEST(Int8Rows, HaveTheValuesOfIntPerToken) {
  for (const int bits : {8, 5, 2}) {
    const std::string format = fmt::format("int(bits={},per=token)", bits);
    for (const std::int64_t columns : {1, 64, 100, 520}) {
      const Sizes sizes = {12, columns};
      for (const auto& x : {finite_values(static_cast<std::size_t>(12 * columns)),
                            any_values(static_cast<std::size_t>(12 * columns))}) {
        expect_rounds({12, columns, columns}, bits, by_reference(format, x, sizes),
                      [&](ThreadPool& pool, const Int8Rows& rows) {
                        kernels::round_rows(pool, x.data(), {bits}, rows);
                      });
      }
    }
  }
}

TEST(Int8Rows, HaveTheValuesOfIntWithACalibratedScale) {
  const std::string format = "int(bits=8)";
  const auto x = finite_values(12 * 100, 4, 4);
  const auto state = calibrated_state(format, x, {12, 100});
  const float scale = state[0].values<float>()[0];
  auto wider = finite_values(12 * 100, 8, 8);  // saturates
  wider[5] = std::numeric_limits<float>::infinity();
  wider[300] = std::numeric_limits<float>::quiet_NaN();
  for (const std::int64_t block : {100, 32}) {
    expect_rounds({12, 100, block}, 8, by_reference(format, wider, {12, 100}, state),
                  [&](ThreadPool& pool, const Int8Rows& rows) {
                    kernels::round_rows(pool, wider.data(), {8, scale}, rows);
                  });
  }
}

TEST(Int8Rows, RefuseBlocksThatSumsDoNotFit) {
  ThreadPool pool(1);
  kernels::Scratch memory;
  for (const Int8Shape& shape : {Int8Shape{1, 64, 24}, {1, 600, 512}, {1, 1 << 18, 1 << 18}}) {
    const Int8Rows rows = kernels::int8_rows(shape, memory.floats(1 << 20));
    const std::vector<float> x(static_cast<std::size_t>(shape.columns));
    EXPECT_THROW(kernels::round_rows(pool, x.data(), {}, rows), InternalError);
  }
}

}  // namespace
}  // namespace hone::testing
