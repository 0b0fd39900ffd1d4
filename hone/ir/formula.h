#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The formula of an element-wise operation: its result as an expression of one element of each operand. The
/// operation's reference, gradient and generated code are derived from it.
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
  static Formula operand(std::size_t index);  ///< operand of the operation, counted from 0
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

/// A comparison, for `select`; false if either side is NaN.
struct FormulaLess {
  Formula smaller, larger;
};
inline FormulaLess operator<(const Formula& a, const Formula& b) { return {a, b}; }
inline FormulaLess operator>(const Formula& a, const Formula& b) { return {b, a}; }
Formula select(const FormulaLess& condition, const Formula& yes, const Formula& no);

/// Formulas of the same operands as a list of steps, with common subexpressions computed once.
struct FormulaSteps {
  struct Step {
    ScalarOp op = ScalarOp::constant;
    double value = 0;                           ///< of a constant
    std::size_t index = 0;                      ///< of an operand
    std::array<std::size_t, 4> arguments = {};  ///< earlier steps; see `argument_count`
  };
  std::vector<Step> steps;
  std::vector<std::size_t> results;  ///< one step index for each formula

  explicit FormulaSteps(std::span<const Formula> formulas);
  /// Returns the number of steps that are neither operands nor constants.
  std::size_t operation_count() const;
};

/// Returns the number of arguments of a step of this kind.
std::size_t argument_count(ScalarOp op);

/// Returns the formulas with operand i replaced by `operands[i]`.
std::vector<Formula> substitute(std::span<const Formula> formulas,
                                std::span<const Formula> operands);

/// Returns, for each of `operand_count` operands, the sum over all formulas of `seeds[i]` times the derivative of
/// formula i by that operand, or nothing if no formula depends on the operand. The derivative of |x| at 0 is 0. The
/// operands of a comparison get no derivative.
std::vector<std::optional<Formula>> derivatives(std::span<const Formula> formulas,
                                                std::span<const Formula> seeds,
                                                std::size_t operand_count);

/// Formats formulas like "x0 + x1", separated by "; ". Subexpressions used more than once are named in front:
/// "t0 = x0 + x1; t0 * t0; tanh(t0)".
std::string to_string(std::span<const Formula> formulas);
/// Parses the text form. Throws `UserError` with the expected and the actual input.
std::vector<Formula> parse_formulas(std::string_view text);

/// Evaluates the formulas in double, calling the C library's function for each step. Each `operands[i]` and each
/// `results[i]` has `count` elements.
void evaluate(const FormulaSteps& formulas, std::size_t count,
              std::span<const double* const> operands, std::span<double* const> results);

}  // namespace hone
