#include "hone/ir/formula.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/expect.h"

namespace hone::testing {
namespace {

std::vector<double> values_of(std::span<const Formula> formulas, std::vector<double> operands) {
  std::vector<const double*> read;
  for (const double& operand : operands) read.push_back(&operand);
  std::vector<double> results(formulas.size());
  std::vector<double*> written;
  for (double& result : results) written.push_back(&result);
  evaluate(FormulaSteps(formulas), 1, read, written);
  return results;
}

double value_of(const Formula& formula, std::vector<double> operands) {
  return values_of(std::vector{formula}, std::move(operands))[0];
}

const Formula x = Formula::operand(0), y = Formula::operand(1);

TEST(Formula, IsComputedInDouble) {
  EXPECT_EQ(value_of(1 + x * y - x / y, {3, 4}), 12.25);
  EXPECT_EQ(value_of(-fabs(x) + sqrt(y), {-3, 4}), -1);
  EXPECT_EQ(value_of(exp(x) + erf(x) * tanh(y), {0.5, 0.25}),
            std::exp(0.5) + std::erf(0.5) * std::tanh(0.25));
  EXPECT_EQ(value_of(select(x < y, 1, 2), {3, 4}), 1);
  EXPECT_EQ(value_of(select(x > y, 1, 2), {3, 4}), 2);
  EXPECT_EQ(value_of(select(x < y, 1, 2), {std::nan(""), 4}), 2);
}

TEST(Formula, PrintsWhatItParses) {
  for (const char* text :
       {"x0", "1.5", "-0", "x0 + x1", "x0 - (x1 - x0)", "x0 - x1 - x0",
        "(x0 + x1) * x2 / (x0 * x1)", "-(x0 + x1)", "-(-x0)", "-x0 * x1", "x0 * -2", "-(2)",
        "x0 / (1 + exp(-1.702 * x0))", "select(x0 < 0, abs(x0), sqrt(x1))", "t0 = x0 + x1; t0 * t0",
        "x0 + x1; tanh(x0)", "t0 = erf(x0); t1 = t0 * t0; t1; t1 - t0; 1e+30"})
    EXPECT_EQ(to_string(parse_formulas(text)), text);
}

TEST(Formula, ComputesWhatIsTheSameOnce) {
  const FormulaSteps steps(std::vector{(x + y) * (x + y), tanh(x + y)});
  EXPECT_EQ(steps.operation_count(), 3);
  EXPECT_EQ(to_string(std::vector{(x + y) * (x + y), tanh(x + y)}),
            "t0 = x0 + x1; t0 * t0; tanh(t0)");
}

TEST(Formula, KeepsZerosApart) {
  EXPECT_TRUE(std::signbit(value_of(parse_formulas("x0 * 0; x0 * -0")[1], {1})));
  EXPECT_EQ(to_string(parse_formulas("x0 * 0; x0 * -0")), "x0 * 0; x0 * -0");
}

TEST(Formula, IsPutIntoAnother) {
  const std::vector<Formula> of_sum = substitute(std::vector{x * y}, std::vector{x + y, y});
  EXPECT_EQ(to_string(of_sum), "(x0 + x1) * x1");
}

// Compares with central differences, away from discontinuities.
TEST(Formula, HasDerivatives) {
  const Formula formulas[] = {x + y,
                              x - y,
                              x * y,
                              x / y,
                              -x,
                              fabs(x) + fabs(y),
                              sqrt(x * x + y * y),
                              exp(x / y),
                              erf(x * y),
                              tanh(x - 2 * y),
                              select(x < y, x * x, y * y),
                              select(y < x, x * x, y * y),
                              x / (1 + exp(-1.702 * x))};
  const double at[] = {0.7, -1.3};
  constexpr double kStep = 1e-6;
  for (const Formula& formula : formulas) {
    const auto derived = derivatives(std::vector{formula}, std::vector{Formula(1)}, 2);
    for (std::size_t operand = 0; operand < 2; ++operand) {
      std::vector<double> above(at, at + 2), below = above;
      above[operand] += kStep;
      below[operand] -= kStep;
      const double difference = (value_of(formula, above) - value_of(formula, below)) / (2 * kStep);
      const double got = derived[operand] ? value_of(*derived[operand], {at[0], at[1]}) : 0;
      EXPECT_NEAR(got, difference, 1e-8) << to_string(std::vector{formula}) << " by " << operand;
    }
  }
}

TEST(Formula, AddsTheDerivativesOfAllResults) {
  const auto derived = derivatives(std::vector{x * x, 3 * x},
                                   std::vector{Formula::operand(2), Formula::operand(3)}, 2);
  EXPECT_EQ(value_of(*derived[0], {5, 0, 10, 100}), 10 * 2 * 5 + 100 * 3);
  EXPECT_FALSE(derived[1].has_value());
}

TEST(Formula, HasNoSlopeWhereItTurns) {
  const auto derived = derivatives(std::vector{fabs(x)}, std::vector{Formula(1)}, 1);
  EXPECT_EQ(value_of(*derived[0], {0}), 0);
}

TEST(Formula, SaysWhatItDoesNotRead) {
  const auto refused = [](const char* text) {
    try {
      parse_formulas(text);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_EQ(refused(""), "expected a number, an operand or a function at ''");
  EXPECT_EQ(refused("x0 +"), "expected a number, an operand or a function at ''");
  EXPECT_EQ(refused("x0 x1"), "expected ';' or the end at 'x1'");
  EXPECT_EQ(refused("sin(x0)"),
            "'sin' is not an operand, a function or the name of an earlier value");
  EXPECT_EQ(refused("t0"), "'t0' is not an operand, a function or the name of an earlier value");
  EXPECT_EQ(refused("y = x0; y"), "'y' is not a name for a value; expected t followed by a number");
  EXPECT_EQ(refused("t0 = x0; t0 = x1; t0"), "'t0' is given twice");
  EXPECT_EQ(refused("t0 = x0"), "no result: expected a formula after the named values");
  EXPECT_EQ(refused("exp x0"), "expected '(' at 'x0'");
  EXPECT_EQ(refused("select(x0, x1)"), "expected '<' at ', x1)'");
  EXPECT_EQ(refused("x64"), "operand x64 of at most 64");
  EXPECT_EQ(refused("x99999999999999999999"),
            "'x99999999999999999999' is not an operand, a function or the name of an "
            "earlier value");
  EXPECT_EQ(refused(std::string(200, '(').c_str()), "nested more than 100 times");
  std::string many = "x0";
  for (int i = 0; i < 5000; ++i) many += "+x0";
  EXPECT_EQ(refused(many.c_str()), "more than 4000 operations");
}

}  // namespace
}  // namespace hone::testing
