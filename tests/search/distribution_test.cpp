#include "hone/search/distribution.h"

#include <gtest/gtest.h>

#include "hone/base/error.h"
#include "hone/search/python_json.h"

namespace hone {
namespace {

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const UserError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Distribution, LowersTheUpperEndToWhatAStepReaches) {
  EXPECT_EQ(real_values(0, 0.5, 0.1).high, 0.5);
  EXPECT_EQ(real_values(0, 0.55, 0.1).high, 0.5);
  EXPECT_EQ(real_values(0.1, 1, 0.3).high, 1);
  EXPECT_EQ(real_values(-0.3, 0.35, 0.1).high, 0.3);
  EXPECT_EQ(real_values(1e-7, 1e-6, 3e-7).high, 1e-6);
  EXPECT_EQ(real_values(0, 1e-30, 1).high, 0);
  EXPECT_EQ(integer_values(2, 9, 2).high, 8);
  EXPECT_EQ(integer_values(-5, 5, 3).high, 4);
}

TEST(Distribution, CountsItsValues) {
  EXPECT_EQ(real_values(0, 0.5, 0.1).size(), 6u);
  EXPECT_EQ(real_values(0, 1).size(), std::nullopt);
  EXPECT_EQ(real_values(1, 1).size(), 1u);
  EXPECT_EQ(integer_values(2, 8, 2).size(), 4u);
  EXPECT_EQ(choice_of({"a", nullptr, 4}).size(), 3u);
  EXPECT_TRUE(real_values(0, 0.05, 0.1).single());
  EXPECT_TRUE(choice_of({"a"}).single());
  EXPECT_FALSE(integer_values(1, 2).single());
}

TEST(Distribution, TurnsInternalValuesIntoExternalOnesAndBack) {
  const Distribution choices = choice_of({"int8", nullptr, true, 4, 2.5});
  for (double index = 0; index < 5; ++index)
    EXPECT_EQ(choices.internal(choices.external(index)), index);
  EXPECT_EQ(to_line(integer_values(0, 9).external(3)), "3");
  EXPECT_EQ(to_line(real_values(0, 9).external(3)), "3.0");
  EXPECT_NE(
      message_of([&] { choices.internal("int4"); }).find("\"int4\" is not one of the choices"),
      std::string::npos);
  EXPECT_NE(message_of([] { integer_values(0, 9).internal(2.5); }).find("a whole number, got 2.5"),
            std::string::npos);
}

TEST(Distribution, KnowsWhatItContains) {
  const Distribution stepped = real_values(0, 0.5, 0.1);
  EXPECT_TRUE(stepped.contains(0.1 + 0.2));
  EXPECT_FALSE(stepped.contains(0.25));
  EXPECT_FALSE(stepped.contains(0.6));
  EXPECT_FALSE(choice_of({"a", "b"}).contains(2));
  EXPECT_FALSE(choice_of({"a", "b"}).contains(0.5));
}

TEST(Distribution, RefusesWhatHasNoValues) {
  EXPECT_EQ(message_of([] { real_values(2, 1); }),
            "values from 2 to 1: expected two numbers, the lower one first");
  EXPECT_EQ(message_of([] { real_values(0, 1, {}, true); }),
            "values from 0 to 1 on a logarithmic scale: expected numbers above 0");
  EXPECT_EQ(message_of([] { real_values(1, 2, 0.1, true); }),
            "a step of 0.1 on a logarithmic scale: use one or the other");
  EXPECT_EQ(message_of([] { real_values(1, 2, -1); }), "a step of -1: expected a number above 0");
  EXPECT_EQ(message_of([] { real_values(1e-300, 1e300, 1); }),
            "values from 1e-300 to 1e+300 by 1: numbers this large have no such steps "
            "between them");
  EXPECT_EQ(message_of([] { choice_of({}); }), "no values to choose from");
  EXPECT_EQ(message_of([] { choice_of({"a", "a"}); }), "\"a\" occurs twice in [\"a\",\"a\"]");
}

TEST(Distribution, IsStoredAsOptunaStoresIt) {
  const std::pair<Distribution, std::string> cases[] = {
      {integer_values(2, 8, 2),
       R"({"name": "IntDistribution", "attributes": {"log": false, "step": 2, "low": 2, "high": 8}})"},
      {real_values(1e-5, 0.1, {}, true),
       R"({"name": "FloatDistribution", "attributes": {"step": null, "low": 1e-05, "high": 0.1, "log": true}})"},
      {choice_of({"int8", nullptr, true, 4, 2.5}),
       R"({"name": "CategoricalDistribution", "attributes": {"choices": ["int8", null, true, 4, 2.5]}})"}};
  for (const auto& [distribution, text] : cases) {
    EXPECT_EQ(to_optuna(distribution), text);
    EXPECT_EQ(parse_optuna_distribution(text), distribution);
  }
}

TEST(Distribution, ReadsTheNamesThatOptunaOnceHad) {
  const auto read = [](const std::string& name, const std::string& attributes) {
    return parse_optuna_distribution(
        fmt::format(R"({{"name": "{}", "attributes": {{{}}}}})", name, attributes));
  };
  EXPECT_EQ(read("UniformDistribution", R"("low": 0, "high": 2)"), real_values(0, 2));
  EXPECT_EQ(read("LogUniformDistribution", R"("low": 1, "high": 2)"), real_values(1, 2, {}, true));
  EXPECT_EQ(read("DiscreteUniformDistribution", R"("low": 0, "high": 2, "q": 0.5)"),
            real_values(0, 2, 0.5));
  EXPECT_EQ(read("IntUniformDistribution", R"("low": 0, "high": 9, "step": 3)"),
            integer_values(0, 9, 3));
  EXPECT_EQ(read("IntLogUniformDistribution", R"("low": 1, "high": 9, "step": 1)"),
            integer_values(1, 9, 1, true));
  EXPECT_NE(message_of([&] { read("Normal", ""); }).find("no kind is called 'Normal'"),
            std::string::npos);
}

TEST(PythonJson, WritesAndReadsWhatJsonHasNoNumbersFor) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Json value = {{"a", {infinity, -infinity, 1.0, 1e-5}}, {"NaN \"", "é"}};
  const std::string text = R"({"a": [Infinity, -Infinity, 1.0, 1e-05], "NaN \"": "\u00e9"})";
  EXPECT_EQ(to_python_json(value), text);
  EXPECT_EQ(parse_python_json(text, "here"), value);
  EXPECT_TRUE(std::isnan(parse_python_json("NaN", "here").get<double>()));
  EXPECT_NE(message_of([] { parse_python_json("[1", "here"); }).find("here"), std::string::npos);
}

}  // namespace
}  // namespace hone
