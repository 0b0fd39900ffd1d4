#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What an element-wise operation makes of one element of each operand, as a value: from it follow the operation's reference,
/// its gradient and generated code.
///
///     const Formula x = Formula::operand(0);
///     const Formula y = x / (1 + exp(-1.702 * x));
///     to_string({y});                     // "x0 / (1 + exp(-1.702 * x0))"
///     derivatives({y}, {Formula(1.0)}, 1);   // dy / dx0
namespace hone {

enum class ScalarOp : std::uint8_t {
  operand,
  constant,
  add,
  subtract,
  multiply,
  divide,
  negate,
  absolute,
  square_root,
  exponential,
  error_function,
  hyperbolic_tangent,
  select_less,  ///< a < b ? c : d
};

class Formula {
 public:
  Formula(double constant);                   // NOLINT(google-explicit-constructor): 1 + x reads so
  static Formula operand(std::size_t index);  ///< that of the operation, from 0 on
  static Formula of(ScalarOp op, std::vector<Formula> arguments);

 private:
  struct Term;
  friend struct FormulaSteps;
  explicit Formula(std::shared_ptr<const Term> term) : term_(std::move(term)) {}
  std::shared_ptr<const Term> term_;
};

Formula operator+(const Formula& a, const Formula& b);
Formula operator-(const Formula& a, const Formula& b);
Formula operator*(const Formula& a, const Formula& b);
Formula operator/(const Formula& a, const Formula& b);
Formula operator-(const Formula& x);
Formula fabs(const Formula& x);
Formula sqrt(const Formula& x);
Formula exp(const Formula& x);
Formula erf(const Formula& x);
Formula tanh(const Formula& x);

/// A comparison, for `select`; false where one of both is NaN.
struct FormulaLess {
  Formula smaller, larger;
};
inline FormulaLess operator<(const Formula& a, const Formula& b) { return {a, b}; }
inline FormulaLess operator>(const Formula& a, const Formula& b) { return {b, a}; }
Formula select(const FormulaLess& condition, const Formula& yes, const Formula& no);

/// Formulas of the same operands, one step after the other: what is the same in several places is computed once.
struct FormulaSteps {
  struct Step {
    ScalarOp op = ScalarOp::constant;
    double value = 0;                           ///< of a constant
    std::size_t index = 0;                      ///< of an operand
    std::array<std::size_t, 4> arguments = {};  ///< earlier steps; the op says how many
  };
  std::vector<Step> steps;
  std::vector<std::size_t> results;  ///< steps, one for each formula

  explicit FormulaSteps(std::span<const Formula> formulas);
  /// The number of steps that are no operands and no constants.
  std::size_t operation_count() const;
};

/// How many arguments a step of this kind has.
std::size_t argument_count(ScalarOp op);

/// The formulas with `operands[i]` in the place of operand i.
std::vector<Formula> substitute(std::span<const Formula> formulas,
                                std::span<const Formula> operands);

/// For each of `operand_count` operands the sum over all formulas of `seeds[i]` times the derivative of formula i by that
/// operand; nothing where none depends on it. The derivative of |x| at 0 is 0; what a comparison reads has none.
std::vector<std::optional<Formula>> derivatives(std::span<const Formula> formulas,
                                                std::span<const Formula> seeds,
                                                std::size_t operand_count);

/// "x0 + x1", results with "; " between them. What is read more than once has a name of its own, in front:
/// "t0 = x0 + x1; t0 * t0; tanh(t0)".
std::string to_string(std::span<const Formula> formulas);
/// What that text says. Throws `UserError` with what was expected and what came.
std::vector<Formula> parse_formulas(std::string_view text);

/// The formulas of `count` elements of each operand, in double: each step is the C library's function.
/// `operands[i]` has `count` elements, and so has `results[i]`.
void evaluate(const FormulaSteps& formulas, std::size_t count,
              std::span<const double* const> operands, std::span<double* const> results);

}  // namespace hone
