#include "hone/search/formula.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {

/// Recursive-descent parser for sum = product (+|- product)*, product = signed (*|/ signed)*, signed = -signed |
/// number | name | {name} | ( sum ).
class FormulaParser {
 public:
  explicit FormulaParser(std::string_view text) : text_(text) {}

  MetricFormula parse() {
    sum();
    if (at_ < text_.size()) fail_here("an operator");
    formula_.text_ = std::string(trim(text_));
    return std::move(formula_);
  }

 private:
  static constexpr int kMaxDepth = 100;

  [[noreturn]] void fail_here(std::string_view expected) const {
    const std::string_view rest = text_.substr(at_);
    fail("formula '{}': expected {} {}", text_, expected,
         rest.empty() ? "at its end" : fmt::format("at '{}'", rest));
  }

  char next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  void add(char operation) { formula_.steps_.push_back({operation}); }

  void sum() {
    product();
    for (char c = next(); c == '+' || c == '-'; c = next()) {
      ++at_;
      product();
      add(c);
    }
  }

  void product() {
    sign();
    for (char c = next(); c == '*' || c == '/'; c = next()) {
      ++at_;
      sign();
      add(c);
    }
  }

  void sign() {
    user_check(++depth_ < kMaxDepth, "formula '{}': it is nested deeper than {}", text_, kMaxDepth);
    const char c = next();
    if (c == '-') {
      ++at_;
      sign();
      add('~');
    } else if (c == '(') {
      ++at_;
      sum();
      if (next() != ')') fail_here("')'");
      ++at_;
    } else if (std::isdigit(static_cast<unsigned char>(c)) || c == '.') {
      number();
    } else if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') {
      name();
    } else if (c == '{') {
      name_in_braces();
    } else {
      fail_here("a number, a name or '('");
    }
    --depth_;
  }

  void number() {
    double value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) fail_here("a number");
    at_ += static_cast<std::size_t>(end - begin);
    formula_.steps_.push_back({'#', value});
  }

  void name() {
    const auto belongs = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
    };
    const std::size_t begin = at_;
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
    formula_.steps_.push_back({'x', 0, std::string(text_.substr(begin, at_ - begin))});
  }

  void name_in_braces() {
    const std::size_t end = text_.find('}', at_);
    if (end == std::string_view::npos) fail_here("a name with its '}'");
    formula_.steps_.push_back({'x', 0, std::string(text_.substr(at_, end + 1 - at_))});
    at_ = end + 1;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  MetricFormula formula_;
};

double MetricFormula::value(const std::map<std::string, double>& metrics) const {
  std::vector<double> stack;
  for (const Step& step : steps_) {
    if (step.operation == '#') {
      stack.push_back(step.number);
    } else if (step.operation == 'x') {
      const auto found = metrics.find(step.name);
      user_check(found != metrics.end(), "formula '{}': no metric is called '{}'", text_,
                 step.name);
      stack.push_back(found->second);
    } else if (step.operation == '~') {
      stack.back() = -stack.back();
    } else {
      const double right = stack.back();
      stack.pop_back();
      double& left = stack.back();
      left = step.operation == '+'   ? left + right
             : step.operation == '-' ? left - right
             : step.operation == '*' ? left * right
                                     : left / right;
    }
  }
  return stack.back();
}

std::vector<std::string> MetricFormula::names() const {
  std::vector<std::string> names;
  for (const Step& step : steps_)
    if (step.operation == 'x' && std::ranges::find(names, step.name) == names.end())
      names.push_back(step.name);
  return names;
}

MetricFormula parse_formula(std::string_view text) { return FormulaParser(text).parse(); }

FormulaConstraint parse_constraint(std::string_view text) {
  const std::size_t at = std::min(text.find_first_of("<>="), text.size());
  const std::string_view sign = text.substr(at, text.substr(at).starts_with('=') ? 1 : 2);
  user_check(sign == "=" || sign == "<=" || sign == ">=",
             "constraint '{}': expected two formulas with <=, >= or = between them", text);
  MetricFormula left = parse_formula(text.substr(0, at)),
                right = parse_formula(text.substr(at + sign.size()));
  if (sign == ">=") std::swap(left, right);
  return {std::string(trim(text)), std::move(left), std::move(right), sign == "="};
}

}  // namespace hone
