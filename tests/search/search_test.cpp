#include "hone/search/search.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/search/memory_storage.h"
#include "tests/search/search_runs.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

// Trials take random time. Some fail, violate a constraint or are pruned.
TrialOutcome eventful(TrialRun& run) {
  const Trial& trial = run.trial();
  std::this_thread::sleep_for(std::chrono::microseconds(std::rand() % 3000));
  for (std::int64_t step = 1; step <= 9; ++step)
    if (run.report(step, square_sum(trial) + 1.0 / static_cast<double>(step)))
      return {.state = TrialState::pruned};
  if (trial.number % 7 == 3) fail("it fails");
  run.set_user_attribute("note", trial.number);
  TrialOutcome outcome = value_of(run);
  outcome.constraints = {outcome.values[0] - 20};
  return outcome;
}

std::vector<std::string> eventful_table(int workers, const Pruner& pruner,
                                        const SearchOptions& options) {
  MemoryStorage storage;
  const Study study = storage.create_study(options.study, options.directions);
  for (int i = 0; i < 3; ++i) {
    Trial queued{.state = TrialState::waiting};
    queued.system_attributes["fixed_params"] = {{"x", i}};
    storage.create_trial(study.id, queued);
  }
  for (const SearchEnd& end : run_workers(workers, storage, pruner, eventful, options))
    EXPECT_EQ(end.reason, EndReason::trials);
  return lines_of(storage.table());
}

TEST(Search, MakesTheSameTrialsHoweverManyWorkersThereAre) {
  const SearchOptions options{.study = "s",
                              .space = real_space(),
                              .concurrency = 8,
                              .trials = 60,
                              .promote_by = 3,
                              .repeats = 1};
  for (const auto& pruner :
       {no_pruner(), percentile_pruner({.startup_trials = 2}),
        successive_halving_pruner({.min_resource = 1, .reduction_factor = 3})}) {
    const std::vector<std::string> one = eventful_table(1, *pruner, options);
    EXPECT_EQ(one.size(), 60u);
    EXPECT_EQ(eventful_table(2, *pruner, options), one);
    EXPECT_EQ(eventful_table(8, *pruner, options), one);
  }
}

TEST(Search, ShowsATrialWhatFinishedWellBeforeAndThatOthersRun) {
  MemoryStorage storage;
  class Watcher : public WatchfulSampler {
   public:
    double draw(const StudyView& study, const Trial& trial, const std::string& name,
                const Distribution& d) override {
      states.emplace_back();
      for (const Trial* other : study.trials) states.back().push_back(other->state);
      for (const Trial* other : study.trials)
        EXPECT_EQ(other->values.empty(), other->state == TrialState::running);
      return WatchfulSampler::draw(study, trial, name, d);
    }
    std::vector<std::vector<TrialState>> states;
  };
  Watcher sampler;
  SearchSpace space;
  space.parameters.push_back({"x", real_values(0, 1)});
  run_search(storage, sampler, *no_pruner(), value_of,
             {.study = "s", .space = space, .concurrency = 3, .trials = 5});
  const TrialState done = TrialState::complete, runs = TrialState::running;
  EXPECT_EQ(sampler.states,
            (std::vector<std::vector<TrialState>>{
                {}, {runs}, {runs, runs}, {done, runs, runs}, {done, done, runs, runs}}));
  Watcher hasty;
  run_search(storage, hasty, *no_pruner(), value_of,
             {.study = "s", .space = space, .concurrency = 3, .asynchronous = true, .trials = 6});
  EXPECT_EQ(hasty.states, (std::vector<std::vector<TrialState>>{{done, done, done, done, done}}));
}

TEST(Search, EndsWhereABudgetDoes) {
  const SearchOptions options{.study = "s", .space = real_space(), .trials = 5};
  MemoryStorage storage;
  SearchEnd end = run_one_worker(storage, value_of, options);
  EXPECT_EQ(end.reason, EndReason::trials);
  EXPECT_EQ(end.trials, 5);
  EXPECT_EQ(storage.find_study("s")->user_attributes.at("end_reason"), "trials");
  // It resumes where it ended.
  end = run_one_worker(storage, value_of, {.study = "s", .space = real_space(), .trials = 8});
  EXPECT_EQ(end.trials, 3);
  EXPECT_EQ(storage.table().size(), 8u);

  const auto slow = [](TrialRun& run) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return value_of(run);
  };
  MemoryStorage timed;
  end = run_one_worker(timed, slow, {.study = "s", .space = real_space(), .seconds = 0.1});
  EXPECT_EQ(end.reason, EndReason::time);
  EXPECT_GE(end.trials, 1);
  EXPECT_LE(end.trials, 6);
}

