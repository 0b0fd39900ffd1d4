#include "hone/search/pruner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hone/search/python_json.h"
#include "tests/support/message.h"
#include "tests/support/test_data.h"

namespace hone {
namespace {

using testing::message_of;

std::unique_ptr<Pruner> pruner_called(const std::string& name) {
  if (name == "median_default") return percentile_pruner({});
  if (name == "median_w3_i2_min3")
    return percentile_pruner(
        {.startup_trials = 3, .warmup_steps = 3, .interval_steps = 2, .min_trials = 3});
  if (name == "percentile25") return percentile_pruner({.percentile = 25});
  if (name == "asha_default") return successive_halving_pruner({});
  if (name == "asha_1_3_0")
    return successive_halving_pruner({.min_resource = 1, .reduction_factor = 3});
  if (name == "asha_1_3_1_boot3")
    return successive_halving_pruner({.min_resource = 1,
                                      .reduction_factor = 3,
                                      .min_early_stopping_rate = 1,
                                      .bootstrap_count = 3});
  if (name == "hyperband_1_27_3") return hyperband_pruner({.min_resource = 1, .max_resource = 27});
  if (name == "hyperband_default") return hyperband_pruner({});
  if (name == "patient2_median") return patient_pruner(percentile_pruner({}), 2);
  if (name == "patient3_none") return patient_pruner(nullptr, 3, 0.01);
  if (name == "threshold_upper2") return threshold_pruner({.upper = 2.0});
  ADD_FAILURE() << "no pruner is called " << name;
  return no_pruner();
}

// Returns the step at which each curve is pruned, in order. null: never.
Json decisions(const Pruner& pruner, const Json& curves, Direction direction) {
  Json result = Json::array();
  std::vector<std::unique_ptr<Trial>> trials;
  StudyView study{.name = "prune", .directions = {direction}};
  for (const Json& curve : curves) {
    Trial& trial = *trials.emplace_back(std::make_unique<Trial>());
    trial.number = static_cast<std::int64_t>(result.size());
    Json step = nullptr;
    for (std::size_t i = 0; i < curve.size() && step.is_null(); ++i) {
      const double value = curve[i].get<double>();
      trial.reports[static_cast<std::int64_t>(i) + 1] =
          direction == Direction::minimize ? value : -value;
      const PruneDecision decision = pruner.decide(study, trial);
      for (const auto& [key, attribute] : decision.system_attributes)
        trial.system_attributes[key] = attribute;
      if (decision.prune) step = i + 1;
    }
    const double last = trial.reports.rbegin()->second;
    trial.state = !step.is_null()    ? TrialState::pruned
                  : std::isnan(last) ? TrialState::fail
                                     : TrialState::complete;
    trial.values = {last};
    study.trials.push_back(&trial);
    result.push_back(step);
  }
  return result;
}

TEST(Pruner, DecidesAsOptunaDoes) {
  const fs::path file = test_data() / "vectors/search/pruner_decisions.json";
  const Json vectors = parse_python_json(read_file(file), file.string());
  EXPECT_EQ(vectors["decisions"].size(), 21u);
  for (const auto& [name, expected] : vectors["decisions"].items()) {
    const std::size_t bar = name.find('|');
    EXPECT_EQ(
        decisions(*pruner_called(name.substr(0, bar)), vectors["table"],
                  name.substr(bar + 1) == "minimize" ? Direction::minimize : Direction::maximize),
        expected)
        << name;
  }
}

TEST(Pruner, SaysNothingOfATrialWithoutReports) {
  for (const char* name :
       {"median_default", "asha_1_3_0", "hyperband_1_27_3", "patient3_none", "threshold_upper2"})
    EXPECT_FALSE(pruner_called(name)->decide({}, {}).prune) << name;
}

TEST(Pruner, ShowsSamplersThoseOfABracketAlone) {
  const auto pruner = hyperband_pruner({.min_resource = 1, .max_resource = 27});
  std::vector<Trial> trials(60);
  StudyView study{.name = "prune"};
  for (std::size_t i = 0; i < trials.size(); ++i) {
    trials[i].number = static_cast<std::int64_t>(i);
    study.trials.push_back(&trials[i]);
  }
  // Each trial belongs to one bracket and is visible to the trials that it sees.
  std::set<std::vector<const Trial*>> brackets;
  for (const Trial& trial : trials) {
    const std::vector<const Trial*> seen = pruner->visible_to(study, trial.number).trials;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), &trial), 1);
    brackets.insert(seen);
  }
  EXPECT_EQ(brackets.size(), 4u);
  EXPECT_EQ(patient_pruner(hyperband_pruner({.max_resource = 27}), 1)->visible_to(study, 0).trials,
            pruner->visible_to(study, 0).trials);
  EXPECT_EQ(no_pruner()->visible_to(study, 0).trials.size(), 60u);
}

TEST(Pruner, RefusesSettingsThatMeanNothing) {
  EXPECT_EQ(message_of([] { percentile_pruner({.percentile = 101}); }),
            "a pruner by percentile 101: expected 0 to 100");
  EXPECT_EQ(message_of([] { percentile_pruner({.warmup_steps = -1}); }),
            "a pruner by percentile that waits for 5 trials and -1 steps: expected 0 or more");
  EXPECT_EQ(message_of([] { percentile_pruner({.interval_steps = 0}); }),
            "a pruner by percentile every 0 steps, beside 1 trials: expected 1 or more");
  EXPECT_EQ(message_of([] { successive_halving_pruner({.min_resource = -1}); }),
            "successive halving from -1 steps, 0 rungs later, after 0 trials: expected 0 or more");
  EXPECT_EQ(message_of([] { successive_halving_pruner({.reduction_factor = 1}); }),
            "successive halving by 1: expected 2 or more");
  EXPECT_EQ(message_of([] { successive_halving_pruner({.bootstrap_count = 3}); }),
            "successive halving that waits for 3 trials at its first rung needs "
            "`min_resource`: without it, a complete trial sets the first rung");
  EXPECT_EQ(message_of([] { hyperband_pruner({.min_resource = 9, .max_resource = 3}); }),
            "Hyperband from 9 to 3 steps: expected 1 or more, the lower number first");
  EXPECT_EQ(message_of([] { hyperband_pruner({.reduction_factor = 1}); }),
            "Hyperband by 1: expected 2 or more");
  EXPECT_EQ(message_of([] { patient_pruner(nullptr, -1); }),
            "a patience of -1 steps without 0 better: expected 0 or more");
  EXPECT_EQ(message_of([] { threshold_pruner({}); }),
            "a pruner by thresholds has none: give `lower` or `upper`");
  EXPECT_EQ(message_of([] { threshold_pruner({.lower = 2.0, .upper = 1.0}); }),
            "thresholds of 2 and 1: expected the lower one first");
  EXPECT_EQ(message_of([] { threshold_pruner({.upper = 1.0, .interval_steps = 0}); }),
            "a pruner by thresholds after 0 steps, every 0: expected 0 or more, and 1 or more");
}

}  // namespace
}  // namespace hone
