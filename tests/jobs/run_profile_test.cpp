#include "hone/jobs/run_profile.h"

#include <gtest/gtest.h>

#include "hone/base/json.h"
#include "hone/jobs/bench.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

MachinePeaks round_peaks() {
  return {.fp32 = {.value = 100, .measured_now = 100, .date = ""},
          .bandwidth = {.value = 10, .measured_now = 10, .date = ""}};
}

TEST(RunProfile, AddsUpNodesOfOneKind) {
  const std::vector<OperatorTime> nodes = {{.name = "a",
                                            .operation = "linear",
                                            .kernel = "gemm",
                                            .calls = 1,
                                            .seconds = 1,
                                            .flops = 10,
                                            .bytes = 4},
                                           {.name = "b",
                                            .operation = "add",
                                            .kernel = "vector",
                                            .calls = 1,
                                            .seconds = 5,
                                            .flops = 1,
                                            .bytes = 12},
                                           {.name = "c",
                                            .operation = "linear",
                                            .kernel = "gemm",
                                            .calls = 2,
                                            .seconds = 3,
                                            .flops = 40,
                                            .bytes = 1}};
  const std::vector<OperatorTime> kinds = by_kernel(nodes);
  ASSERT_EQ(kinds.size(), 2u);
  EXPECT_EQ(kinds[0].name, "add");
  EXPECT_EQ(kinds[1].name, "linear");
  EXPECT_EQ(kinds[1].calls, 3);
  EXPECT_EQ(kinds[1].seconds, 4);
  EXPECT_DOUBLE_EQ(kinds[1].flops * kinds[1].calls, 90);
  EXPECT_DOUBLE_EQ(kinds[1].bytes * kinds[1].calls, 6);
}

// By hand, for 100 GFLOP/s and 10 GB/s.
TEST(RunProfile, HoldsOperationsAgainstWhatTheMachineDoes) {
  const MachinePeaks peaks = round_peaks();
  const OperatorTime product{.name = "p",
                             .operation = "linear",
                             .kernel = "gemm",
                             .calls = 2,
                             .seconds = 0.04,
                             .flops = 1e9,
                             .bytes = 1e7},
      sum{.name = "s",
          .operation = "add",
          .kernel = "vector",
          .calls = 1,
          .seconds = 0.02,
          .flops = 1e7,
          .bytes = 1e8};
  EXPECT_DOUBLE_EQ(peaks.compute_seconds(product), 0.02);
  EXPECT_DOUBLE_EQ(peaks.memory_seconds(product), 0.002);
  EXPECT_EQ(peaks.bound_by(product), Bound::compute);
  EXPECT_EQ(peaks.bound_by(sum), Bound::memory);
  OperatorTime small = sum;  // moving its bytes takes an eighth of its time
  small.seconds = 0.08;
  EXPECT_EQ(peaks.bound_by(small), Bound::neither);
  small.seconds = 0.008;  // reading its bytes from memory would take 0.01 s
  EXPECT_EQ(peaks.bound_by(small), Bound::caches);
  const Json rows = to_json(operator_results({product, sum}, peaks));
  EXPECT_EQ(rows[0]["operation"], "p");
  EXPECT_EQ(rows[0]["gflops"], 50);
  EXPECT_EQ(rows[0]["share_of_peak"], 0.5);
  EXPECT_EQ(rows[0]["flop_per_byte"], 100);
  EXPECT_EQ(rows[0]["bound_by"], "compute");
  EXPECT_EQ(rows[1]["share_of_bandwidth"], 0.5);
  EXPECT_EQ(rows[1]["bound_by"], "memory");
  // The other operations share a row, so that shares add up to 1.
  const Json short_rows = to_json(operator_results({product, sum}, peaks, 1));
  ASSERT_EQ(short_rows.size(), 2u);
  EXPECT_EQ(short_rows[1]["operation"], "1 others");
  EXPECT_NEAR(short_rows[0]["share"].get<double>() + short_rows[1]["share"].get<double>(), 1,
              1e-12);
}

// The profile has every operation of every counted run, with the FLOPs that the graph predicts, and a timeline per
// thread.
TEST(RunProfile, HasAllThatWasRun) {
  for (const bool trains : {false, true}) {
    const BenchTimes times =
        bench(testing::tiny_model(), "tiny",
              {.batch = 4, .tokens = 8, .train = trains, .runs = 5, .records = true},
              testing::quiet_context());
    ASSERT_TRUE(times.recorded);
    const RunProfile& profile = *times.recorded;
    double flops = 0, seconds = 0;
    for (const OperatorTime& one : profile.operators) {
      EXPECT_EQ(one.calls, 1) << one.name;
      flops += one.flops;
      seconds += one.seconds;
    }
    EXPECT_NEAR(flops / 1e9, times.computed_gflop, 1e-9 * times.computed_gflop);
    EXPECT_GT(seconds, 0);
    EXPECT_EQ(profile.timeline.size(), 3 * profile.operators.size());
    const Json trace = parse_json(timeline_json(profile, "tiny"), "timeline");
    double last = 0;
    std::size_t operations = 0;
    for (const Json& event : trace["traceEvents"]) {
      if (event["ph"] != "X" || event["tid"] != 0) continue;
      ++operations;
      EXPECT_GE(event["ts"].get<double>(), last);
      last = event["ts"].get<double>() + event["dur"].get<double>();
    }
    EXPECT_EQ(operations, profile.timeline.size());
  }
}

TEST(RunProfile, DrawsOperationsBelowTheRoof) {
  const Figure figure = roofline(
      {{.name = "p",
        .operation = "linear",
        .kernel = "gemm",
        .calls = 2,
        .seconds = 0.04,
        .flops = 1e9,
        .bytes = 1e7},
       {.name = "view", .operation = "reshape", .kernel = "view", .calls = 1, .seconds = 1e-6}},
      round_peaks(), "title");
  ASSERT_EQ(figure.panels[0].series.size(), 2u);
  EXPECT_EQ(figure.panels[0].series[0].points[1].x, 10);  // where both peaks meet
  ASSERT_EQ(figure.panels[0].series[1].points.size(), 1u);
  EXPECT_EQ(figure.panels[0].series[1].points[0].x, 100);
  EXPECT_EQ(figure.panels[0].series[1].points[0].y, 50);
}

}  // namespace
}  // namespace hone
