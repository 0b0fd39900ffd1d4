#include "hone/data/stratified_draw.h"

#include <gtest/gtest.h>

#include <map>

#include "hone/base/error.h"

namespace hone {
namespace {

using Groups = std::vector<RowGroup>;

Groups operator+(Groups a, const Groups& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// `count` texts of `rows` rows each.
Groups texts(std::int64_t count, std::int64_t rows, std::int32_t stratum) {
  return Groups(static_cast<std::size_t>(count), {rows, stratum});
}

std::map<std::int32_t, std::int64_t> drawn_rows(const Groups& groups, double share,
                                                std::uint64_t seed) {
  std::map<std::int32_t, std::int64_t> rows;
  const std::vector<char> drawn = draw_groups(groups, share, seed);
  for (std::size_t i = 0; i < groups.size(); ++i)
    rows[groups[i].stratum] += drawn[i] != 0 ? groups[i].rows : 0;
  return rows;
}

// Returns the average share of drawn rows of each group size, over many seeds.
std::map<std::int64_t, double> mean_shares(const Groups& groups, double share) {
  constexpr std::uint64_t kSeeds = 2000;
  std::map<std::int64_t, double> drawn_of, all;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const std::vector<char> drawn = draw_groups(groups, share, seed);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      all[groups[i].rows] += 1;
      drawn_of[groups[i].rows] += drawn[i];
    }
  }
  for (auto& [size, count] : drawn_of) count /= all[size];
  return drawn_of;
}

TEST(DrawGroups, TakesTheShareOfEveryClassThoughTextsRepeat) {
  const Groups groups = texts(20, 50, 0) + texts(1000, 1, 1);
  for (const std::uint64_t seed : {1, 2, 3, 42})
    EXPECT_EQ(drawn_rows(groups, 0.1, seed),
              (std::map<std::int32_t, std::int64_t>{{0, 100}, {1, 100}}));
}

TEST(DrawGroups, TakesTheShareOfRareClassesOnAverageAndOfAllExactly) {
  Groups groups;
  for (std::int32_t label = 0; label < 100; ++label) groups = groups + texts(3, 1, label);
  std::map<std::int32_t, double> mean;
  constexpr int kSeeds = 3000;
  for (int seed = 0; seed < kSeeds; ++seed) {
    std::int64_t all = 0;
    for (const auto& [label, rows] : drawn_rows(groups, 0.1, static_cast<std::uint64_t>(seed))) {
      mean[label] += static_cast<double>(rows) / kSeeds;
      all += rows;
    }
    EXPECT_NEAR(static_cast<double>(all), 30, 1);
  }
  for (const auto& [label, rows] : mean) EXPECT_NEAR(rows, 0.3, 0.05) << label;
}

TEST(DrawGroups, IsBiasedNeitherForNorAgainstTextsThatRepeat) {
  for (const double share : {0.1, 0.13, 0.3}) {
    const Groups groups = texts(20, 50, 0) + texts(30, 7, 0) + texts(1000, 1, 0) +
                          texts(12, 20, 1) + texts(40, 7, 1) + texts(333, 2, 1);
    for (const auto& [size, mean] : mean_shares(groups, share))
      EXPECT_NEAR(mean, share, 0.02 * share + 0.003) << size;
  }
}

TEST(DrawGroups, SmallTextsMakeGoodWhatLargeOnesLeaveOver) {
  const Groups groups = texts(17, 31, 0) + texts(11, 13, 0) + texts(1000, 1, 0);
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    EXPECT_NEAR(static_cast<double>(drawn_rows(groups, 0.1, seed)[0]), 167, 1);
}

TEST(DrawGroups, LeavesATextThatIsFarTooLargeToTraining) {
  const Groups groups = texts(1, 500, 0) + texts(500, 1, 0);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(draw_groups(groups, 0.1, seed)[0], 0);
    EXPECT_NEAR(static_cast<double>(drawn_rows(groups, 0.1, seed)[0]), 100, 1);
  }
  // Training keeps about half of the other texts.
  EXPECT_NEAR(static_cast<double>(drawn_rows(texts(1, 900, 0) + texts(100, 1, 0), 0.1, 1)[0]), 55,
              1);
}

TEST(DrawGroups, LeavesSomethingOfEveryStratum) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Groups groups = texts(1, 1, 0) + texts(2, 3, 1) + texts(30, 1, 2);
    const auto rows = drawn_rows(groups, 0.9, seed);
    EXPECT_EQ(rows.at(0), 0);
    EXPECT_LE(rows.at(1), 3);
    EXPECT_LT(rows.at(2), 30);
  }
}

TEST(StrataOf, AreClassesRarestLabelsAndTenths) {
  const auto of = [](Task task, std::vector<std::vector<float>> targets) {
    std::vector<Example> examples;
    for (std::vector<float>& own : targets)
      examples.push_back({.text = "", .label = 3, .targets = std::move(own)});
    return strata_of(examples, {task, {"a", "b"}});
  };
  using Strata = std::vector<std::int32_t>;
  EXPECT_EQ(of(Task::single_label, {{}, {}}), (Strata{3, 3}));
  EXPECT_EQ(of(Task::multi_label, {{1, 0}, {1, 1}, {0, 0}}), (Strata{0, 1, 2}));
  EXPECT_EQ(of(Task::regression, {{5}, {1}, {9}, {1}, {-2}}), (Strata{6, 2, 8, 2, 0}));
}

TEST(DrawStratified, CountsATextOfSeveralClassesToItsMostFrequent) {
  std::vector<Example> examples;
  for (int i = 0; i < 200; ++i)
    for (int row = 0; row < 3; ++row)
      examples.push_back({fmt::format("text {}", i), row == 0 ? 1 - i % 2 : i % 2});
  const std::vector<char> drawn =
      draw_stratified(examples, {Task::single_label, {"a", "b"}}, 0.2, 7);
  std::map<std::int32_t, int> rows;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    EXPECT_EQ(drawn[i], drawn[i / 3 * 3]) << "of one text";
    rows[examples[i].label] += drawn[i];
  }
  EXPECT_EQ(rows, (std::map<std::int32_t, int>{{0, 60}, {1, 60}}));
}

}  // namespace
}  // namespace hone
