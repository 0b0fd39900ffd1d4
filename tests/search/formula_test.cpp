#include "hone/search/formula.h"

#include <gtest/gtest.h>

#include "hone/base/error.h"

namespace hone {
namespace {

std::string formula_error(const std::string& text) {
  try {
    parse_formula(text).value({{"accuracy", 0.5}});
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Formula, HasTheUsualPrecedence) {
  const std::map<std::string, double> metrics = {{"a", 2}, {"b.c_1", 8}};
  const std::pair<const char*, double> cases[] = {
      {"a + b.c_1*3", 26}, {"(a + b.c_1)*3", 30}, {"b.c_1 - a - 1", 5},
      {"b.c_1/a/2", 2},    {"-a*-b.c_1", 16},     {"- (a - 5)", 3},
      {"1e-2*a", 0.02},    {".5", 0.5},           {"a - 0.25*b.c_1 ", 0.0}};
  for (const auto& [text, value] : cases)
    EXPECT_DOUBLE_EQ(parse_formula(text).value(metrics), value) << text;
  EXPECT_EQ(parse_formula("b.c_1 - a*b.c_1").names(), (std::vector<std::string>{"b.c_1", "a"}));
}

TEST(Formula, TakesAnythingInBracesAsAName) {
  const MetricFormula formula = parse_formula("{trials/8-4.best} - 2*a");
  EXPECT_EQ(formula.names(), (std::vector<std::string>{"{trials/8-4.best}", "a"}));
  EXPECT_DOUBLE_EQ(formula.value({{"{trials/8-4.best}", 5}, {"a", 1}}), 3);
  EXPECT_EQ(formula_error("{accuracy"),
            "formula '{accuracy': expected a name with its '}' at '{accuracy'");
}

TEST(Formula, ShowsThePlaceThatIsNotUnderstood) {
  EXPECT_EQ(formula_error("accuracy -"),
            "formula 'accuracy -': expected a number, a name or '(' at its end");
  EXPECT_EQ(formula_error("accuracy 2"), "formula 'accuracy 2': expected an operator at '2'");
  EXPECT_EQ(formula_error("(accuracy"), "formula '(accuracy': expected ')' at its end");
  EXPECT_EQ(formula_error("bits*2"), "formula 'bits*2': no metric is called 'bits'");
  EXPECT_EQ(formula_error(std::string(200, '(')),
            "formula '" + std::string(200, '(') + "': it is nested deeper than 100");
}

TEST(Formula, MakesConstraintsOfBothDirectionsAndOfEquality) {
  const std::map<std::string, double> metrics = {{"bits", 7}};
  EXPECT_EQ(parse_constraint("bits <= 6").violation(metrics), 1);
  EXPECT_EQ(parse_constraint("bits >= 6").violation(metrics), -1);
  EXPECT_EQ(parse_constraint("bits = 7").violation(metrics), 0);
  EXPECT_EQ(parse_constraint("bits = 6").violation(metrics), 1);
  EXPECT_EQ(parse_constraint("bits = 8").violation(metrics), 1);
  for (const char* wrong : {"bits < 6", "bits", "bits == 6", "bits => 6", "bits =", "= 6", ""})
    EXPECT_THROW(parse_constraint(wrong), UserError) << wrong;
}

}  // namespace
}  // namespace hone
