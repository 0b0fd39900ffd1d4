#include "hone/ir/formula.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numbers>
#include <tuple>

#include "hone/base/error.h"

namespace hone {

struct Formula::Term {
  ScalarOp op;
  double value = 0;
  std::size_t index = 0;
  std::vector<Formula> arguments = {};
};

Formula::Formula(double constant)
    : term_(std::make_shared<Term>(Term{ScalarOp::constant, constant})) {}

Formula Formula::operand(std::size_t index) {
  return Formula(std::make_shared<Term>(Term{ScalarOp::operand, 0, index}));
}

Formula Formula::of(ScalarOp op, std::vector<Formula> arguments) {
  HONE_ASSERT(arguments.size() == argument_count(op), "{} arguments", arguments.size());
  return Formula(std::make_shared<Term>(Term{op, 0, 0, std::move(arguments)}));
}

Formula operator+(const Formula& a, const Formula& b) { return Formula::of(ScalarOp::add, {a, b}); }
Formula operator-(const Formula& a, const Formula& b) {
  return Formula::of(ScalarOp::subtract, {a, b});
}
Formula operator*(const Formula& a, const Formula& b) {
  return Formula::of(ScalarOp::multiply, {a, b});
}
Formula operator/(const Formula& a, const Formula& b) {
  return Formula::of(ScalarOp::divide, {a, b});
}
Formula operator-(const Formula& x) { return Formula::of(ScalarOp::negate, {x}); }
Formula fabs(const Formula& x) { return Formula::of(ScalarOp::absolute, {x}); }
Formula sqrt(const Formula& x) { return Formula::of(ScalarOp::square_root, {x}); }
Formula exp(const Formula& x) { return Formula::of(ScalarOp::exponential, {x}); }
Formula erf(const Formula& x) { return Formula::of(ScalarOp::error_function, {x}); }
Formula tanh(const Formula& x) { return Formula::of(ScalarOp::hyperbolic_tangent, {x}); }
Formula select(const FormulaLess& condition, const Formula& yes, const Formula& no) {
  return Formula::of(ScalarOp::select_less, {condition.smaller, condition.larger, yes, no});
}

std::size_t argument_count(ScalarOp op) {
  if (op == ScalarOp::operand || op == ScalarOp::constant) return 0;
  if (op == ScalarOp::select_less) return 4;
  return op < ScalarOp::negate ? 2 : 1;
}

// ---- steps

FormulaSteps::FormulaSteps(std::span<const Formula> formulas) {
  std::map<const void*, std::size_t> of_term;
  // Constants are compared by their bits: 0 == -0, but they differ, and NaN != NaN.
  using Key = std::tuple<ScalarOp, std::uint64_t, std::size_t, std::array<std::size_t, 4>>;
  std::map<Key, std::size_t> known;
  const auto visit = [&](const auto& self, const Formula& formula) -> std::size_t {
    const Formula::Term& term = *formula.term_;
    if (const auto found = of_term.find(&term); found != of_term.end()) return found->second;
    Step step{term.op, term.value, term.index, {}};
    for (std::size_t i = 0; i < term.arguments.size(); ++i)
      step.arguments[i] = self(self, term.arguments[i]);
    const Key key{step.op, std::bit_cast<std::uint64_t>(step.value), step.index, step.arguments};
    const auto [at, is_new] = known.emplace(key, steps.size());
    if (is_new) steps.push_back(step);
    return of_term[&term] = at->second;
  };
  for (const Formula& formula : formulas) results.push_back(visit(visit, formula));
}

std::size_t FormulaSteps::operation_count() const {
  std::size_t count = 0;
  for (const Step& step : steps) count += argument_count(step.op) > 0 ? 1 : 0;
  return count;
}

std::vector<Formula> substitute(std::span<const Formula> formulas,
                                std::span<const Formula> operands) {
  const FormulaSteps all(formulas);
  std::vector<Formula> values;
  for (const FormulaSteps::Step& step : all.steps) {
    if (step.op == ScalarOp::constant) {
      values.emplace_back(step.value);
    } else if (step.op == ScalarOp::operand) {
      values.push_back(operands[step.index]);
    } else {
      std::vector<Formula> arguments;
      for (std::size_t i = 0; i < argument_count(step.op); ++i)
        arguments.push_back(values[step.arguments[i]]);
      values.push_back(Formula::of(step.op, std::move(arguments)));
    }
  }
  std::vector<Formula> results;
  for (const std::size_t result : all.results) results.push_back(values[result]);
  return results;
}

// ---- derivatives

namespace {

// Returns what a step with value `y`, arguments `a` and derivative `d` contributes to the derivatives of its arguments.
std::vector<std::optional<Formula>> argument_gradients(ScalarOp op, std::span<const Formula> a,
                                                       const Formula& y, const Formula& d) {
  switch (op) {
    case ScalarOp::operand:
    case ScalarOp::constant:
      return {};
    case ScalarOp::add:
      return {d, d};
    case ScalarOp::subtract:
      return {d, -d};
    case ScalarOp::multiply:
      return {d * a[1], d * a[0]};
    case ScalarOp::divide:
      return {d / a[1], -(d * y / a[1])};
    case ScalarOp::negate:
      return {-d};
    case ScalarOp::absolute:
      return {select(a[0] < 0, -d, select(a[0] > 0, d, 0))};
    case ScalarOp::square_root:
      return {d / (2 * y)};
    case ScalarOp::exponential:
      return {d * y};
    case ScalarOp::error_function:
      return {d * (2 * std::numbers::inv_sqrtpi * exp(-(a[0] * a[0])))};
    case ScalarOp::hyperbolic_tangent:
      return {d * (1 - y * y)};
    case ScalarOp::select_less:
      return {{}, {}, select(a[0] < a[1], d, 0), select(a[0] < a[1], 0, d)};
  }
  return {};
}

}  // namespace

std::vector<std::optional<Formula>> derivatives(std::span<const Formula> formulas,
                                                std::span<const Formula> seeds,
                                                std::size_t operand_count) {
  const FormulaSteps all(formulas);
  std::vector<Formula> values;
  std::vector<std::vector<Formula>> arguments;
  std::vector<bool> depends;  // on an operand
  for (const FormulaSteps::Step& step : all.steps) {
    std::vector<Formula> own;
    bool on_operand = step.op == ScalarOp::operand;
    for (std::size_t i = 0; i < argument_count(step.op); ++i) {
      own.push_back(values[step.arguments[i]]);
      on_operand = on_operand || depends[step.arguments[i]];
    }
    values.push_back(step.op == ScalarOp::constant  ? Formula(step.value)
                     : step.op == ScalarOp::operand ? Formula::operand(step.index)
                                                    : Formula::of(step.op, own));
    arguments.push_back(std::move(own));
    depends.push_back(on_operand);
  }
  std::vector<std::optional<Formula>> of_step(all.steps.size()), of_operand(operand_count);
  const auto add = [](std::optional<Formula>& sum, const Formula& summand) {
    sum = sum ? *sum + summand : summand;
  };
  for (std::size_t i = 0; i < formulas.size(); ++i) add(of_step[all.results[i]], seeds[i]);
  for (std::size_t at = all.steps.size(); at-- > 0;) {
    if (!of_step[at]) continue;
    const FormulaSteps::Step& step = all.steps[at];
    if (step.op == ScalarOp::operand) of_operand[step.index] = of_step[at];
    const auto parts = argument_gradients(step.op, arguments[at], values[at], *of_step[at]);
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (parts[i] && depends[step.arguments[i]]) add(of_step[step.arguments[i]], *parts[i]);
  }
  return of_operand;
}

// ---- values

namespace {

void evaluate_step(const FormulaSteps::Step& step, std::size_t count,
                   const std::array<const double*, 4>& a, double* y) {
  const auto map = [&](auto function) {
    for (std::size_t i = 0; i < count; ++i) y[i] = function(i);
  };
  switch (step.op) {
    case ScalarOp::operand:
      return;
    case ScalarOp::constant:
      return map([&](std::size_t) { return step.value; });
    case ScalarOp::add:
      return map([&](std::size_t i) { return a[0][i] + a[1][i]; });
    case ScalarOp::subtract:
      return map([&](std::size_t i) { return a[0][i] - a[1][i]; });
    case ScalarOp::multiply:
      return map([&](std::size_t i) { return a[0][i] * a[1][i]; });
    case ScalarOp::divide:
      return map([&](std::size_t i) { return a[0][i] / a[1][i]; });
    case ScalarOp::negate:
      return map([&](std::size_t i) { return -a[0][i]; });
    case ScalarOp::absolute:
      return map([&](std::size_t i) { return std::fabs(a[0][i]); });
    case ScalarOp::square_root:
      return map([&](std::size_t i) { return std::sqrt(a[0][i]); });
    case ScalarOp::exponential:
      return map([&](std::size_t i) { return std::exp(a[0][i]); });
    case ScalarOp::error_function:
      return map([&](std::size_t i) { return std::erf(a[0][i]); });
    case ScalarOp::hyperbolic_tangent:
      return map([&](std::size_t i) { return std::tanh(a[0][i]); });
    case ScalarOp::select_less:
      return map([&](std::size_t i) { return a[0][i] < a[1][i] ? a[2][i] : a[3][i]; });
  }
}

}  // namespace

void evaluate(const FormulaSteps& formulas, std::size_t count,
              std::span<const double* const> operands, std::span<double* const> results) {
  std::vector<std::vector<double>> own(formulas.steps.size());
  std::vector<const double*> values;
  for (std::size_t at = 0; at < formulas.steps.size(); ++at) {
    const FormulaSteps::Step& step = formulas.steps[at];
    if (step.op == ScalarOp::operand) {
      values.push_back(operands[step.index]);
      continue;
    }
    std::array<const double*, 4> arguments{};
    for (std::size_t i = 0; i < argument_count(step.op); ++i)
      arguments[i] = values[step.arguments[i]];
    own[at].resize(count);
    evaluate_step(step, count, arguments, own[at].data());
    values.push_back(own[at].data());
  }
  for (std::size_t i = 0; i < results.size(); ++i)
    std::copy_n(values[formulas.results[i]], count, results[i]);
}

}  // namespace hone
