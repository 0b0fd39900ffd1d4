#include "hone/jobs/bench_iterations.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

IterationsJob calls_job() {
  return {.work = {.model = "tiny", .options = {.batch = 1, .tokens = 4}},
          .executors = {"eager", "interpreter"},
          .iterations = 25,
          .process = IterationProcess::warm};
}

TEST(BenchIterations, RecordsEveryCallOfEveryWay) {
  IterationsJob job = calls_job();
  job.executors = {};
  const IterationsResult result = bench_iterations(job, testing::quiet_context());
  EXPECT_EQ(result.times.ignored, 5) << "a fifth of fewer than fifty";
  ASSERT_EQ(result.times.executors.size(), usable_modes(testing::quiet_context().session()).size());
  for (const ExecutorCalls& calls : result.times.executors) {
    ASSERT_TRUE(calls.warm);
    EXPECT_EQ(calls.warm->calls_ms.size(), 25u);
    EXPECT_EQ(calls.warm->stages.front().name, "passes");
    EXPECT_EQ(calls.warm->stages.back().name, "planning");
    EXPECT_TRUE(calls.fresh.empty());
    EXPECT_GT(calls.operations(), 0);
    EXPECT_GT(calls.moved_bytes(), 0);
  }
  EXPECT_GT(result.times.executors[0].operations(), result.times.executors[1].operations());
  // Executors of other devices are listed with the reason why they were not run.
  EXPECT_EQ(result.times.executors.size() + result.times.not_run.size(), execution_modes().size());
  EXPECT_EQ(result.fields["not_run"].back()["executor"], "graph");
  EXPECT_TRUE(bench_iterations(calls_job(), testing::quiet_context()).times.not_run.empty());
}

TEST(BenchIterations, SaysTheSameToProgramsAndPeople) {
  const IterationsResult result = bench_iterations(calls_job(), testing::quiet_context());
  const IterationTimes read = from_json<IterationTimes>(result.fields);
  ASSERT_EQ(read.executors.size(), 2u);
  EXPECT_EQ(read.executors[1].warm->calls_ms, result.times.executors[1].warm->calls_ms);
  EXPECT_EQ(to_json(read.means()), result.fields["means"]);
  EXPECT_EQ(result.fields["means"].size(), 2u * 3) << "of 5, 20 and all";
  const Json& comparison = result.fields["comparisons"][0];
  EXPECT_EQ(comparison["executor"], "interpreter");
  EXPECT_EQ(comparison["baseline"], "eager");
  EXPECT_GT(comparison["speedup"], 0);
  const std::string text = to_text(result.document);
  for (const char* part :
       {"tiny 1x4", "interpreter against eager, call by call", "first output after"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

// By hand: the medians are 10, 12 and 11 for the first executor, 5, 6 and 4 for the other one.
TEST(BenchIterations, TellsHowFarProcessesLieApart) {
  const auto calls_of = [](std::initializer_list<double> medians) {
    std::vector<CallSeries> all;
    for (const double ms : medians) all.push_back({.stages = {}, .calls_ms = {50, ms, ms, ms}});
    return all;
  };
  IterationTimes times;
  times.iterations = 4;
  times.ignored = 1;
  times.executors = {{.executor = "eager", .fresh = calls_of({10, 12, 11})},
                     {.executor = "interpreter", .fresh = calls_of({5, 6, 4})}};
  const std::vector<std::string> said = times.findings();
  EXPECT_TRUE(said.front().starts_with(
      "interpreter against eager, in 3 fresh processes of each: 2.20× faster by their medians, "
      "1.67 to 3.00"))
      << said.front();
  // Medians over all processes, with the smallest and the largest.
  const Json row = to_json(times.times())[1];
  EXPECT_EQ(row["processes"], 3);
  EXPECT_EQ(row["median_ms"], 5);
  EXPECT_EQ(row["median_low_ms"], 4);
  EXPECT_EQ(row["median_high_ms"], 6);
  EXPECT_EQ(row["min_ms"], 4);
  EXPECT_EQ(row["counted"], 9);
  times.executors[1].fresh.resize(1);
  EXPECT_EQ(times.findings().front().find("fresh processes of each"), std::string::npos);
}

TEST(BenchIterations, SaysWhereCallsAreTooFew) {
  IterationsJob job = calls_job();
  job.iterations = 5;
  job.executors = {"interpreter"};
  const IterationsResult result = bench_iterations(job, testing::quiet_context());
  const std::string text = to_text(result.document);
  EXPECT_NE(text.find("interpreter: 4 calls are too few"), std::string::npos) << text;
  EXPECT_TRUE(result.fields["times"][0]["p95_ms"].is_null());
}

TEST(BenchIterations, TimesATrainingStepToo) {
  IterationsJob job = calls_job();
  job.work.options.train = true;
  job.iterations = 3;
  job.executors = {"interpreter"};
  const IterationsResult result = bench_iterations(job, testing::quiet_context());
  std::vector<std::string> stages;
  for (const StageTime& stage : result.times.executors[0].warm->stages)
    stages.push_back(stage.name);
  EXPECT_EQ(stages, (std::vector<std::string>{"passes", "gradients", "optimizer", "planning"}));
}

TEST(BenchIterations, RefusesWhatCannotBe) {
  Context& context = testing::quiet_context();
  const auto expect_refusal = [&](const char* message, auto change) {
    IterationsJob job = calls_job();
    change(job);
    expect_user_error(message, [&] { bench_iterations(job, context); });
  };
  expect_refusal("expected 2 or more, got 1", [](IterationsJob& job) { job.iterations = 1; });
  expect_refusal("25 calls of 25 would leave none", [](IterationsJob& job) { job.ignored = 25; });
  expect_refusal("unknown executor 'fast'", [](IterationsJob& job) { job.executors = {"fast"}; });
  expect_refusal("each executor once", [](IterationsJob& job) {
    job.executors = {"eager", "eager"};
  });
  expect_refusal("expected one executor",
                 [](IterationsJob& job) { job.process = IterationProcess::own; });
}

}  // namespace
}  // namespace hone
