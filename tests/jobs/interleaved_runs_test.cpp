#include "hone/jobs/interleaved_runs.h"

#include <gtest/gtest.h>

#include "hone/train/text_examples.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

TEST(Race, TimesEveryGraphAsOftenAsAsked) {
  const Model model = testing::tiny_model();
  const EncodedSet texts = testing::tiny_texts(2);
  const std::vector<std::int64_t> rows = {0, 1};
  Race race(testing::quiet_context());
  for (int i = 0; i < 3; ++i) race.add(forward_graph(model), model.parameters);
  for (const std::int64_t runs : {1, 4}) {
    const auto times = race.run(text_examples(texts).batch(rows, 0), runs);
    ASSERT_EQ(times.size(), 3u);
    for (const std::vector<double>& one : times) {
      EXPECT_EQ(std::ssize(one), runs);
      EXPECT_GT(one.front(), 0);
    }
  }
}

}  // namespace
}  // namespace hone
