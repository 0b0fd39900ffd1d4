#include "hone/search/engine/promotion.h"

#include <gtest/gtest.h>

#include "hone/search/engine/repeats.h"
#include "hone/search/engine/trial_table.h"
#include "hone/search/pruners/rungs.h"
#include "tests/search/memory_storage.h"
#include "tests/search/search_runs.h"

namespace hone::testing {
namespace {

Trial at_rungs(std::int64_t number, const std::vector<double>& values, TrialState state) {
  Trial trial{.number = number, .state = state};
  for (std::size_t rung = 0; rung < values.size(); ++rung)
    trial.system_attributes[rung_key(static_cast<std::int64_t>(rung))] = values[rung];
  return trial;
}

TEST(Promotion, LetsTheBestOfARungGoOn) {
  const TrialState pruned = TrialState::pruned, complete = TrialState::complete;
  std::vector<Trial> trials = {at_rungs(0, {5}, pruned), at_rungs(1, {4}, pruned),
                               at_rungs(2, {3, 2}, complete), at_rungs(3, {6}, pruned)};
  StudyView view{.directions = {Direction::minimize}};
  for (const Trial& trial : trials) view.trials.push_back(&trial);
  // One of four trials is among the best third, and it has continued by itself.
  EXPECT_EQ(promotable(view, 3), nullptr);
  EXPECT_EQ(promotable(view, 2), &trials[1]);
  view.directions = {Direction::maximize};
  EXPECT_EQ(promotable(view, 3), &trials[3]);
  // A trial that another one continues is represented by that one.
  trials.push_back(at_rungs(4, {4}, TrialState::running));
  trials.back().user_attributes["continues"] = 1;
  view = {.directions = {Direction::minimize}};
  for (const Trial& trial : trials) view.trials.push_back(&trial);
  const StudyView points = points_of(view);
  EXPECT_EQ(points.trials.size(), 4u);
  EXPECT_EQ(promotable(points, 2), nullptr);
}

// Learning curves drop to their final value at once and are stopped at rungs 1, 3 and 9.
struct Halving {
  std::int64_t steps = 0;
  std::map<std::int64_t, std::int64_t> first_step = {};  // by trial
  TrialOutcome operator()(TrialRun& run) {
    const Trial trial = run.trial();
    const std::int64_t done = trial.reports.empty() ? 0 : trial.reports.rbegin()->first;
    first_step[trial.number] = done + 1;
    for (std::int64_t step = done + 1; step <= 9; ++step) {
      ++steps;
      if (run.report(step, square_sum(trial))) return {.state = TrialState::pruned};
    }
    return value_of(run);
  }
};

TEST(Promotion, GoesOnWhereAGoodTrialWasPruned) {
  MemoryStorage storage;
  Halving halving;
  const auto pruner = successive_halving_pruner({.min_resource = 1, .reduction_factor = 3});
  run_workers(1, storage, *pruner, std::ref(halving),
              {.study = "s", .space = real_space(), .trials = 60, .promote_by = 3});
  const std::vector<Trial> table = storage.table();
  int continued = 0;
  std::set<std::int64_t> origins;
  for (const Trial& trial : table) {
    const auto origin = number_in(trial.user_attributes, "continues");
    if (!origin) continue;
    ++continued;
    EXPECT_TRUE(origins.insert(*origin).second) << "trial " << *origin << " goes on twice";
    const Trial& before = table[static_cast<std::size_t>(*origin)];
    EXPECT_EQ(before.state, TrialState::pruned);
    EXPECT_EQ(key_of(trial.parameters), key_of(before.parameters));
    EXPECT_GT(trial.reports.size(), before.reports.size());
    EXPECT_EQ(halving.first_step[trial.number], before.reports.rbegin()->first + 1);
    EXPECT_GT(rungs_reached(trial), rungs_reached(before));
  }
  EXPECT_GE(continued, 1);
  // Nothing is computed twice: every chain has each of its steps once.
  std::int64_t reports = 0;
  for (const Trial& trial : table)
    if (!origins.contains(trial.number)) reports += static_cast<std::int64_t>(trial.reports.size());
  EXPECT_EQ(reports, halving.steps);
}

TEST(Promotion, LeavesPrunedTrialsAloneWhereItIsOff) {
  MemoryStorage storage;
  Halving halving;
  const auto pruner = successive_halving_pruner({.min_resource = 1, .reduction_factor = 3});
  run_workers(1, storage, *pruner, std::ref(halving),
              {.study = "s", .space = real_space(), .trials = 60});
  for (const Trial& trial : storage.table())
    EXPECT_FALSE(trial.user_attributes.contains("continues"));
}

TEST(Repeats, RunTheBestAgainAndRankByTheMean) {
  MemoryStorage storage;
  // Trial 0 is lucky, and its repeats are not.
  const auto noisy = [](TrialRun& run) {
    const bool repeat = run.trial().user_attributes.contains("repeat_of");
    const auto origin = number_in(run.trial().user_attributes, "repeat_of");
    const std::int64_t number = origin.value_or(run.trial().number);
    return TrialOutcome{
        .values = {number == 0 ? (repeat ? 20.0 : 0.0) : 10 + static_cast<double>(number)}};
  };
  WatchfulSampler sampler;
  run_search(storage, sampler, *no_pruner(), noisy,
             {.study = "s", .space = real_space(), .trials = 12, .repeats = 2});
  const std::vector<Trial> table = storage.table();
  StudyView view{.directions = {Direction::minimize}};
  for (const Trial& trial : table) view.trials.push_back(&trial);
  EXPECT_EQ(table[1].user_attributes.at("repeat_of"), 0);
  EXPECT_EQ(table[1].user_attributes.at("repeat"), 1);
  EXPECT_EQ(table[2].user_attributes.at("repeat"), 2);
  EXPECT_EQ(key_of(table[2].parameters), key_of(table[0].parameters));
  const std::vector<RepeatedTrial> ranked = ranked_by_mean(view);
  EXPECT_EQ(best_trial(view)->number, 0);
  EXPECT_EQ(ranked[0].trial->number, 3);
  EXPECT_EQ(ranked[0].mean, 13);
  EXPECT_EQ(ranked[0].runs, 3);
  EXPECT_EQ(ranked[1].trial->number, 0);
  EXPECT_NEAR(ranked[1].mean, 40.0 / 3, 1e-12);
  // Samplers do not see the repeats.
  const StudyView points = points_of(view);
  EXPECT_LT(points.trials.size(), table.size());
  EXPECT_LE(sampler.seen.back(), points.trials.size());
}

}  // namespace
}  // namespace hone::testing
