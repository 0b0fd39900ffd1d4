#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "hone/base/error.h"
#include "hone/base/random.h"
#include "hone/search/python_json.h"
#include "hone/search/sampler.h"
#include "hone/search/test_function.h"
#include "tests/support/test_data.h"

namespace hone {
namespace {

// A study in memory. Its trials keep their addresses.
struct MemoryStudy {
  std::vector<Direction> directions = {Direction::minimize};
  std::deque<Trial> trials = {};

  StudyView view() const {
    StudyView study{.name = "study", .directions = directions};
    for (const Trial& trial : trials) study.trials.push_back(&trial);
    return study;
  }
  Trial next() const {
    Trial trial;
    trial.number = static_cast<std::int64_t>(trials.size());
    return trial;
  }
  void finish(Trial trial, std::vector<double> values, TrialState state = TrialState::complete) {
    trial.state = state;
    trial.values = std::move(values);
    trials.push_back(std::move(trial));
  }
};

// Returns the parameters whose suggestion differs from the recorded one by more than 1e-8 of it.
std::vector<std::string> differences(const Trial& trial, const Json& recorded) {
  std::vector<std::string> names;
  for (const auto& [name, value] : assignment_of(trial.parameters)) {
    const Json& expected = recorded.at(name);
    const bool same = expected.is_number()
                          ? std::abs(value.get<double>() - expected.get<double>()) <=
                                1e-8 * std::abs(expected.get<double>())
                          : value == expected;
    if (!same) names.push_back(fmt::format("{} of {}", name, trial.number));
  }
  return names;
}

// Suggests each trial of a recorded run and adds the recorded one to the history. Returns the differing suggestions.
std::vector<std::string> replay(Sampler& sampler, const SearchSpace& space, const Json& params,
                                const Json& values, std::vector<Direction> directions) {
  std::vector<std::string> result;
  MemoryStudy study{.directions = std::move(directions)};
  for (std::size_t i = 0; i < params.size(); ++i) {
    Trial trial = study.next();
    suggest(sampler, study.view(), space, trial);
    for (std::string& name : differences(trial, params[i])) result.push_back(std::move(name));
    Assignment recorded;
    for (const auto& [name, value] : params[i].items()) recorded[name] = value;
    trial.parameters = space.parameters_of(recorded);
    study.finish(std::move(trial), values[i].is_array() ? values[i].get<std::vector<double>>()
                                                        : std::vector<double>{values[i]});
  }
  return result;
}

struct Trace {
  const char* file;
  TpeProfile profile;
  std::size_t may_differ;  // ties between scores that are equal except for rounding
};

class OptunaTraces : public ::testing::TestWithParam<Trace> {};

TEST_P(OptunaTraces, AreSuggestedAgain) {
  const auto& [file, profile, may_differ] = GetParam();
  for (const int seed : {0, 1}) {
    const Json trace =
        read_json(test_data() / fmt::format("vectors/search/tpe_{}_seed{}.json", file, seed));
    const TestFunction& function =
        find_test_function(std::string(file).starts_with("cont") ? "cont" : "mixed");
    const auto sampler = tpe_sampler(
        {.seed = static_cast<std::uint64_t>(seed), .compatible = true, .profile = profile});
    const std::vector<std::string> differ =
        replay(*sampler, function.space, trace["params"], trace["values"], {Direction::minimize});
    EXPECT_LE(differ.size(), may_differ) << file << seed << ": " << to_line(Json(differ));
  }
}

INSTANTIATE_TEST_SUITE_P(Tpe, OptunaTraces,
                         ::testing::Values(Trace{"cont_5.0.0", TpeProfile::optuna_5, 0},
                                           Trace{"cont_4.6uv", TpeProfile::optuna_4_6, 0},
                                           Trace{"mixed_5.0.0", TpeProfile::optuna_5, 0},
                                           Trace{"mixed_4.6uv", TpeProfile::optuna_4_6, 2}));

// Uses only our own values, so errors would accumulate.
TEST(Tpe, RunsAsOptunaRanWithoutItsValues) {
  for (const auto& [file, profile] :
       {std::pair{"5.0.0", TpeProfile::optuna_5}, std::pair{"4.6uv", TpeProfile::optuna_4_6}})
    for (const int seed : {0, 1}) {
      const Json trace = read_json(
          test_data() / fmt::format("vectors/search/tpe_cont_{}_seed{}.json", file, seed));
      const TestFunction& function = find_test_function("cont");
      const auto sampler = tpe_sampler(
          {.seed = static_cast<std::uint64_t>(seed), .compatible = true, .profile = profile});
      MemoryStudy study;
      for (std::size_t i = 0; i < trace["params"].size(); ++i) {
        Trial trial = study.next();
        suggest(*sampler, study.view(), function.space, trial);
        EXPECT_TRUE(differences(trial, trace["params"][i]).empty()) << file << seed << " " << i;
        const double value = function.value(assignment_of(trial.parameters));
        study.finish(std::move(trial), {value});
      }
    }
}

TEST(Tpe, RunsWithTwoObjectivesAsOptuna) {
  const fs::path path = test_data() / "vectors/search/mo_5.0.0.json";
  const Json traces = parse_python_json(read_file(path), path.string())["trace"];
  const SearchSpace space{.parameters = {{"x", real_values(0, 1)},
                                         {"y", real_values(0, 1)},
                                         {"k", integer_values(0, 5)}}};
  for (const bool multivariate : {false, true}) {
    Json params, values;
    for (const Json& trial : traces[multivariate ? "mv" : "uv"]) {
      params.push_back(trial["p"]);
      values.push_back(trial["v"]);
    }
    ASSERT_EQ(params.size(), 60u);
    const auto sampler = tpe_sampler({.seed = 3, .compatible = true, .multivariate = multivariate});
    EXPECT_EQ(replay(*sampler, space, params, values, {Direction::minimize, Direction::minimize}),
              std::vector<std::string>{})
        << multivariate;
  }
}

// Returns trials of all states, some with constraints, in a space with dependent parameters.
MemoryStudy varied_study(std::size_t count, const SearchSpace& space) {
  MemoryStudy study;
  RandomSequence random(5, 0);
  const auto sampler = random_sampler({.seed = 5});
  for (std::size_t i = 0; i < count; ++i) {
    Trial trial = study.next();
    suggest(*sampler, study.view(), space, trial);
    const double value = random.uniform();
    if (i % 7 == 3) trial.system_attributes["constraints"] = {value - 0.5, -1.0};
    if (i % 5 == 2) trial.reports = {{static_cast<std::int64_t>(i % 3), value}};
    const TrialState state = i % 11 == 4  ? TrialState::fail
                             : i % 5 == 2 ? TrialState::pruned
                                          : TrialState::complete;
    study.finish(std::move(trial),
                 state == TrialState::complete ? std::vector{value} : std::vector<double>{}, state);
  }
  return study;
}

SearchSpace layered_test_space() {
  SearchSpace space = find_test_function("mixed").space;
  space.parameters.push_back({"deep", real_values(0, 1), [](const Assignment& earlier) {
                                return earlier.at("layers").get<int>() > 4;
                              }});
  return space;
}

struct Mode {
  TpeProfile profile = TpeProfile::optuna_5;
  bool multivariate = true;
  bool group = false;
};

class TpeModes : public ::testing::TestWithParam<Mode> {
 protected:
  TpeSamplerOptions options() const {
    return {.seed = 9,
            .profile = GetParam().profile,
            .multivariate = GetParam().multivariate,
            .constant_liar = true,
            .group = GetParam().group};
  }
};

// The sampler caches columns between calls. Compares with a new sampler that has no cache.
TEST_P(TpeModes, SuggestsTheSameWhateverItSawBefore) {
  const SearchSpace space = layered_test_space();
  MemoryStudy study = varied_study(160, space);
  const auto experienced = tpe_sampler(options());
  const auto expect_same = [&](const StudyView& view, const char* what) {
    Trial ours = study.next(), fresh = study.next();
    suggest(*experienced, view, space, ours);
    suggest(*tpe_sampler(options()), view, space, fresh);
    EXPECT_EQ(assignment_of(ours.parameters), assignment_of(fresh.parameters)) << what;
  };
  const StudyView whole = study.view();
  StudyView part = whole;
  for (const std::size_t count : {30u, 31u, 90u, 160u}) {
    part.trials.assign(whole.trials.begin(), whole.trials.begin() + count);
    expect_same(part, "growing");
  }
  // A running trial whose values differ each time.
  for (const std::size_t like : {3u, 8u}) {
    Trial running = study.trials[like];
    running.number = 160;
    running.state = TrialState::running;
    running.values.clear();
    part.trials.push_back(&running);
    expect_same(part, "running");
    part.trials.pop_back();
  }
  for (std::size_t i = 0; i < part.trials.size(); i += 2) part.trials[i / 2] = part.trials[i];
  part.trials.resize(80);
  expect_same(part, "shrunk");
  expect_same(whole, "whole again");
  // Other trials take the same addresses.
  for (Trial& trial : study.trials) trial.number += 1000;
  expect_same(study.view(), "others");
  part.directions = {Direction::maximize};
  expect_same(part, "other direction");
}

INSTANTIATE_TEST_SUITE_P(Tpe, TpeModes,
                         ::testing::Values(Mode{}, Mode{.multivariate = false}, Mode{.group = true},
                                           Mode{.profile = TpeProfile::optuna_3_1,
                                                .multivariate = false},
                                           Mode{.profile = TpeProfile::optuna_3_1},
                                           Mode{.profile = TpeProfile::optuna_4_6},
                                           Mode{.profile = TpeProfile::optuna_4_9}));

TEST(Tpe, StaysAwayFromTrialsThatRun) {
  const SearchSpace space{.parameters = {{"x", real_values(0, 1)}}};
  MemoryStudy study;
  for (int i = 0; i < 30; ++i) {
    Trial trial = study.next();
    const double x = i / 30.0;
    trial.parameters = space.parameters_of({{"x", x}});
    study.finish(std::move(trial), {std::abs(x - 0.5)});
  }
  const auto distance = [&](bool liar, const StudyView& view) {
    double sum = 0;
    for (int seed = 0; seed < 20; ++seed) {
      Trial trial = study.next();
      suggest(*tpe_sampler({.seed = static_cast<std::uint64_t>(seed), .constant_liar = liar}), view,
              space, trial);
      sum += std::abs(trial.parameters[0].value - 0.5);
    }
    return sum;
  };
  // Many trials run near the best point. The values of the last draw are published in two pieces, as by Optuna's
  // workers.
  std::deque<Trial> running(12);
  StudyView view = study.view();
  for (Trial& trial : running) {
    trial.number = static_cast<std::int64_t>(view.trials.size());
    trial.system_attributes["tpe:relative_params:0"] = "{\"x\": 0.";
    trial.system_attributes["tpe:relative_params:1"] = "5}";
    view.trials.push_back(&trial);
  }
  EXPECT_EQ(distance(false, view), distance(false, study.view()));
  EXPECT_GT(distance(true, view), 1.2 * distance(true, study.view()));
  for (Trial& trial : running)
    trial.system_attributes["tpe:relative_params:1"] = "5";  // incomplete
  EXPECT_EQ(distance(true, view), distance(true, study.view()));
}

TEST(Tpe, LearnsFromChoicesThatAreStillThere) {
  const SearchSpace before{.parameters = {{"kind", choice_of({"a", "b", "gone"})}}};
  const SearchSpace now{.parameters = {{"kind", choice_of({"b", "a"})}}};
  MemoryStudy study;
  for (int i = 0; i < 60; ++i) {
    Trial trial = study.next();
    const char* kind = i % 3 == 0 ? "a" : i % 3 == 1 ? "b" : "gone";
    trial.parameters = before.parameters_of({{"kind", kind}});
    study.finish(std::move(trial), {i % 3 == 1 ? 0.0 : 1.0});
  }
  Trial trial = study.next();
  suggest(*tpe_sampler({}), study.view(), now, trial);
  EXPECT_EQ(trial.parameters[0].value, 0);
}

// Files of other programs may have invalid choice indices and values outside of logarithmic ranges.
TEST(Tpe, LearnsNothingFromValuesThatAreNone) {
  const SearchSpace space{.parameters = {{"kind", choice_of({"a", "b", "c"})},
                                         {"rate", real_values(0.1, 1, {}, true)}}};
  for (const bool multivariate : {false, true}) {
    MemoryStudy study;
    for (int i = 0; i < 40; ++i) {
      Trial trial = study.next();
      trial.parameters = space.parameters_of({{"kind", "a"}, {"rate", 0.5}});
      study.finish(std::move(trial), {1.0 * i});
    }
    const auto next = [&] {
      Trial trial = study.next();
      trial.number = 100;
      suggest(*tpe_sampler({.multivariate = multivariate}), study.view(), space, trial);
      return assignment_of(trial.parameters);
    };
    study.trials[39].parameters.clear();
    const Assignment before = next();
    study.trials[39].parameters = study.trials[38].parameters;
    study.trials[39].parameters[0].value = 7;
    study.trials[39].parameters[1].value = -2;
    const Assignment after = next();
    ASSERT_EQ(after.size(), 2u);
    // Joint sampling would differ if the trial lacked these parameters.
    if (!multivariate) {
      EXPECT_EQ(after, before);
    }
  }
}

TEST(Tpe, TakesTrialsOfSeveralObjectivesInEveryState) {
  const SearchSpace& space = find_test_function("mixed").space;
  for (const TpeProfile profile : {TpeProfile::optuna_5, TpeProfile::optuna_4_6}) {
    MemoryStudy study = varied_study(60, space);
    study.directions = {Direction::minimize, Direction::maximize, Direction::minimize};
    for (Trial& trial : study.trials)
      if (trial.state == TrialState::complete && trial.violation() == 0)
        trial.values = {trial.values[0], trial.values[0] * trial.parameters[0].value, 1};
      else
        trial.values.clear();
    Trial trial = study.next();
    suggest(*tpe_sampler({.profile = profile}), study.view(), space, trial);
    EXPECT_EQ(trial.parameters.size(), space.parameters.size());
  }
}

TEST(Tpe, DrawsWhatOccursTogetherTogetherInGroups) {
  const SearchSpace space = layered_test_space();
  const MemoryStudy study = varied_study(60, space);
  const auto names = [&](bool group) {
    std::vector<std::string> result;
    const JointDraw draw = tpe_sampler({.multivariate = true, .group = group})
                               ->draw_jointly(study.view(), study.next(), space);
    for (const auto& [name, value] : draw.values) result.push_back(name);
    return result;
  };
  EXPECT_EQ(names(false), (std::vector<std::string>{"batch", "drop", "hid", "kind", "layers", "lr",
                                                    "n", "x", "y"}));
  EXPECT_EQ(names(true), (std::vector<std::string>{"batch", "deep", "drop", "hid", "kind", "layers",
                                                   "lr", "n", "x", "y"}));
}

TEST(Tpe, FindsProfilesByTheirNames) {
  for (const std::string& name : tpe_profile_names())
    EXPECT_EQ(to_string(find_tpe_profile(name)), name);
  EXPECT_EQ(find_tpe_profile("optuna-4.6"), TpeProfile::optuna_4_6);
  try {
    find_tpe_profile("optuna-6");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "no profile of TPE is called 'optuna-6'; there are optuna-5, optuna-4.9, "
                 "optuna-4.6, optuna-3.1");
  }
}

TEST(Tpe, FindsTestFunctionsByTheirNames) {
  EXPECT_EQ(find_test_function("cont").space.parameters.size(), 4u);
  try {
    find_test_function("flat");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "no test function is called 'flat'; there are cont, mixed");
  }
}

TEST(Tpe, RefusesOptionsThatMeanNothing) {
  const auto refusal = [](const TpeSamplerOptions& options) -> std::string {
    try {
      tpe_sampler(options);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal({.candidates = 0}), "TPE with 0 candidates: expected at least 1");
  EXPECT_EQ(refusal({.profile = TpeProfile::optuna_4_6, .group = true}),
            "groups apply to parameters that are drawn jointly: set multivariate as well");
}

}  // namespace
}  // namespace hone
