#pragma once

#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Formulas over named metrics, used as objectives: "accuracy - 0.01*average_bits".
namespace hone {

/// A formula of numbers, names (letters, digits, `_` and dots, or anything in braces), + - * /, signs and
/// parentheses, with the usual precedence.
///
///     const MetricFormula objective = parse_formula("accuracy - 0.01*average_bits");
///     objective.value({{"accuracy", 0.8}, {"average_bits", 6}})     // 0.74
class MetricFormula {
 public:
  /// Throws `UserError` for a name missing from `metrics`.
  double value(const std::map<std::string, double>& metrics) const;
  /// Returns the distinct names in it, in order; those in braces include them.
  std::vector<std::string> names() const;
  const std::string& text() const { return text_; }

 private:
  friend class FormulaParser;
  /// A step of a stack machine: numbers and metrics are pushed, operators pop their operands.
  struct Step {
    char operation = 0;  ///< '#' number, 'x' metric, '~' sign, + - * /
    double number = 0;
    std::string name = {};
  };
  std::string text_;
  std::vector<Step> steps_;
};

/// Throws `UserError` that shows the text and the position of the error.
MetricFormula parse_formula(std::string_view text);

/// A constraint such as "average_bits <= 6". Its violation is how much `left` exceeds `right` or, for equality, their
/// difference.
struct FormulaConstraint {
  std::string text;
  MetricFormula left, right;
  bool equal = false;
  /// Returns a value above 0 if the constraint is violated.
  double violation(const std::map<std::string, double>& metrics) const {
    const double above = left.value(metrics) - right.value(metrics);
    return equal ? std::abs(above) : above;
  }
};

/// Parses <=, >= or = between two formulas. Throws `UserError` as `parse_formula`.
FormulaConstraint parse_constraint(std::string_view text);

}  // namespace hone
