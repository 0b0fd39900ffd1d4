#include "hone/kernels/fixed_point.h"

#include <algorithm>

#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

using FixedPointKernel = void (*)(ThreadPool&, const FixedPoint&, std::int64_t, const float*,
                                  float*);

const std::vector<FixedPoint> kFixedPoints = {
    {4, -128, 127},          {0, 0, 255}, {-3, -8, 7},
    {15, -32768, 32767},     {1, -1, 0},  {20, -0x1p24f, 0x1p24f},
    {100, -0x1p30f, 0x1p30f}};

// Returns values near every rounding boundary of the formats, and at the ends of the float range.
std::vector<float> arguments(const FixedPoint& format) {
  std::vector<float> x = random_floats(1000, 1, -20.0, 20.0);
  const float step = std::ldexp(1.0f, -format.fraction_bits);
  for (float k = -300.0f; k <= 300.0f; k += 0.25f) x.push_back(k * step);
  for (const float v : {0.0f, -0.0f, 1e-45f, -1e-45f, 1e-38f, 3e38f, -3e38f, kInfinity, -kInfinity,
                        0.49999997f, 0.5f, -0.5f, 0x1.fffffep22f, 0x1.fffffep23f}) {
    x.push_back(v);
    x.push_back(v * step);
  }
  return x;
}

// Rounds and then clamps, in the order of the definition.
float expected(const FixedPoint& format, float x, double (*integral)(double)) {
  const double rounded = integral(std::ldexp(double{x}, format.fraction_bits));
  const double clamped = std::clamp(rounded, double{format.lowest}, double{format.highest});
  return static_cast<float>(std::ldexp(clamped, -format.fraction_bits));
}

void check(FixedPointKernel kernel, double (*integral)(double)) {
  for (const FixedPoint& format : kFixedPoints) {
    const auto x = arguments(format);
    const auto y = same_for_any_target([&](ThreadPool& pool) {
      std::vector<float> result(x.size());
      kernel(pool, format, static_cast<std::int64_t>(x.size()), x.data(), result.data());
      return result;
    });
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float want = expected(format, x[i], integral);
      ASSERT_EQ(std::memcmp(&y[i], &want, sizeof(float)), 0)
          << x[i] << " with " << format.fraction_bits << " bits gave " << y[i] << ", expected "
          << want;
    }
  }
}

TEST(FixedPoint, RoundsToNearestEvenBitForBit) {
  check(round_to_fixed_point, [](double v) { return std::nearbyint(v); });
}

TEST(FixedPoint, FloorsBitForBit) {
  check(floor_to_fixed_point, [](double v) { return std::floor(v); });
}

TEST(FixedPoint, KeepsNan) {
  const std::vector<float> x(17, kNan);
  for_each_target([&] {
    ThreadPool pool(1);
    std::vector<float> y(17);
    for (const FixedPointKernel kernel : {round_to_fixed_point, floor_to_fixed_point}) {
      kernel(pool, {4, -128, 127}, 17, x.data(), y.data());
      for (const float value : y) ASSERT_TRUE(std::isnan(value));
    }
  });
}

TEST(FixedPoint, RefusesFormatsOutsideFloat) {
  ThreadPool pool(1);
  float x = 0.0f;
  EXPECT_THROW(round_to_fixed_point(pool, {127, 0, 1}, 1, &x, &x), InternalError);
  EXPECT_THROW(round_to_fixed_point(pool, {0, 1, 0}, 1, &x, &x), InternalError);
}

}  // namespace
}  // namespace hone::kernels
