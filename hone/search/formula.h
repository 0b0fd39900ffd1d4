#pragma once

#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Formulas over named metrics, as people write objectives: "accuracy - 0.01*average_bits".
namespace hone {

/// Numbers, names (letters, digits, `_` and dots, or anything in braces), + - * /, signs and parentheses, with the usual precedence.
///
///     const MetricFormula objective = parse_formula("accuracy - 0.01*average_bits");
///     objective.value({{"accuracy", 0.8}, {"average_bits", 6}})     // 0.74
class MetricFormula {
 public:
  /// Throws `UserError` for a name that `metrics` does not have.
  double value(const std::map<std::string, double>& metrics) const;
  /// The names in it, each once, in their order; those in braces with them.
  std::vector<std::string> names() const;
  const std::string& text() const { return text_; }

 private:
  friend class FormulaParser;
  /// Of a stack machine: a number or a metric is put on the stack, an operator takes what it needs from there.
  struct Step {
    char operation = 0;  ///< '#' number, 'x' metric, '~' sign, + - * /
    double number = 0;
    std::string name = {};
  };
  std::string text_;
  std::vector<Step> steps_;
};

/// Throws `UserError` that shows the text and the place that is not understood.
MetricFormula parse_formula(std::string_view text);

/// "average_bits <= 6": what must hold. Violated by as much as `left` is above `right` or, if they must be equal, differs from it.
struct FormulaConstraint {
  std::string text;
  MetricFormula left, right;
  bool equal = false;
  /// Above 0: violated.
  double violation(const std::map<std::string, double>& metrics) const {
    const double above = left.value(metrics) - right.value(metrics);
    return equal ? std::abs(above) : above;
  }
};

/// With <=, >= or = between two formulas. Throws `UserError` as `parse_formula`.
FormulaConstraint parse_constraint(std::string_view text);

}  // namespace hone
