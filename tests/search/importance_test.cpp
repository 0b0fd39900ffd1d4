#include "hone/search/importance.h"

#include <gtest/gtest.h>

#include <deque>

#include "tests/support/test_data.h"

namespace hone {
namespace {

/// A study from the golden file. Its trials keep their addresses.
struct RecordedStudy {
  std::deque<Trial> trials = {};
  StudyView view = {};

  explicit RecordedStudy(const Json& json) {
    view.directions.clear();
    for (const Json& direction : json.at("directions"))
      view.directions.push_back(direction == "minimize" ? Direction::minimize
                                                        : Direction::maximize);
    for (const Json& recorded : json.at("trials")) {
      Trial trial{.number = static_cast<std::int64_t>(trials.size()),
                  .state = TrialState::complete,
                  .values = recorded.at("values").get<std::vector<double>>()};
      for (const Json& parameter : recorded.at("parameters"))
        trial.parameters.push_back(
            {parameter.at("name"),
             parse_optuna_distribution(parameter.at("distribution").get<std::string>()),
             parameter.at("value").get<double>()});
      trials.push_back(std::move(trial));
    }
    for (const Trial& trial : trials) view.trials.push_back(&trial);
  }
};

// Sums of at most 60 masses. These are differences of normal distributions, accurate to about 1e-12 and truncated at
// 1e-12.
TEST(ParameterImportances, AreThoseOfOptuna) {
  const Json golden = read_json(test_data() / "search/golden/importances.json");
  ASSERT_EQ(golden.at("studies").size(), 8u);
  for (const Json& study : golden.at("studies")) {
    SCOPED_TRACE(study.at("name").get<std::string>());
    const RecordedStudy recorded(study);
    const auto importances = parameter_importances(recorded.view);
    EXPECT_EQ(importances.size(), study.at("importances").size());
    for (const ParameterImportance& importance : importances)
      EXPECT_NEAR(importance.share, study.at("importances").at(importance.name).get<double>(), 1e-9)
          << importance.name;
    EXPECT_TRUE(std::ranges::is_sorted(importances, std::greater(), &ParameterImportance::share));
  }
}

TEST(ParameterImportances, LeaveOutWhatIsNotCompleteAndHasNoValue) {
  const Json golden = read_json(test_data() / "search/golden/importances.json");
  RecordedStudy recorded(golden.at("studies").at(0));
  const auto expected = parameter_importances(recorded.view);
  Trial failed = recorded.trials[0], endless = recorded.trials[1];
  failed.state = TrialState::fail;
  failed.values.clear();
  endless.values = {std::numeric_limits<double>::infinity()};
  recorded.view.trials.push_back(&failed);
  recorded.view.trials.push_back(&endless);
  const auto importances = parameter_importances(recorded.view);
  ASSERT_EQ(importances.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(importances[i].share, expected[i].share);
}

TEST(ParameterImportances, OfNoTrialsAreNone) { EXPECT_TRUE(parameter_importances({}).empty()); }

}  // namespace
}  // namespace hone
