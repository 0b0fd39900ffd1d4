#include "hone/jobs/bench_linear.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/runtime/fake_device.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

std::vector<Format> linear_formats(const std::vector<const char*>& texts) {
  std::vector<Format> formats;
  for (const char* text : texts)
    formats.push_back(parse_format(text, testing::quiet_context().library.formats));
  return formats;
}

LinearJob small_linear_job() {
  return {.rows = {1, 7},
          .inputs = 64,
          .outputs = 64,
          .formats = linear_formats({"mxint(bits=8)", "int(bits=4,per=row)"}),
          .runs = 6};
}

TEST(BenchLinear, HoldsEveryWayAndFormatBesideFp32) {
  const LinearResult result = bench_linear(small_linear_job(), testing::quiet_context());
  const char* names[] = {"fp32",
                         "bf16",
                         "packed mxint(bits=8,block=32,axis=-1)",
                         "packed int(bits=4,per=row,scale=static)",
                         "native mxint(bits=8,block=32,axis=-1)",
                         "native int(bits=4,per=row,scale=static)"};
  ASSERT_EQ(result.bench.times.size(), 12u);
  for (std::size_t i = 0; i < result.bench.times.size(); ++i) {
    const LinearTimes& times = result.bench.times[i];
    EXPECT_EQ(times.name(), names[i % 6]);
    EXPECT_EQ(times.rows, i < 6 ? 1 : 7);
    EXPECT_TRUE(times.was_run());
    EXPECT_EQ(times.rounds_ms.size(), 6u);
    EXPECT_GT(times.first_ms, 0);
    EXPECT_GT(times.min_ms, 0);
    EXPECT_LE(times.min_ms, times.median_ms);
    EXPECT_EQ(times.flops, 2.0 * static_cast<double>(times.rows) * 64 * 64);
    EXPECT_GT(times.share_of_bandwidth(), 0);
    EXPECT_TRUE(times.speedup);
    EXPECT_EQ(times.speedup->interval.has_value(), times.way != ProductWay::fp32);
    const bool is_coarse = times.format && times.format->starts_with("int(");
    EXPECT_LT(times.relative_difference, is_coarse ? 0.3 : 0.05) << times.name();
    EXPECT_EQ(times.relative_difference > 1e-4, times.way != ProductWay::fp32) << times.name();
  }
  EXPECT_EQ(result.bench.times[0].relative_difference, 0);
  EXPECT_EQ(result.bench.times[2].kernel, "packed_linear / codes");
  EXPECT_EQ(result.bench.times[4].kernel, "native_linear / integers");
  EXPECT_EQ(result.bench.times[4].input_format, "mxint(bits=8,block=32,axis=-1)");
  EXPECT_FALSE(result.bench.times[2].input_format);
}

TEST(BenchLinear, CountsTheBytesThatARunMustMove) {
  const LinearResult result = bench_linear(small_linear_job(), testing::quiet_context());
  constexpr std::int64_t kSize = 64, kWeights = kSize * kSize;
  // bias, and 7 rows of x and y
  const std::int64_t floats = 4 * (kSize + 7 * (kSize + kSize));
  const std::int64_t weights[] = {4 * kWeights, 2 * kWeights, kWeights + kWeights / 32,
                                  kWeights / 2 + 4 * kSize};
  for (std::size_t way = 0; way < 4; ++way) {
    const LinearTimes& times = result.bench.times[6 + way];
    EXPECT_EQ(times.weight_bytes, weights[way]) << times.name();
    EXPECT_EQ(times.bytes, weights[way] + (times.way == ProductWay::bf16 ? floats / 2 : floats));
  }
  EXPECT_EQ(result.bench.times[10].weight_bytes, weights[2]);
}

TEST(BenchLinear, SaysWhyWhatIsNotRunIsNot) {
  LinearJob job = small_linear_job();
  job.rows = {2};
  job.ways = {ProductWay::packed, ProductWay::native};
  job.formats = linear_formats({"mxint(bits=8,block=8)", "integer(width=24,frac=16)"});
  const LinearResult result = bench_linear(job, testing::quiet_context());
  ASSERT_EQ(result.bench.times.size(), 4u);
  EXPECT_TRUE(result.bench.times[0].was_run());
  EXPECT_FALSE(result.bench.times[0].speedup);  // fp32 was not asked for
  EXPECT_NE(result.bench.times[1].not_run->find("its codes have 24 bits"), std::string::npos)
      << *result.bench.times[1].not_run;
  EXPECT_NE(result.bench.times[2].not_run->find("native computation does not support"),
            std::string::npos)
      << *result.bench.times[2].not_run;
  const Json& refused = result.fields["times"][2];
  EXPECT_EQ(refused["not_run"], *result.bench.times[2].not_run);
  EXPECT_TRUE(refused["median_ms"].is_null());
  EXPECT_EQ(refused["timed_runs"], 0);
  const std::string text = to_text(result.document);
  EXPECT_NE(
      text.find("Not run: native mxint(bits=8,block=8,axis=-1): " + *result.bench.times[2].not_run),
      std::string::npos)
      << text;
}

TEST(BenchLinear, RunsWhereTheHostCannotReach) {
  testing::FakeDevice device;
  Context there(/*threads=*/1, /*quiet=*/true);
  there.library = testing::fake_library();
  there.device = &device;
  const LinearResult result =
      bench_linear({.rows = {2},
                    .inputs = 32,
                    .outputs = 3,
                    .formats = linear_formats({"mxint(bits=8)"}),
                    .ways = {ProductWay::packed, ProductWay::native, ProductWay::bf16},
                    .runs = 1},
                   there);
  ASSERT_EQ(result.bench.times.size(), 3u);
  for (std::size_t way = 0; way < 2; ++way) {
    EXPECT_TRUE(result.bench.times[way].was_run());
    EXPECT_LT(result.bench.times[way].relative_difference, 0.05);
    EXPECT_GT(result.bench.times[way].min_ms, 0);
  }
  // Its kernels have no halves.
  EXPECT_EQ(result.bench.times[2].not_run,
            "no kernel of linear on fake:0; reference: values are not f32");
}

TEST(BenchLinear, SaysTheSameToProgramsAndPeople) {
  LinearJob job = small_linear_job();
  job.rows = {1};
  const LinearResult result = bench_linear(job, testing::quiet_context());
  EXPECT_EQ(result.fields["device"], "cpu:0");
  EXPECT_EQ(result.fields["inputs"], 64);
  EXPECT_EQ(result.fields["outputs"], 64);
  EXPECT_EQ(result.fields["copies"], result.bench.copies);
  EXPECT_GT(result.bench.copies, 1);
  EXPECT_LE(result.bench.copies, kMostLinearCopies);
  const Json& packed = result.fields["times"][2];
  EXPECT_EQ(packed["impl"], "packed");
  EXPECT_EQ(packed["bytes"], *result.bench.times[2].bytes);
  EXPECT_DOUBLE_EQ(packed["gb_per_s"], result.bench.times[2].gbps());
  const std::string text = to_text(result.document);
  EXPECT_TRUE(text.starts_with("Linear of 64 inputs and 64 outputs")) << text;
  for (const char* part : {"1 row", "Speedup", "copies of the weight"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  // Weights in a cache say nothing about memory.
  const LinearTimes& least =
      *std::ranges::min_element(result.bench.times, {}, &LinearTimes::median_ms);
  EXPECT_EQ(text.find(" of the bandwidth of memory") == std::string::npos, *least.in_cache) << text;
}

}  // namespace
}  // namespace hone
