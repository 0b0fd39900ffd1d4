#include "hone/search/space.h"

#include <gtest/gtest.h>

#include "hone/base/error.h"

namespace hone {
namespace {

// A number of layers, and a flag for each of them.
SearchSpace layered_space() {
  SearchSpace space;
  space.parameters.push_back({"layers", choice_of({1, 2})});
  space.parameters.push_back({"width", integer_values(4, 8, 4)});
  for (const int layer : {0, 1})
    space.parameters.push_back(
        {fmt::format("flag.{}", layer), choice_of({"linear", "identity"}),
         [layer](const Assignment& earlier) { return earlier.at("layers").get<int>() > layer; }});
  return space;
}

std::string refusal(const Assignment& values) {
  try {
    layered_space().parameters_of(values);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Space, CountsPointsWhereParametersDependOnEachOther) {
  SearchSpace space = layered_space();
  EXPECT_EQ(count_points(space), 2u * (2 + 4));
  space.objection = [](const Assignment& values) {
    return values.at("width") == 8 && values.at("layers") == 1 ? "too wide" : "";
  };
  EXPECT_EQ(count_points(space), 2u + 2 * 4);
  EXPECT_EQ(count_points(space, 9), std::nullopt);
  space.parameters.push_back({"rate", real_values(0, 1)});
  EXPECT_EQ(count_points(space), std::nullopt);
}

TEST(Space, TakesThoseParametersThatATrialHas) {
  const Assignment values = {{"layers", 1}, {"width", 8}, {"flag.0", "identity"}};
  const std::vector<TrialParameter> parameters = layered_space().parameters_of(values);
  ASSERT_EQ(parameters.size(), 3u);
  EXPECT_EQ(parameters[1].value, 8);
  EXPECT_EQ(parameters[2].value, 1);
  EXPECT_EQ(assignment_of(parameters), values);
  EXPECT_EQ(key_of(parameters), "flag.0=1;layers=0;width=8;");
}

TEST(Space, RefusesWhatIsNoPointOfIt) {
  EXPECT_EQ(refusal({{"layers", 1}, {"flag.0", "linear"}}), "width has no value");
  EXPECT_EQ(refusal({{"layers", 1}, {"width", 6}, {"flag.0", "linear"}}),
            "width: 6 is not one of its values");
  EXPECT_EQ(refusal({{"layers", 1}, {"width", 4}, {"flag.0", "linear"}, {"flag.1", "linear"}}),
            "the space has no flag.1 for these values of the others");
  EXPECT_EQ(refusal({{"layers", 1}, {"width", 4}, {"flag.0", "linear"}, {"depth", 1}}),
            "the space has no depth");
}

TEST(Trial, CountsViolationsOfBothSpellingsOnce) {
  Trial trial;
  EXPECT_EQ(trial.violation(), 0);
  trial.system_attributes["constraints"] = {1.5, -2.0};
  EXPECT_EQ(trial.violation(), 1.5);
  trial.system_attributes["constraints:0"] = 1.5;
  trial.system_attributes["constraints:bytes"] = 0.25;
  EXPECT_EQ(trial.violation(), 1.75);
}

TEST(Trial, IsTheBestOfThoseThatAreFeasible) {
  std::vector<Trial> trials(5);
  const double values[] = {3, 1, 2, 1, 0};
  StudyView study{.directions = {Direction::minimize}};
  for (std::size_t i = 0; i < trials.size(); ++i) {
    trials[i].number = static_cast<std::int64_t>(i);
    trials[i].state = TrialState::complete;
    trials[i].values = {values[i]};
    study.trials.push_back(&trials[i]);
  }
  trials[4].system_attributes["constraints"] = {0.5};
  EXPECT_EQ(best_trial(study)->number, 1);
  study.directions = {Direction::maximize};
  EXPECT_EQ(best_trial(study)->number, 0);
  for (Trial& trial : trials) trial.state = TrialState::pruned;
  EXPECT_EQ(best_trial(study), nullptr);
}

TEST(Trial, StandsOnTheFrontWhereNoOtherDominatesIt) {
  const std::vector<double> values[] = {{1, 1}, {2, 2}, {1, 3}, {2, 2}, {0, 0}};
  std::vector<Trial> trials(5);
  StudyView study{.directions = {Direction::minimize, Direction::maximize}};
  for (std::size_t i = 0; i < trials.size(); ++i) {
    trials[i].number = static_cast<std::int64_t>(i);
    trials[i].state = TrialState::complete;
    trials[i].values = values[i];
    study.trials.push_back(&trials[i]);
  }
  std::vector<std::int64_t> front;
  for (const Trial* trial : pareto_front(study)) front.push_back(trial->number);
  EXPECT_EQ(front, (std::vector<std::int64_t>{2, 4}));
}

}  // namespace
}  // namespace hone
