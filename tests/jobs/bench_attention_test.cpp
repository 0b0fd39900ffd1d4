#include "hone/jobs/bench_attention.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

AttentionJob small_job() {
  return {.shape = {.texts = 2, .heads = 3, .tokens = 17, .size = 8}, .runs = 2};
}

TEST(BenchAttention, HoldsBothWaysBesideEachOther) {
  AttentionJob job = small_job();
  job.profile = true;
  const AttentionResult result = bench_attention(job, testing::quiet_context());
  ASSERT_EQ(result.times.size(), 6u);
  for (std::size_t i = 0; i < result.times.size(); ++i) {
    const AttentionTimes& times = result.times[i];
    EXPECT_EQ(times.type.name, kAttentionTypes[i / 2].name);
    EXPECT_EQ(times.runs, 2);
    EXPECT_LT(times.relative_difference, times.type.dtype == DType::f32 ? 1e-5 : 0.05);
    EXPECT_GT(times.first_ms, 0);
    EXPECT_GT(times.min_ms, 0);
    EXPECT_LE(times.min_ms, times.median_ms);
    EXPECT_GT(times.share_of_peak(job.shape), 0);
  }
  const AttentionTimes &naive = result.times[0], &fused = result.times[1];
  EXPECT_EQ(naive.max_difference, 0);
  EXPECT_EQ(naive.speedup.value().value, 1);
  EXPECT_LT(fused.relative_difference, 1e-5);
  EXPECT_DOUBLE_EQ(fused.speedup.value().value, speedup_of(naive.rounds_ms, fused.rounds_ms).value);
  EXPECT_FALSE(fused.speedup->interval) << "two rounds have none";
  const auto calls_of = [](const AttentionTimes& times, const char* operation) {
    const auto found = std::ranges::find(times.operators, operation, &OperatorTime::operation);
    return found == times.operators.end() ? 0 : found->calls;
  };
  const auto scores = static_cast<std::int64_t>(job.shape.scores() * sizeof(float));
  EXPECT_GE(naive.value_bytes.value(), scores);
  EXPECT_GT(naive.value_bytes, fused.value_bytes);
  EXPECT_EQ(calls_of(naive, "matmul"), 2);
  EXPECT_EQ(calls_of(naive, "softmax"), 1);
  EXPECT_EQ(calls_of(fused, "attention"), 1);
  EXPECT_EQ(calls_of(fused, "matmul"), 0);
}

TEST(BenchAttention, SaysTheSameToProgramsAndPeople) {
  AttentionJob job = small_job();
  job.profile = true;
  const AttentionResult result = bench_attention(job, testing::quiet_context());
  EXPECT_EQ(result.fields["device"], "cpu:0");
  EXPECT_EQ(result.fields["shape"], (Json{2, 3, 17, 8}));
  EXPECT_DOUBLE_EQ(result.fields["gflop"], 4e-9 * 2 * 3 * 17 * 17 * 8);
  const Json& fused = result.fields["times"][1];
  EXPECT_EQ(fused["dtype"], "fp32");
  EXPECT_EQ(fused["impl"], "fused");
  EXPECT_DOUBLE_EQ(fused["tflops"],
                   result.fields["gflop"].get<double>() / fused["min_ms"].get<double>());
  EXPECT_FALSE(fused["operators"].empty());
  const std::string text = to_text(result.document);
  for (const char* part : {"attention of batch size 2, 3 heads, 17 tokens, head size 8 on cpu:0",
                           "of peak", "Speedup", "naive in fp32, by operation"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(BenchAttention, TakesOneWayAlone) {
  AttentionJob job = small_job();
  job.implementations = {AttentionImplementation::fused};
  job.types = {kAttentionTypes[0]};
  const AttentionResult result = bench_attention(job, testing::quiet_context());
  ASSERT_EQ(result.times.size(), 1u);
  EXPECT_FALSE(result.times[0].speedup);
  EXPECT_TRUE(result.fields["times"][0]["max_difference"].is_null());
  EXPECT_TRUE(result.fields["times"][0]["operators"].is_null());
}

TEST(BenchAttention, TakesTheTypesThatAreAsked) {
  AttentionJob job = small_job();
  job.types = {kAttentionTypes[2], kAttentionTypes[0]};
  const AttentionResult result = bench_attention(job, testing::quiet_context());
  ASSERT_EQ(result.times.size(), 4u);
  EXPECT_EQ(result.times[0].type.name, "fp16");
  EXPECT_EQ(result.times[2].type.name, "fp32");
  EXPECT_NE(to_markdown(result.document).find("fp32 multiply-adds of values that are widened"),
            std::string::npos);
}

}  // namespace
}  // namespace hone
