#include "hone/kernels/softmax.h"

#include <sys/mman.h>
#include <unistd.h>

#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

std::vector<float> softmax_of(std::int64_t rows, std::int64_t n, const std::vector<float>& x) {
  return same_for_any_threads([&](ThreadPool& pool) {
    std::vector<float> y(x.size());
    softmax(pool, rows, n, x.data(), y.data());
    return y;
  });
}

TEST(Softmax, AgreesWithDoubles) {
  for_each_target([] {
    for (const std::int64_t n : kOddSizes) {
      constexpr std::int64_t kRows = 5;
      const auto x = random_floats(kRows * n, 1, -8.0, 8.0);
      const auto y = softmax_of(kRows, n, x);
      for (std::int64_t r = 0; r < kRows; ++r) {
        const float* const row = x.data() + r * n;
        const double maximum = *std::max_element(row, row + n);
        double sum = 0;
        for (std::int64_t i = 0; i < n; ++i) sum += std::exp(row[i] - maximum);
        for (std::int64_t i = 0; i < n; ++i) {
          const double expected = std::exp(row[i] - maximum) / sum;
          // x - max has a rounding error of at most 16, exponentials 2, the sum n / 64 additions and 6 of lanes, and
          // the quotient 2
          const double tolerance =
              kRounding * (16 + 2 + 2 + static_cast<double>(n) / 16 + 4 + 2) * expected;
          ASSERT_NEAR(y[r * n + i], expected, tolerance) << "n " << n;
        }
      }
    }
  });
}

TEST(Softmax, RowsSumToOne) {
  for_each_target([] {
    constexpr std::int64_t kRows = 300;
    constexpr std::int64_t kWidth = 257;
    const auto y = softmax_of(kRows, kWidth, random_floats(kRows * kWidth, 1, -30.0, 30.0));
    for (std::int64_t r = 0; r < kRows; ++r) {
      double sum = 0;
      for (std::int64_t i = 0; i < kWidth; ++i) sum += y[r * kWidth + i];
      ASSERT_NEAR(sum, 1.0, kWidth * kRounding);
    }
  });
}

TEST(Softmax, MaskedEntriesAreExactlyZero) {
  for_each_target([] {
    for (const float mask : {-3.4e38f, -kInfinity}) {
      std::vector<float> x(37, mask);
      x[3] = 1.0f;
      x[20] = 1.0f;
      const auto y = softmax_of(1, 37, x);
      for (int i = 0; i < 37; ++i) ASSERT_EQ(y[i], i == 3 || i == 20 ? 0.5f : 0.0f);
    }
  });
}

// Padded texts of a batch depend on this.
TEST(Softmax, MaskedEntriesBehindARowChangeNoBit) {
  for_each_target([] {
    for (const std::int64_t n : kOddSizes) {
      const auto x = random_floats(n, 3, -8.0, 8.0);
      const auto alone = softmax_of(1, n, x);
      for (const std::int64_t padding : {1, 13, 64, 100}) {
        auto padded = x;
        padded.resize(x.size() + static_cast<std::size_t>(padding), -3.4e38f);
        auto y = softmax_of(1, n + padding, padded);
        y.resize(x.size());
        ASSERT_TRUE(same_bits(y, alone)) << n << " and " << padding;
      }
    }
  });
}

// Rows that end at the end of memory: vector lanes beyond the row are neither read nor written.
TEST(Softmax, StaysWithinItsRows) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const pages =
      ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(::mprotect(static_cast<char*>(pages) + page, page, PROT_NONE), 0);
  float* const end = reinterpret_cast<float*>(static_cast<char*>(pages) + page);
  ThreadPool pool(1);
  for_each_target([&] {
    for (const std::int64_t n : kOddSizes) {
      std::fill(end - n, end, 1.0f);
      softmax(pool, 1, n, end - n, end - n);
      softmax_gradient(pool, 1, n, end - n, end - n, end - n);
      EXPECT_LT(std::abs(end[-1]), 1e-6f) << n;  // y (y - sum of y y) with y = 1/n
    }
  });
  ::munmap(pages, 2 * page);
}

TEST(Softmax, RowOfTheLowestFloatsIsUniform) {
  for_each_target([] {
    for (const float y : softmax_of(1, 16, std::vector<float>(16, -3.4e38f)))
      ASSERT_EQ(y, 1.0f / 16);
  });
}

TEST(Softmax, RowsWithoutFiniteMaximumAreNan) {
  for_each_target([] {
    std::vector<float> with_nan(21, 0.0f);
    with_nan[20] = kNan;
    std::vector<float> with_infinity(21, 0.0f);
    with_infinity[1] = kInfinity;
    EXPECT_TRUE(std::isnan(softmax_of(1, 21, with_infinity)[1]));
    for (const auto& x : {std::vector<float>(21, -kInfinity), with_nan}) {
      for (const float y : softmax_of(1, 21, x)) ASSERT_TRUE(std::isnan(y));
    }
  });
}

TEST(SoftmaxGradient, AgreesWithDoubles) {
  for_each_target([] {
    for (const std::int64_t n : kOddSizes) {
      constexpr std::int64_t kRows = 4;
      const auto y = softmax_of(kRows, n, random_floats(kRows * n, 1, -3.0, 3.0));
      const auto dy = random_floats(kRows * n, 2);
      const auto dx = same_for_any_threads([&](ThreadPool& pool) {
        std::vector<float> result(y.size());
        softmax_gradient(pool, kRows, n, y.data(), dy.data(), result.data());
        return result;
      });
      for (std::int64_t r = 0; r < kRows; ++r) {
        double dot = 0;
        for (std::int64_t i = r * n; i < (r + 1) * n; ++i) dot += double{y[i]} * dy[i];
        // |dot| < 1 has the error of its product and of n / 16 additions; the difference and the product have one
        // rounding of at most 2
        const double tolerance = kRounding * (static_cast<double>(n) / 16 + 10);
        for (std::int64_t i = r * n; i < (r + 1) * n; ++i)
          ASSERT_NEAR(dx[i], y[i] * (dy[i] - dot), tolerance * y[i]);
      }
    }
  });
}

}  // namespace
}  // namespace hone::kernels
