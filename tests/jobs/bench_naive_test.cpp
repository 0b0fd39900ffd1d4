#include "hone/jobs/bench_naive.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

NaiveJob naive_job() {
  return {.work = {.model = "tiny", .options = {.batch = 1, .tokens = 4}}, .rounds = 8};
}

TEST(BenchNaive, MeasuresEachMistakeBesideTheHonestFigure) {
  const NaiveResult result = bench_naive(naive_job(), testing::quiet_context());
  EXPECT_GT(result.times.correct_ms, 0);
  std::vector<std::string> names;
  for (const NaiveMistake& mistake : result.times.mistakes) {
    names.push_back(mistake.name);
    EXPECT_FALSE(mistake.why_not);
    EXPECT_GT(mistake.ms, 0) << mistake.name;
    EXPECT_GT(mistake.tries, 0) << mistake.name;
    EXPECT_LE(mistake.ratio_interval.value().low, mistake.ratio) << mistake.name;
    EXPECT_GE(mistake.ratio_interval->high, mistake.ratio) << mistake.name;
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"preparation timed", "no warm-up", "n = 5", "training mode",
                                      "copies timed", "gradients recorded", "new buffers"}));
  // Passes over a whole graph take longer than a run of four tokens.
  EXPECT_GT(result.times.mistakes[0].ratio, 1);
}

TEST(BenchNaive, SaysTheSameToProgramsAndPeople) {
  const NaiveResult result = bench_naive(naive_job(), testing::quiet_context());
  EXPECT_EQ(to_json(naive_table(from_json<NaiveTimes>(result.fields))),
            to_json(naive_table(result.times)));
  const std::string text = to_text(result.document);
  for (const char* part : {"Correct latency", "training mode", "8 rounds"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(BenchNaive, RecordsNoGradientsOfAQuantizedModel) {
  NaiveJob job = naive_job();
  job.work.options.format = testing::format_called("integer(width=8,frac=4)");
  const NaiveResult result = bench_naive(job, testing::quiet_context());
  EXPECT_TRUE(result.times.mistakes[5].why_not);
  EXPECT_TRUE(result.fields["mistakes"][5]["ms"].is_null());
  EXPECT_NE(to_text(result.document).find("not run: a quantized model"), std::string::npos);
}

TEST(BenchNaive, IsOfInferenceAndOfSixRounds) {
  NaiveJob training = naive_job(), few = naive_job();
  training.work.options.train = true;
  few.rounds = 5;
  expect_user_error("`pitfalls` supports inference only",
                    [&] { bench_naive(training, testing::quiet_context()); });
  expect_user_error("expected at least 6", [&] { bench_naive(few, testing::quiet_context()); });
}

}  // namespace
}  // namespace hone
