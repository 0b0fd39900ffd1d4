#include "hone/jobs/search/best_history.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "hone/jobs/search/study_tables.h"

// Tests of a search's progress towards its best trial.
namespace hone {
namespace {

/// A study of the added trials, each of which takes two seconds.
class Search {
 public:
  void add(double value, TrialState state = TrialState::complete) {
    Trial trial{.number = std::ssize(trials_), .state = state};
    trial.user_attributes = {{kMetricsAttribute, {{"average_bits", 10 * value}}},
                             {kSecondsAttribute, 2.0}};
    if (state == TrialState::complete) trial.values = {value};
    trials_.push_back(std::move(trial));
  }
  Trial& last() { return trials_.back(); }

  DescribedStudy shown() const {
    DescribedStudy shown{.view = {.name = "search", .directions = {Direction::maximize}},
                         .objectives = {"accuracy"}};
    for (const Trial& trial : trials_) shown.view.trials.push_back(&trial);
    return shown;
  }

 private:
  std::deque<Trial> trials_;
};

double greatest(std::vector<double> values) { return *std::ranges::max_element(values); }

Series steps(std::vector<Point> points) {
  return {.label = "one", .points = std::move(points), .draw = Draw::steps};
}

TEST(BestHistory, TellsTheBestTrialSoFarAndHowSoonItWasNearTheBest) {
  Search search;
  search.add(0.1, TrialState::fail);
  search.add(0.5);
  search.add(0.9);
  search.last().system_attributes = {{"constraints", Json::array({1.0})}};
  for (const double value : {0.4, 0.845, 0.85, 0.95}) search.add(value);
  search.last().user_attributes[kRepeatAttribute] = 0;
  const DescribedStudy study = search.shown();
  const std::vector<TrialAndBest> way = trials_with_best(study.view);
  ASSERT_EQ(way.size(), 6U);
  EXPECT_EQ(way[0].best, nullptr);
  EXPECT_EQ(way[3].trial->number, 3);
  EXPECT_EQ(way[3].best->number, 1) << "what violates a constraint is none";
  EXPECT_EQ(trials_until(study.view, 0.85, 0), 6);
  EXPECT_EQ(trials_until(study.view, 0.85, 0.005), 5);
  EXPECT_EQ(trials_until(study.view, 0.99, 0.005), std::nullopt);
}

TEST(BestHistory, CountsNoTrialTwiceThatWasInterruptedAndRunAgain) {
  Search search;
  search.add(0.1, TrialState::fail);
  search.add(0.5);
  search.last().system_attributes = {{"failed_trial", 0}};
  search.add(0.75);
  const DescribedStudy study = search.shown();
  EXPECT_EQ(trials_with_best(study.view).size(), 2U);
  EXPECT_EQ(trials_until(study.view, 0.75, 0), 2);
  EXPECT_EQ(history_of(study, "best").by_trial.points.back().x, 3);
  EXPECT_EQ(history_of(study, "best", "value", TrialPosition::count).by_trial.points.back().x, 2);
}

TEST(BestHistory, DrawsFiguresOfTheBestAgainstTheTimeOfAllTrials) {
  Search search;
  search.add(0.5);
  search.add(0.75, TrialState::pruned);
  search.add(0.25);
  const BestHistory history = history_of(search.shown(), "best", "average_bits");
  ASSERT_EQ(history.values.points.size(), 2U);
  EXPECT_EQ(history.values.points[1].y, 2.5);
  ASSERT_EQ(history.by_seconds.points.size(), 3U);
  EXPECT_EQ(history.by_seconds.points[2].x, 6) << "what was pruned took its time, too";
  EXPECT_EQ(history.by_seconds.points[2].y, 5) << "of the best by the objective";
  EXPECT_EQ(history.by_seconds.points[2].name, "trial 1");
}

TEST(BestHistory, CountsWhatProcessorsSpentWhereAllTrialsSaySo) {
  Search search;
  search.add(0.5);
  search.last().user_attributes[kCpuSecondsAttribute] = 3.0;
  search.add(0.75);
  EXPECT_TRUE(history_of(search.shown(), "best").by_cpu_seconds.points.empty());
  search.last().user_attributes[kCpuSecondsAttribute] = 4.0;
  const std::vector<Point> points = history_of(search.shown(), "best").by_cpu_seconds.points;
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1].x, 7);
}

TEST(BestHistory, LaysABandAroundCurvesFromWhereAllHaveBegun) {
  const Series band = band_of({steps({{0, 1}, {2, 3}, {4, 5}}), steps({{1, 2}, {3, 4}})}, "both",
                              greatest, "of two");
  ASSERT_EQ(band.points.size(), 4U);
  EXPECT_EQ(band.points[0].x, 1);
  EXPECT_EQ(band.points[0].low, 1);
  EXPECT_EQ(band.points[0].y, 2);
  EXPECT_EQ(band.points[2].x, 3);
  EXPECT_EQ(band.points[2].low, 3);
  EXPECT_EQ(band.points[2].high, 4);
  EXPECT_EQ(band.points[3].low, 4) << "one that has ended keeps its best";
  EXPECT_EQ(band.points[3].high, 5);
}

}  // namespace
}  // namespace hone
