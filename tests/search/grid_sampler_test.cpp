#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "hone/base/error.h"
#include "hone/search/sampler.h"
#include "hone/search/samplers/permutation.h"
#include "tests/support/test_data.h"

namespace hone {
namespace {

SearchSpace conditional_grid() {
  SearchSpace space;
  space.parameters = {{"layers", choice_of({1, 2, 3})}, {"width", integer_values(8, 24, 8)}};
  for (const int layer : {0, 1, 2})
    space.parameters.push_back(
        {fmt::format("flag.{}", layer), choice_of({"linear", "identity"}),
         [layer](const Assignment& earlier) { return earlier.at("layers").get<int>() > layer; }});
  space.objection = [](const Assignment& values) {
    return values.at("width") == 24 && values.at("layers") == 3 ? "too large" : "";
  };
  return space;
}

struct GridRun {
  std::deque<Trial> trials;

  StudyView view() const {
    StudyView study;
    for (const Trial& trial : trials) study.trials.push_back(&trial);
    return study;
  }
  void add(Sampler& sampler, const SearchSpace& space, const Json& fixed = nullptr) {
    Trial trial{.number = static_cast<std::int64_t>(trials.size())};
    if (!fixed.is_null()) trial.system_attributes["fixed_params"] = fixed;
    suggest(sampler, view(), space, trial);
    trial.state = trials.size() % 3 == 0 ? TrialState::fail : TrialState::complete;
    trials.push_back(std::move(trial));
  }
  std::set<std::string> points() const {
    std::set<std::string> keys;
    for (const Trial& trial : trials) keys.insert(key_of(trial.parameters));
    return keys;
  }
};

TEST(Permutation, IsAnOrderOfAll) {
  for (const std::uint64_t count : {1u, 2u, 5u, 64u, 1000u, 4097u}) {
    std::set<std::uint64_t> seen;
    bool moved = count < 5;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::uint64_t>(Permutation(count, 3).at(i));
      EXPECT_LT(at, count);
      seen.insert(at);
      moved |= at != Permutation(count, 4).at(i);
    }
    EXPECT_EQ(seen.size(), count);
    EXPECT_TRUE(moved) << count << ": another seed, the same order";
  }
  const WideCount most = WideCount{1} << 126;
  EXPECT_LT(Permutation(most, 1).at(most - 1), most);
}

TEST(GridSampler, VisitsInOptunasOrder) {
  const Json vectors = read_json(test_data() / "vectors/search/grid_order.json");
  SearchSpace space;
  for (const auto& [name, values] : vectors["space"].items())
    space.parameters.push_back({name, choice_of(values.get<std::vector<Json>>())});
  for (const auto& [seed, order] : vectors["orders"].items()) {
    const auto sampler =
        grid_sampler({.seed = seed == "None" ? 0 : std::stoull(seed), .compatible = true});
    GridRun run;
    for (const Json& point : order) {
      run.add(*sampler, space);
      const Trial& trial = run.trials.back();
      const Assignment got = assignment_of(trial.parameters);
      EXPECT_EQ(Json({got.at("act"), got.at("bits"), got.at("lr")}), point) << seed;
      EXPECT_EQ(trial.system_attributes.at("grid_id"), trial.number);
      EXPECT_EQ(trial.system_attributes.at("search_space"), vectors["space"]);
    }
    EXPECT_TRUE(sampler->exhausted(run.view(), space));
  }
}

TEST(GridSampler, TakesWhatIsLeftWhereOptunaWould) {
  SearchSpace space{.parameters = {{"x", integer_values(0, 3)}}};
  const auto sampler = grid_sampler({.compatible = true});
  GridRun run;
  run.add(*sampler, space, {{"x", 9}});  // takes number 0, but is not a grid point
  for (int i = 0; i < 3; ++i) run.add(*sampler, space);
  EXPECT_FALSE(sampler->exhausted(run.view(), space));
  run.add(*sampler, space);
  EXPECT_EQ(run.points().size(), 5u);
  EXPECT_TRUE(sampler->exhausted(run.view(), space));
}

TEST(GridSampler, VisitsEveryPointOnceWhoeverMadeSome) {
  const SearchSpace space = conditional_grid();
  const std::size_t points = *count_points(space);
  ASSERT_EQ(points, 3u * 2 + 3 * 4 + 2 * 8);
  const auto sampler = grid_sampler({.seed = 6});
  GridRun run;
  for (std::size_t i = 0; !sampler->exhausted(run.view(), space); ++i) {
    ASSERT_LT(i, 2 * points);
    // Some trials have fixed values, and some samplers have not seen the earlier trials.
    const Json fixed = i == 4 || i == 13
                           ? Json{{"layers", 1}, {"width", i < 9 ? 8 : 16}, {"flag.0", "linear"}}
                           : Json();
    const std::size_t before = run.points().size();
    run.add(i % 2 == 0 ? *sampler : *grid_sampler({.seed = 6}), space, fixed);
    // A fixed point may have been visited before.
    if (fixed.is_null()) {
      EXPECT_EQ(run.points().size(), before + 1) << i;
    }
  }
  EXPECT_EQ(run.points().size(), points);
  EXPECT_TRUE(sampler->exhausted(run.view(), space));
  run.add(*sampler, space);  // when exhausted, it revisits a point
  EXPECT_EQ(run.points().size(), points);
}

TEST(GridSampler, TrialsThatKnowNothingOfEachOtherTakeDifferentPoints) {
  const SearchSpace space = conditional_grid();
  std::set<std::string> points;
  for (std::int64_t number = 0; number < 34; ++number) {
    Trial trial{.number = number};
    suggest(*grid_sampler({.seed = 2}), {}, space, trial);
    points.insert(key_of(trial.parameters));
  }
  EXPECT_EQ(points.size(), 34u);
}

TEST(GridSampler, LeavesThePointsOfThoseThatAreAboutToTakeThem) {
  const SearchSpace space{.parameters = {{"x", integer_values(0, 2)}}};
  const auto sampler = grid_sampler({.seed = 2});
  GridRun all;
  for (int i = 0; i < 3; ++i) all.add(*sampler, space);
  // Trial 0 is running and has no parameters yet. Trial 1 has the values that trial 2 would take.
  Trial first{.number = 0}, second = all.trials[2], third{.number = 2};
  second.number = 1;
  const StudyView study{.trials = {&first, &second}};
  suggest(*sampler, study, space, third);
  EXPECT_EQ(third.parameters[0].value, all.trials[1].parameters[0].value);
}

TEST(GridSampler, NeedsNoListOfItsPoints) {
  SearchSpace space;
  for (int i = 0; i < 60; ++i)
    space.parameters.push_back({fmt::format("p{}", i), integer_values(0, 3)});
  GridRun run;
  const auto sampler = grid_sampler({.seed = 1});
  for (int i = 0; i < 100; ++i) run.add(*sampler, space);
  EXPECT_EQ(run.points().size(), 100u);
  EXPECT_FALSE(sampler->exhausted(run.view(), space));
}

TEST(GridSampler, DrawsPointsOfSpacesThatAreTooLargeToCount) {
  SearchSpace space;
  for (int i = 0; i < 70; ++i)
    space.parameters.push_back({fmt::format("p{}", i), integer_values(0, 3)});
  GridRun run, again;
  const auto sampler = grid_sampler({.seed = 1}), same = grid_sampler({.seed = 1});
  for (int i = 0; i < 50; ++i) {
    run.add(*sampler, space);
    again.add(*same, space);
  }
  EXPECT_EQ(run.points().size(), 50u);
  EXPECT_EQ(run.points(), again.points());
  EXPECT_FALSE(sampler->exhausted(run.view(), space));
}

std::string refusal_of(const SearchSpace& space, bool compatible = false) {
  Trial trial{.number = 0};
  try {
    suggest(*grid_sampler({.compatible = compatible}), {}, space, trial);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(GridSampler, RefusesSpacesThatAreNoGrid) {
  EXPECT_EQ(refusal_of({.parameters = {{"rate", real_values(0, 1)}}}),
            "a grid over rate, which has infinitely many values: give it a step");
  EXPECT_EQ(refusal_of({.parameters = {{"x", integer_values(0, 1'000'000)}}}, true),
            "a grid in Optuna's order has at most 1000000 points: use hone's order");
  SearchSpace space = {.parameters = {{"x", integer_values(0, 1)}},
                       .objection = [](const Assignment&) { return "no"; }};
  EXPECT_EQ(refusal_of(space), "the grid is empty: the search space rejects all points");
  try {
    grid_sampler({})->draw({}, {}, "y", integer_values(0, 1));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "the grid has no parameter 'y': a grid has the parameters of a single space");
  }
}

// Each layer has a format, and each format has its own width. Few combinations of all values are distinct points, so
// the sampler must not search for points one by one.
TEST(GridSampler, FindsPointsOfManyExclusiveBranchesAtOnce) {
  SearchSpace space;
  for (int layer = 0; layer < 14; ++layer) {
    const std::string format = fmt::format("{}.format", layer);
    space.parameters.push_back({format, choice_of({"none", "integer", "mxint"})});
    for (const char* name : {"integer", "mxint"})
      space.parameters.push_back(
          {fmt::format("{}.{}.bits", layer, name), integer_values(2, 9),
           [format, name](const Assignment& earlier) { return earlier.at(format) == name; }});
  }
  const auto sampler = grid_sampler({.seed = 3});
  std::vector<std::unique_ptr<Trial>> trials;
  StudyView study;
  std::set<std::string> keys;
  for (int number = 0; number < 200; ++number) {
    trials.push_back(std::make_unique<Trial>());
    trials.back()->number = number;
    suggest(*sampler, study, space, *trials.back());
    trials.back()->state = TrialState::complete;
    study.trials.push_back(trials.back().get());
    keys.insert(key_of(trials.back()->parameters));
  }
  EXPECT_EQ(keys.size(), 200u);
}

}  // namespace
}  // namespace hone