TEST(Search, EndsOnAPlateau) {
  // 3, 2, 1, 1, …: improves until the third trial.
  const auto falls = [](TrialRun& run) {
    return TrialOutcome{.values = {std::max(1.0, 3.0 - static_cast<double>(run.trial().number))}};
  };
  MemoryStorage storage;
  const SearchEnd end =
      run_one_worker(storage, falls, {.study = "s", .space = real_space(), .patience = 4});
  EXPECT_EQ(end.reason, EndReason::plateau);
  EXPECT_EQ(storage.table().size(), 7u);
  // With two objectives, a trial is an improvement if no earlier one equals or dominates it.
  MemoryStorage front;
  const auto trade = [](TrialRun& run) {
    const double x = static_cast<double>(std::min<std::int64_t>(run.trial().number, 5));
    return TrialOutcome{.values = {x, x}};
  };
  run_one_worker(front, trade,
                 {.study = "s",
                  .directions = {Direction::minimize, Direction::maximize},
                  .space = real_space(),
                  .patience = 2});
  EXPECT_EQ(front.table().size(), 8u);
}

TEST(Search, VisitsEachPointOfASmallSpaceOnceAndEnds) {
  for (const int workers : {1, 4}) {
    MemoryStorage storage;
    const SearchOptions options{
        .study = "s", .space = small_space(), .concurrency = 4, .trials = 1000};
    for (const SearchEnd& end : run_workers(workers, storage, *no_pruner(), eventful, options))
      EXPECT_EQ(end.reason, EndReason::exhausted);
    std::set<std::string> keys;
    for (const Trial& trial : storage.table()) keys.insert(key_of(trial.parameters));
    EXPECT_EQ(keys.size(), 48u);
    EXPECT_EQ(storage.table().size(), 48u);
  }
}

TEST(Search, VisitsNoPointThatTheSpaceObjectsTo) {
  SearchOptions options{.study = "s", .space = small_space()};
  options.space.objection = [](const Assignment& values) {
    return values.at("layers") == 8 && values.at("kind") != "a" ? "too deep" : "";
  };
  MemoryStorage storage;
  EXPECT_EQ(run_one_worker(storage, value_of, options).reason, EndReason::exhausted);
  EXPECT_EQ(storage.table().size(), 40u);

  options.space = real_space();
  options.space.objection = [](const Assignment& values) {
    return values.at("x").get<double>() < 0 ? "negative" : "";
  };
  options.trials = 20;
  MemoryStorage positive;
  run_one_worker(positive, value_of, options);
  for (const Trial& trial : positive.table()) EXPECT_GE(trial.parameters[0].value, 0);

  options.space.objection = [](const Assignment&) { return "never"; };
  MemoryStorage none;
  WatchfulSampler sampler;
  EXPECT_EQ(user_error_of([&] { run_search(none, sampler, *no_pruner(), value_of, options); }),
            "the search space rejected all of 100 sampled points, the last one because: "
            "never; change its parameters so that more combinations are valid");
}

TEST(Search, TriesAPointAgainWhereThatIsWanted) {
  MemoryStorage storage;
  const SearchOptions options{
      .study = "s", .space = small_space(), .trials = 100, .avoid_duplicates = false};
  EXPECT_EQ(run_one_worker(storage, value_of, options).reason, EndReason::trials);
  EXPECT_EQ(storage.table().size(), 100u);
}

TEST(Search, ShowsSamplersThatPointsFailed) {
  class Watcher : public WatchfulSampler {
   public:
    double draw(const StudyView& study, const Trial& trial, const std::string& name,
                const Distribution& d) override {
      std::vector<double> now;
      for (const Trial* other : study.trials) {
        EXPECT_EQ(other->state == TrialState::fail || other->violation() == 1,
                  other->number % 2 == 0);
        now.push_back(other->violation());
        // The result computed for a failure stays the same throughout the search.
        const auto [known, fresh] = failures.emplace(other->number, other);
        EXPECT_EQ(known->second, other) << fresh;
      }
      violations = now;
      return WatchfulSampler::draw(study, trial, name, d);
    }
    std::vector<double> violations;
    std::map<std::int64_t, const Trial*> failures;
  };
  const auto fails_on_even = [](TrialRun& run) {
    if (run.trial().number % 2 == 0) throw std::runtime_error("out of memory");
    return value_of(run);
  };
  SearchOptions options{.study = "s", .space = real_space(), .trials = 6};
  MemoryStorage storage;
  Watcher sampler;
  EXPECT_EQ(run_search(storage, sampler, *no_pruner(), fails_on_even, options).trials, 6);
  EXPECT_EQ(sampler.violations, (std::vector<double>{1, 0, 1, 0, 1}));
  EXPECT_EQ(storage.table()[4].state, TrialState::fail);
  EXPECT_EQ(storage.table()[4].user_attributes.at("fail_reason"), "out of memory");
  options.penalize_failures = false;
  MemoryStorage plain;
  Watcher other;
  run_search(plain, other, *no_pruner(), fails_on_even, options);
  EXPECT_EQ(other.violations, (std::vector<double>{0, 0, 0, 0, 0}));
}

