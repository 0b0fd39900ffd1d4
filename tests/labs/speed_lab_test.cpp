#include "hone/labs/speed_lab.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hone/labs/speed_numbers.h"
#include "hone/labs/speed_sentences.h"
#include "tests/labs/why_length.h"
#include "tests/runtime/fake_device.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

// Lab 4.1 starts hone processes, so tests/cli/lab_test.cpp tests running it.
TEST(SpeedLab, HasARowForWorksWithoutKernelsOnTheDevice) {
  const TemporaryFolder folder;
  testing::FakeDevice device;
  Context context(/*threads=*/1, /*quiet=*/true, {}, {}, {}, [&](Context& made) {
    made.library = testing::fake_library();
    std::erase_if(made.library.kernels, [](const Kernel& kernel) { return kernel.op == "gelu"; });
    made.device = &device;
  });
  const Lab lab = speed_lab([](Fidelity fidelity) {
    TimedModel model{.name = "tiny", .what = "BERT-tiny", .batches = {1}, .tokens = 8};
    if (fidelity > Fidelity::quick) model.batches.push_back(2);
    return std::vector<TimedModel>{model};
  });
  const JobResult result =
      run_lab(lab, {.output = {.folder = (folder.path() / "lab").string()}}, context);
  const Json& rows = result.fields["overview"];
  ASSERT_EQ(rows.size(), 4u)
      << "inference and a training step, what another fidelity times, and the other device";
  for (const std::size_t i : {0, 1}) {
    EXPECT_EQ(rows[i]["device"], "fake:0, no hardware");
    EXPECT_EQ(rows[i]["why_not"], "not run: no kernel of gelu on fake:0");
    EXPECT_TRUE(rows[i]["executor"].is_null());
  }
  EXPECT_EQ(rows[2]["work"], "BERT-tiny, inference, batch size 2, 8 tokens");
  EXPECT_NE(rows[2]["why_not"].get<std::string>().find("--fidelity paper"), std::string::npos);
  EXPECT_EQ(rows[3]["work"], "all");
  EXPECT_EQ(rows[3]["device"], "cpu");
  EXPECT_TRUE(result.fields["works"].empty());
  EXPECT_TRUE(result.fields["naive"].empty());
  EXPECT_NE(result.fields["summary"].get<std::string>().find("no kernel of gelu"),
            std::string::npos);
  EXPECT_TRUE(path_exists(folder.path() / "lab/report.html"));
}

// Returns times of thirty calls, the same in each process: `first_ms` for the first call, `later_ms` for the others.
ExecutorCalls timed_executor(const std::string& name, double first_ms, double later_ms) {
  CallSeries series{.calls_ms = std::vector<double>(30, later_ms)};
  series.calls_ms.front() = first_ms;
  return {.executor = name, .warm = series, .fresh = {series, series, series}};
}

// Eager calls take 10 ms, later compiled calls 5 ms.
WorkloadCalls timed_work(const std::string& name, double first_of_compiled_ms) {
  WorkloadCalls found;
  found.model = found.work = name;
  found.times = IterationTimes{
      .iterations = 30,
      .ignored = 5,
      .executors = {timed_executor("eager", 10, 10), timed_executor("interpreter", 10, 6),
                    timed_executor("compiled", first_of_compiled_ms, 5)}};
  return found;
}

TEST(SpeedLab, HeadlineIsOfTheWorkWhoseLoopOfFiveCallsLooksSlowest) {
  // At n = 5 compiled is faster in the first work. In the third it is the slowest of those that later become faster.
  const std::vector<WorkloadCalls> calls = {timed_work("early", 12), timed_work("late", 60),
                                            timed_work("latest", 100)};
  EXPECT_EQ(headline_workload(calls, calls[0]).work, "latest");
  EXPECT_EQ(headline_workload({calls[0]}, calls[0]).work, "early");
  EXPECT_EQ(executors_of(calls[2]).back().break_even_fresh, 19) << "90 ms later, 5 ms less a call";
  EXPECT_EQ(executors_of(calls[2]).back().break_even_fresh_high, 19);
  EXPECT_EQ(executors_of(calls[2]).back().calls, 30);
}

