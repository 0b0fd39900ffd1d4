#include "hone/kernels/sign_product.h"

#include "hone/kernels/packed_matrix.h"
#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

// A packed weight of signs, with the unpacked signs.
struct Signs {
  std::int64_t rows, columns;
  std::vector<std::uint16_t> codes;
  std::vector<std::uint8_t> packed;
  std::vector<float> scales;

  Signs(std::int64_t n, std::int64_t k)
      : rows(n),
        columns(k),
        codes(static_cast<std::size_t>(n * k)),
        scales(random_floats(n, 3, 0.1, 2)) {
    RandomSequence random(7, 1);
    for (std::uint16_t& code : codes) code = static_cast<std::uint16_t>(random.below(2));
    ThreadPool pool(1);
    const PackedMatrix matrix{n, k, 1};
    packed.resize(packed_bytes(matrix));
    arrange(pool, matrix, codes.data(), packed.data());
  }
  std::vector<float> product(ThreadPool& pool, const std::vector<float>& x, bool scaled,
                             std::int64_t stride, const Epilogue& epilogue) const {
    const std::int64_t m = std::ssize(x) / columns;
    std::vector<float> memory(sign_rows_bytes(m, columns) / sizeof(float) + 1);
    const SignRows signs = sign_rows(m, columns, memory.data());
    pack_signs(pool, x.data(), scaled, signs);
    std::vector<float> y(static_cast<std::size_t>(m * stride), 7.0f);
    sign_product(pool, signs, {rows, columns, packed.data(), scales.data()}, epilogue, y.data(),
                 stride);
    return y;
  }
};

// The mean magnitude is a sum in double. With so few 24-bit terms, the order of the sum does not change the float
// result.
TEST(SignProduct, HasTheBitsOfTheFormula) {
  for (const std::int64_t m : {1, 2, 5, 8, 77}) {
    for (const std::int64_t k : {1, 32, 40, 130, 800}) {
      for (const bool scaled : {true, false}) {
        SCOPED_TRACE(fmt::format("{} rows, {} columns, scaled {}", m, k, scaled));
        const Signs weight(70, k);
        std::vector<float> x = random_floats(m * k, 1);
        x[0] = -0.0f;
        const auto bias = random_floats(70, 2);
        const auto y = same_for_any_target(
            [&](ThreadPool& pool) {
              return weight.product(pool, x, scaled, 73, {.bias = bias.data()});
            },
            kFusedTargets);
        for (std::int64_t i = 0; i < m; ++i) {
          double magnitude = 0;
          for (std::int64_t l = 0; l < k; ++l) magnitude += std::abs(double{x[i * k + l]});
          const auto scale = static_cast<float>(magnitude / static_cast<double>(k));
          for (std::int64_t n = 0; n < 70; ++n) {
            std::int64_t sum = 0;
            for (std::int64_t l = 0; l < k; ++l)
              sum += (x[i * k + l] < 0) == (weight.codes[n * k + l] == 1) ? 1 : -1;
            const float by = static_cast<float>(sum) * weight.scales[n];
            ASSERT_EQ(y[i * 73 + n], std::fmaf(by, scaled ? scale : 1, bias[n])) << i << "," << n;
          }
          ASSERT_EQ(y[i * 73 + 70], 7.0f) << "behind row " << i;
        }
      }
    }
  }
}

TEST(SignProduct, GoesThroughTheEpilogueWithEveryInstructionSet) {
  const Signs weight(40, 100);
  const auto x = random_floats(3 * 100, 1), residual = random_floats(3 * 40, 2);
  for_each_target([&] {
    ThreadPool pool(2);
    const auto plain = weight.product(pool, x, true, 40, {});
    const auto done = weight.product(
        pool, x, true, 40,
        {.activation = Activation::relu, .residual = residual.data(), .residual_stride = 40});
    const auto added = weight.product(pool, x, true, 40, {.accumulate = true});
    for (std::size_t i = 0; i < plain.size(); ++i) {
      ASSERT_EQ(done[i], std::max(plain[i], 0.0f) + residual[i]);
      ASSERT_EQ(added[i], plain[i] + 7);
    }
  });
}

TEST(SignProduct, ARowWithNaNIsNaNAlone) {
  const Signs weight(33, 50);
  auto x = random_floats(3 * 50, 1);
  x[50 + 49] = kNan;
  x[0] = kInfinity;
  for_each_target([&] {
    ThreadPool pool(1);
    const auto y = weight.product(pool, x, true, 33, {});
    for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(std::isnan(y[i]), i / 33 == 1) << i;
  });
}

}  // namespace
}  // namespace hone::kernels