TEST(Search, SaysWhyATrialFailed) {
  MemoryStorage storage;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto objective = [&](TrialRun& run) -> TrialOutcome {
    switch (run.trial().number) {
      case 0:
        return {.values = {nan}};
      case 1:
        return {.values = {1, 2}};
      case 2:
        return {.state = TrialState::fail, .failure = "no room"};
      case 3:
        return {.state = TrialState::running};
      case 4:
        run.report(-1, 0);
        return {};
      default:
        run.report(3, 0.5);
        run.report(3, 0.25);
        return {.state = TrialState::pruned, .user_attributes = {{"size", 4}}};
    }
  };
  run_one_worker(storage, objective, {.study = "s", .space = real_space(), .trials = 6});
  const std::vector<Trial> table = storage.table();
  const char* reasons[] = {
      "its value is not a number", "it returned 2 values, its study has 1 objectives", "no room",
      "its objective returned the state RUNNING", "a report of step -1: expected 0 or more"};
  for (std::size_t i = 0; i < std::size(reasons); ++i)
    EXPECT_EQ(table[i].user_attributes.at("fail_reason"), reasons[i]);
  EXPECT_EQ(table[5].state, TrialState::pruned);
  EXPECT_EQ(table[5].values, std::vector<double>{0.5});
  EXPECT_EQ(table[5].user_attributes.at("size"), 4);
}

TEST(Search, RunsAQueueFirst) {
  MemoryStorage storage;
  const Study study = storage.create_study("s", {Direction::minimize});
  const Json queue[] = {{{"x", 1}, {"y", 0.5}}, {{"x", "left"}}, {{"x", 2}}};
  for (const Json& fixed : queue) {
    Trial queued{.state = TrialState::waiting};
    queued.system_attributes["fixed_params"] = fixed;
    storage.create_trial(study.id, queued);
  }
  std::vector<std::string> warnings;
  std::vector<std::int64_t> told;
  const SearchCallbacks callbacks{
      .on_trial =
          [&](const Trial& finished, const StudyView& all) {
            told.push_back(finished.number);
            EXPECT_EQ(all.trials.size(), std::max<std::size_t>(told.size() + 1, 3));
          },
      .on_warning = [&](const std::string& sentence) { warnings.push_back(sentence); }};
  run_one_worker(storage, value_of, {.study = "s", .space = real_space(), .trials = 4}, callbacks);
  const std::vector<Trial> table = storage.table();
  EXPECT_EQ(table[0].values, std::vector<double>{1.25});
  EXPECT_EQ(table[2].parameters[0].value, 2);
  EXPECT_EQ(table[3].state, TrialState::complete);
  EXPECT_EQ(warnings,
            std::vector<std::string>{
                "trial 1 was not run: the fixed value for x: expected a number, got \"left\""});
  EXPECT_EQ(table[1].state, TrialState::fail);
  EXPECT_EQ(told, (std::vector<std::int64_t>{0, 2, 3}));
}

TEST(Search, RefusesWhatMeansNothing) {
  MemoryStorage storage;
  storage.create_study("two", {Direction::minimize, Direction::maximize});
  WatchfulSampler sampler;
  const auto refusal = [&](SearchOptions options) {
    if (options.study.empty()) options.study = "s";
    if (options.space.parameters.empty() && options.trials != 77) options.space = real_space();
    return user_error_of([&] { run_search(storage, sampler, *no_pruner(), value_of, options); });
  };
  EXPECT_EQ(refusal({.study = "two"}),
            "study 'two' has the objectives minimize, maximize, this search has minimize; "
            "continue with the objectives of the study, or use another name");
  EXPECT_EQ(refusal({.concurrency = 0}), "a `concurrency` of 0: expected 1 or more");
  EXPECT_EQ(refusal({.patience = -1}),
            "`trials` 0, `seconds` 0, `patience` -1, `retries` 1, `repeats` 0: expected 0 or more "
            "of each");
  EXPECT_EQ(refusal({.heartbeat_seconds = 0}), "`heartbeat_seconds` 0: expected more than 0");
  EXPECT_EQ(refusal({.promote_by = 1}), "`promote_by` 1: expected 2 or more, or 0");
  EXPECT_EQ(refusal({.repeats = 1, .repeat_top = 0}), "`repeat_top` 0: expected 1 or more");
  EXPECT_EQ(refusal({.trials = 77}), "the search space has no parameters");
  EXPECT_EQ(
      refusal(
          {.study = "two", .directions = {Direction::minimize, Direction::maximize}, .repeats = 1}),
      "a study of 2 objectives: repeating or promoting the best trials needs a "
      "single objective");
}

}  // namespace
}  // namespace hone::testing