TEST(SpeedLab, ABreakEvenCallAfterTheLastIsExtrapolated) {
  EXPECT_EQ(prepared_most(timed_work("near", 100)).ahead.find("extrapolated"), std::string::npos);
  EXPECT_NE(prepared_most(timed_work("far", 300)).ahead.find("extrapolated: 30 calls"),
            std::string::npos);
}

TEST(SpeedLab, RangesOverFreshProcessesNeedSeveral) {
  WorkloadCalls found = timed_work("tiny", 12);
  EXPECT_TRUE(can_show_later_output(found));
  EXPECT_TRUE(prepared_most(found).fresh_ratios.has_value());
  EXPECT_DOUBLE_EQ(prepared_most(found).fresh_ratio, 2);
  for (ExecutorCalls& calls : found.times->executors) calls.fresh.resize(1);
  EXPECT_FALSE(can_show_later_output(found));
  EXPECT_FALSE(prepared_most(found).fresh_ratios.has_value());
  EXPECT_DOUBLE_EQ(prepared_most(found).fresh_ratio, 2);
}

TEST(SpeedLab, ClaimsNoDifferenceWhoseBoundIsPrintedAsOne) {
  EXPECT_TRUE(is_shown_faster({1.02, Interval{1.01, 1.03}}));
  EXPECT_FALSE(is_shown_faster({1.01, Interval{1.001, 1.03}}));
  EXPECT_TRUE(is_shown_slower({0.98, Interval{0.97, 0.99}}));
  EXPECT_FALSE(is_shown_slower({0.99, Interval{0.97, 0.999}}));
}

TEST(SpeedLab, HasAWhyOfUsualLengthWhateverIsMeasured) {
  Context context(/*threads=*/1, /*quiet=*/true);
  WorkloadCalls shortest = timed_work("short", 12);
  shortest.model = "tiny";
  for (CallSeries& fresh : shortest.times->executors.back().fresh)
    fresh.stages = {{.name = "passes", .ms = 1}};
  testing::expect_usual_length(why_of({shortest}, {}, context));
  WorkloadCalls longest = timed_work("BERT-tiny, training step, batch size 8, 128 tokens", 100);
  longest.model = "BERT-tiny";
  for (CallSeries& fresh : longest.times->executors.back().fresh) {
    fresh.calls_ms[1] = 500;  // the second call is the slow one
    for (const Counterpart& one : kCounterparts)
      fresh.stages.push_back({.name = std::string(one.stage), .ms = 1});
  }
  const auto mistakes = [](const std::string& model) {
    WorkloadMistakes found{.work = model + ", inference", .times = NaiveTimes{}};
    found.times->mistakes = {{.name = "memory allocated in every call",
                              .what = "memory is allocated and freed in every call",
                              .ratio = 1.5,
                              .ratio_interval = Interval{1.4, 1.6}}};
    return found;
  };
  testing::expect_usual_length(why_of(std::vector<WorkloadCalls>(6, longest),
                                      {mistakes("BERT-tiny"), mistakes("ResNet-18")}, context));
}

TEST(SpeedLab, ClaimsNothingOfGeneratedCodeWhereLatencyDrifted) {
  WorkloadCalls found = timed_work("tiny", 12);
  EXPECT_EQ(against_interpreter({found}).faster.size(), 1u);
  // GPUs have another last executor.
  WorkloadCalls on_gpu = found;
  on_gpu.times->executors.back().executor = "graph";
  EXPECT_EQ(against_interpreter({on_gpu}).executor, "graph");
  std::vector<double>& eager = found.times->executors.front().warm->calls_ms;
  std::fill(eager.begin() + 15, eager.end(), 20);
  EXPECT_TRUE(prepared_most(found).has_drifted);
  EXPECT_EQ(against_interpreter({found}).compared, 1);
  EXPECT_TRUE(against_interpreter({found}).faster.empty());
}

}  // namespace
}  // namespace hone
