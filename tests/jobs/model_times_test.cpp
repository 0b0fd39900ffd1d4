#include "hone/jobs/model_times.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hone/jobs/bench_work.h"
#include "tests/support/tiny_jobs.h"

namespace hone::testing {
namespace {

TEST(TimeModels, CountsTheTokensThatBothModelsRead) {
  const Model model = tiny_model();
  const EncodedSet texts = tiny_texts(3);
  double tokens = 0;
  for (const std::int64_t length : lengths_of(texts)) tokens += static_cast<double>(length) / 3;
  const std::vector<ModelTimes> same =
      time_models({model, texts}, {model, texts}, {2, 1}, quiet_context());
  // Two batches, of two texts and of one.
  const std::vector<std::int64_t> lengths = lengths_of(texts);
  EXPECT_DOUBLE_EQ(same[0].padded,
                   static_cast<double>(2 * std::max(lengths[0], lengths[1]) + lengths[2]) / 3);
  EXPECT_EQ(same[1].padded, same[1].tokens);
  for (const ModelTimes& times : same) {
    EXPECT_DOUBLE_EQ(times.tokens, tokens);
    EXPECT_EQ(times.tokens_after, times.tokens);
    EXPECT_EQ(times_line(times, 1).find("(baseline "), std::string::npos);
  }
  const std::vector<ModelTimes> others =
      time_models({model, texts}, {model, tiny_splits().test}, {2, 1}, quiet_context());
  for (const ModelTimes& times : others)
    EXPECT_NE(times_line(times, 1).find("(baseline "), std::string::npos);
}

TEST(TimeModels, TimesEachPossibleBatchSizeOnce) {
  const Model model = tiny_model();
  const EncodedSet texts = tiny_texts(3);
  const std::vector<ModelTimes> times =
      time_models({model, texts}, {model, texts}, kLatencyBatches, quiet_context());
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[0].batch_size, 3);
  EXPECT_EQ(times[1].batch_size, 1);
  for (const ModelTimes& one : times) {
    EXPECT_EQ(one.texts, 3);
    EXPECT_GE(one.rounds, static_cast<std::int64_t>(kFewestForRepeatInterval));
    EXPECT_LE(one.rounds, kMostTimedRounds);
    EXPECT_GT(one.times.before.median_ms, 0);
    EXPECT_LE(one.times.speedup_interval.low, one.times.speedup);
    EXPECT_GE(one.times.speedup_interval.high, one.times.speedup);
  }
  const BatchSize largest = timed_batch({model, texts});
  EXPECT_EQ(largest.texts, 3);
  EXPECT_EQ(largest.tokens, std::ranges::max(lengths_of(texts)));
  const EncodedSet one = tiny_texts(1);
  EXPECT_EQ(time_models({model, one}, {model, one}, kLatencyBatches, quiet_context()).size(), 1U);
}

TEST(TimeModels, MeasuresAModelAlone) {
  const Model model = tiny_model();
  const EncodedSet texts = tiny_texts(3);
  const double ms = latency_ms({model, texts}, model, quiet_context());
  EXPECT_GT(ms, 0);
  EXPECT_LT(ms, 1000);
}

TEST(TimeModels, NamesLatenciesWithTheirBatchSizeAndTokens) {
  EXPECT_EQ(latency_title(32, 0), "Latency per example (batch size 32)");
  EXPECT_EQ(latency_title(32, 128), "Latency per example (batch size 32, 128 tokens)");
  EXPECT_EQ(latency_title(1, 21.34, 21.34), "Latency per example (batch size 1, 21.3 tokens)");
  EXPECT_EQ(latency_title(32, 11.36, 20),
            "Latency per example (batch size 32, 11.4 tokens padded to 20)");
}

TEST(TimeModels, NameTheBatchSizeAndPaddedTokensToRepeatWith) {
  ModelTimes times{.batch_size = 32, .noun = "texts", .tokens = 11.4, .padded = 19.8};
  EXPECT_EQ(bench_options(times), " --batch_size 32 --tokens 20");
  times.times.speedup_interval = {1, 4};
  EXPECT_NE(noise_warning({times}, "base small/model")
                .find("`hone bench base small/model --batch_size 32 --tokens 20`"),
            std::string::npos);
  const std::string no_models = noise_warning({times}, "");
  EXPECT_FALSE(no_models.empty());
  EXPECT_EQ(no_models.find("hone bench"), std::string::npos) << no_models;
  times.noun = "images";
  EXPECT_EQ(bench_options(times), " --batch_size 32");
}

}  // namespace
}  // namespace hone::testing
