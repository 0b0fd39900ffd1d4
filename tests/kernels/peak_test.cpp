#include "hone/kernels/peak.h"

#include "hone/kernels/bf16_products.h"
#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

TEST(Peak, MeasuresPlausibleRates) {
  for_each_target([] {
    ThreadPool pool(1);
    // No x86 core reaches 1000 GFLOP/s. There is no lower bound, because of other load and of sanitizers.
    const double gflops = measure_fma_gflops(pool);
    EXPECT_GT(gflops, 0);
    EXPECT_LT(gflops, 1000.0);
    // at most 4 times as many byte operations
    const double int8_gops = measure_int8_gops(pool);
    EXPECT_GT(int8_gops, 0);
    EXPECT_LT(int8_gops, 4000.0);
    EXPECT_GT(measure_int8_widened_gops(pool), 0);
    EXPECT_EQ(measure_int8_byte_gops(pool) > 0, int8_byte_instruction() != nullptr);
    const double sign_gops = measure_sign_gops(pool);
    EXPECT_GT(sign_gops, 0);
    EXPECT_LT(sign_gops, 40'000.0);
  });
  ThreadPool pool(1);
  const double pairs = measure_bf16_gflops(pool);
  EXPECT_EQ(pairs > 0, has_bf16_products());
  EXPECT_LT(pairs, 4000.0);
  for (const double gbps : {measure_copy_gbps(pool), measure_read_gbps(pool)}) {
    EXPECT_GT(gbps, 0);
    EXPECT_LT(gbps, 1000.0);
  }
}

}  // namespace
}  // namespace hone::kernels
