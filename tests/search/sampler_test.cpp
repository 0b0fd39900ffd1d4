#include "hone/search/sampler.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/base/error.h"
#include "hone/search/test_function.h"

namespace hone {
namespace {

// Records the requested parameters and returns given values.
class TalkingSampler : public Sampler {
 public:
  JointDraw draw_jointly(const StudyView&, const Trial&, const SearchSpace&) override {
    asked += "together ";
    return joint;
  }
  double draw(const StudyView&, const Trial&, const std::string& name,
              const Distribution& distribution) override {
    asked += name + " ";
    return distribution.high;
  }
  JointDraw joint;
  std::string asked;
};

SearchSpace suggested_space() {
  SearchSpace space;
  space.parameters = {{"one", choice_of({"only"})},
                      {"layers", integer_values(1, 4)},
                      {"width", integer_values(8, 32, 8)},
                      {"deep", real_values(0, 1), [](const Assignment& earlier) {
                         return earlier.at("layers").get<int>() > 2;
                       }}};
  return space;
}

TEST(Suggest, TakesFixedThenSingleThenJointThenLoneValues) {
  TalkingSampler sampler;
  sampler.joint.values = {{"layers", 3.0}, {"width", 12.0}, {"other", 1.0}};
  sampler.joint.system_attributes = {{"grid_id", 5}};
  Trial trial;
  suggest(sampler, {}, suggested_space(), trial);
  // 12 is not a step of the width.
  EXPECT_EQ(assignment_of(trial.parameters),
            (Assignment{{"one", "only"}, {"layers", 3}, {"width", 32}, {"deep", 1.0}}));
  EXPECT_EQ(sampler.asked, "together width deep ");
  EXPECT_EQ(trial.system_attributes.at("grid_id"), 5);

  sampler.asked.clear();
  trial.system_attributes = {{"fixed_params", {{"layers", 2}, {"width", 40}, {"other", 0}}}};
  suggest(sampler, {}, suggested_space(), trial);
  EXPECT_EQ(assignment_of(trial.parameters),
            (Assignment{{"one", "only"}, {"layers", 2}, {"width", 40}}));
  EXPECT_EQ(sampler.asked, "");
}

std::string refusal_of_fixed(const Json& fixed) {
  TalkingSampler sampler;
  Trial trial{.number = 7};
  trial.system_attributes["fixed_params"] = fixed;
  try {
    suggest(sampler, {}, suggested_space(), trial);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Suggest, RefusesFixedValuesThatAreNone) {
  EXPECT_EQ(refusal_of_fixed({{"layers", "two"}}),
            "the fixed value for layers: expected a number, got \"two\"");
  EXPECT_EQ(refusal_of_fixed(3), "trial 7: its fixed values are 3, expected an object");
}

TEST(RandomSampler, DrawsWithoutRegardToOtherTrialsAndOrder) {
  const SearchSpace& space = find_test_function("mixed").space;
  const auto points = [&](const std::vector<std::int64_t>& numbers) {
    const auto sampler = random_sampler({.seed = 4});
    std::map<std::int64_t, Assignment> result;
    for (const std::int64_t number : numbers) {
      Trial trial{.number = number};
      suggest(*sampler, {}, space, trial);
      result[number] = assignment_of(trial.parameters);
    }
    return result;
  };
  const auto forwards = points({0, 1, 2});
  EXPECT_EQ(forwards, points({2, 0, 1}));
  EXPECT_NE(forwards.at(0), forwards.at(1));
}

// Each value of a finite parameter is equally frequent, within five standard deviations of a count.
TEST(RandomSampler, DrawsEveryValueAsOftenAsOthers) {
  const auto sampler = random_sampler({.seed = 1});
  for (const Distribution& distribution : {choice_of({"a", "b", "c"}), integer_values(-2, 2),
                                           integer_values(2, 8, 3), real_values(0, 0.3, 0.1)}) {
    std::map<double, int> counts;
    constexpr int kDraws = 3000;
    for (int i = 0; i < kDraws; ++i) {
      const double value = sampler->draw({}, Trial{.number = i}, "x", distribution);
      ASSERT_TRUE(distribution.contains(value)) << value;
      ++counts[value];
    }
    const double share = 1 / static_cast<double>(*distribution.size());
    ASSERT_EQ(counts.size(), *distribution.size());
    for (const auto& [value, count] : counts)
      EXPECT_NEAR(count, kDraws * share, 5 * std::sqrt(kDraws * share * (1 - share))) << value;
  }
}

}  // namespace
}  // namespace hone
