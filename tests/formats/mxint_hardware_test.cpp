#include "hone/formats/mxint_hardware.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/formats/formats_testing.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

const std::vector<std::string> kMxintHardwareFormats = {
    "mxint_hardware", "mxint_hardware(width=4,block=5)", "mxint_hardware(exponent_width=4,rows=2)",
    "mxint_hardware(width=12,exponent_width=5,block=16,rows=3)"};

TEST(MxintHardware, GivesTheValuesOfTheVectors) {
  EXPECT_EQ(check_vectors("mxint_hardware", "mase",
                          [](const Json& p) {
                            return fmt::format(
                                "mxint_hardware(width={},exponent_width={},rows={},block={},"
                                "mode=mase)",
                                p["width"].get<int>(), p["exponent_width"].get<int>(),
                                p["parallelism"][0].get<int>(), p["parallelism"][1].get<int>());
                          }),
            16 + 16);
}

// With a sufficiently wide exponent the scale equals that of mxint.
TEST(MxintHardware, IsMxintWithAWideExponent) {
  const std::vector<float> x = finite_values(640);
  EXPECT_EQ(by_reference("mxint_hardware(width=8)", x, {20, 32}),
            by_reference("mxint(bits=8,block=32)", x, {20, 32}));
}

// Three exponent bits allow steps from 2^-4 to 2^3.
TEST(MxintHardware, KeepsItsStepsWithinTheExponent) {
  const std::string format = "mxint_hardware(width=4,exponent_width=3,block=2)";
  EXPECT_EQ(by_reference(format, {0.01f, 0.04f}), (std::vector<float>{0, 0.0625f}));
  EXPECT_EQ(by_reference(format, {0.3f, -0.4f}), (std::vector<float>{0.3125f, -0.375f}));
  EXPECT_EQ(by_reference(format, {1000, -9}), (std::vector<float>{56, -8}));
}

TEST(MxintHardware, HasTheSameBitsFastAndSlow) {
  for (const std::string& format : kMxintHardwareFormats) {
    check_fast(format, any_values(2000), {50, 40});
    check_fast(format, any_values(1001), {});
    check_fast(format, finite_values(1200), {3, 10, 40});
  }
  check_fast("mxint_hardware(mode=mase)", finite_values(1200), {30, 40});
}

TEST(MxintHardware, IsIdempotentAndOdd) {
  for (const std::string& format : kMxintHardwareFormats) {
    check_idempotent(format, finite_values(2000), {50, 40});
    check_odd(format, finite_values(2000), {50, 40});
  }
}

TEST(MxintHardware, PacksItsCodes) {
  for (const std::string& format : kMxintHardwareFormats)
    check_packs(format, finite_values(2000), {50, 40});
  check_packs("mxint_hardware(exponent_width=4,mode=mase)", finite_values(2000, 4, 2), {50, 40});
}

TEST(MxintHardware, MakesABlockWithSomethingElseThanNumbersNan) {
  const std::vector<float> y = by_reference("mxint_hardware(block=2)", {1, NAN, 1, 2, INFINITY, 1});
  for (const std::size_t i : {0, 1, 4, 5}) EXPECT_TRUE(std::isnan(y[i])) << i;
  EXPECT_EQ(y[2], 1);
  const std::vector<float> x = {1, NAN};
  const Format format = format_of("mxint_hardware(block=2)");
  expect_user_error("has no code for nan", [&] { format.def->encode({format, {2}, x, {}}); });
}

}  // namespace
}  // namespace hone::testing
