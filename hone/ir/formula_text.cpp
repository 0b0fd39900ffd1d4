#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "hone/base/error.h"
#include "hone/ir/formula.h"

// The text form of formulas: + - * / and unary minus as in C, functions by name, select(a < b, yes, no).
namespace hone {
namespace {

struct FunctionName {
  ScalarOp op;
  std::string_view name;
};
constexpr FunctionName kFunctions[] = {{ScalarOp::absolute, "abs"},
                                       {ScalarOp::square_root, "sqrt"},
                                       {ScalarOp::exponential, "exp"},
                                       {ScalarOp::error_function, "erf"},
                                       {ScalarOp::hyperbolic_tangent, "tanh"}};

// The binding strength of a step's operator.
int precedence_of(const FormulaSteps::Step& step) {
  switch (step.op) {
    case ScalarOp::add:
    case ScalarOp::subtract:
      return 1;
    case ScalarOp::multiply:
    case ScalarOp::divide:
      return 2;
    case ScalarOp::negate:
      return 3;
    case ScalarOp::constant:
      return std::signbit(step.value) ? 3 : 4;
    default:
      return 4;
  }
}

/// Formats steps; named steps are written by name.
class FormulaWriter {
 public:
  explicit FormulaWriter(const FormulaSteps& all) : all_(all), names_(all.steps.size()) {}

  std::string write() {
    std::vector<std::size_t> uses(all_.steps.size());
    for (const FormulaSteps::Step& step : all_.steps)
      for (std::size_t i = 0; i < argument_count(step.op); ++i) ++uses[step.arguments[i]];
    for (const std::size_t result : all_.results) ++uses[result];
    std::string text;
    std::size_t named = 0;
    for (std::size_t at = 0; at < all_.steps.size(); ++at) {
      if (argument_count(all_.steps[at].op) == 0 || uses[at] < 2) continue;
      std::string name = fmt::format("t{}", named++);
      text += fmt::format("{} = {}; ", name, step(at));
      names_[at] = std::move(name);
    }
    for (std::size_t i = 0; i < all_.results.size(); ++i)
      text += (i > 0 ? "; " : "") + value(all_.results[i], 0);
    return text;
  }

 private:
  std::string value(std::size_t at, int least_precedence) const {
    if (!names_[at].empty()) return names_[at];
    const bool binds = precedence_of(all_.steps[at]) >= least_precedence;
    return binds ? step(at) : "(" + step(at) + ")";
  }

  std::string step(std::size_t at) const {
    const FormulaSteps::Step& step = all_.steps[at];
    const int own = precedence_of(step);
    const auto binary = [&](char sign) {
      return fmt::format("{} {} {}", value(step.arguments[0], own), sign,
                         value(step.arguments[1], own + 1));
    };
    switch (step.op) {
      case ScalarOp::operand:
        return fmt::format("x{}", step.index);
      case ScalarOp::constant:
        return fmt::format("{}", step.value);
      case ScalarOp::add:
        return binary('+');
      case ScalarOp::subtract:
        return binary('-');
      case ScalarOp::multiply:
        return binary('*');
      case ScalarOp::divide:
        return binary('/');
      // A minus directly before a number would be parsed as its sign.
      case ScalarOp::negate:
        return "-" + negated(step.arguments[0]);
      case ScalarOp::select_less:
        return fmt::format("select({} < {}, {}, {})", value(step.arguments[0], 0),
                           value(step.arguments[1], 0), value(step.arguments[2], 0),
                           value(step.arguments[3], 0));
      default:
        break;
    }
    const auto* named = std::ranges::find(kFunctions, step.op, &FunctionName::op);
    return fmt::format("{}({})", named->name, value(step.arguments[0], 0));
  }

  std::string negated(std::size_t at) const {
    if (all_.steps[at].op == ScalarOp::constant) return "(" + step(at) + ")";
    return value(at, 4);
  }

  const FormulaSteps& all_;
  std::vector<std::string> names_;
};

/// A recursive-descent parser.
class FormulaReader {
 public:
  explicit FormulaReader(std::string_view text) : rest_(text) {}

  std::vector<Formula> read() {
    std::vector<Formula> results;
    do {
      const std::string_view before = rest_;
      const std::string name = accept_name();
      if (!name.empty() && accept("=")) {
        user_check(is_temporary(name),
                   "'{}' is not a name for a value; expected t followed by a number", name);
        const Formula value = sum();
        user_check(named_.emplace(name, value).second, "'{}' is given twice", name);
      } else {
        rest_ = before;
        results.push_back(sum());
      }
    } while (accept(";"));
    skip_space();
    user_check(rest_.empty(), "expected ';' or the end at '{}'", rest_.substr(0, 40));
    user_check(!results.empty(), "no result: expected a formula after the named values");
    return results;
  }

 private:
  static constexpr int kMostNested = 100;
  static constexpr std::size_t kMostTerms =
      4000;  // bounds the recursion depth of every walk over a formula
  static constexpr std::size_t kMaxOperands = 64;

  void skip_space() {
    while (rest_.starts_with(" ")) rest_.remove_prefix(1);
  }
  bool accept(std::string_view token) {
    skip_space();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    const bool found = accept(token);
    user_check(found, "expected '{}' at '{}'", token, rest_.substr(0, 40));
  }
  std::string accept_name() {
    skip_space();
    std::size_t size = 0;
    const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    while (size < rest_.size() && (is_letter(rest_[size]) || (size > 0 && is_digit(rest_[size]))))
      ++size;
    std::string name(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return name;
  }
  static bool is_temporary(const std::string& name) {
    return name.size() > 1 && name[0] == 't' &&
           name.find_first_not_of("0123456789", 1) == std::string::npos;
  }

  Formula of(ScalarOp op, std::vector<Formula> arguments) {
    user_check(++terms_ <= kMostTerms, "more than {} operations", kMostTerms);
    return Formula::of(op, std::move(arguments));
  }

  Formula sum() {
    Formula value = product();
    while (true) {
      if (accept("+")) {
        value = of(ScalarOp::add, {value, product()});
      } else if (accept("-")) {
        value = of(ScalarOp::subtract, {value, product()});
      } else {
        return value;
      }
    }
  }

  Formula product() {
    Formula value = factor();
    while (true) {
      if (accept("*")) {
        value = of(ScalarOp::multiply, {value, factor()});
      } else if (accept("/")) {
        value = of(ScalarOp::divide, {value, factor()});
      } else {
        return value;
      }
    }
  }

  Formula factor() {
    user_check(++nested_ <= kMostNested, "nested more than {} times", kMostNested);
    const Formula value = inner_factor();
    --nested_;
    return value;
  }

  Formula inner_factor() {
    if (const std::optional<double> constant = accept_number()) return *constant;
    if (accept("-")) return of(ScalarOp::negate, {factor()});
    if (accept("(")) {
      const Formula value = sum();
      expect(")");
      return value;
    }
    const std::string name = accept_name();
    user_check(!name.empty(), "expected a number, an operand or a function at '{}'",
               rest_.substr(0, 40));
    if (name == "select") return selection();
    const auto* function = std::ranges::find(kFunctions, name, &FunctionName::name);
    if (function != std::end(kFunctions)) {
      expect("(");
      const Formula value = sum();
      expect(")");
      return of(function->op, {value});
    }
    if (const auto found = named_.find(name); found != named_.end()) return found->second;
    return operand(name);
  }

  Formula selection() {
    expect("(");
    const Formula smaller = sum();
    expect("<");
    const Formula larger = sum();
    expect(",");
    const Formula yes = sum();
    expect(",");
    const Formula no = sum();
    expect(")");
    return of(ScalarOp::select_less, {smaller, larger, yes, no});
  }

  static Formula operand(const std::string& name) {
    std::size_t index = 0;
    const char* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + 1, end, index);
    user_check(name[0] == 'x' && read.ec == std::errc{} && read.ptr == end,
               "'{}' is not an operand, a function or the name of an earlier value", name);
    user_check(index < kMaxOperands, "operand {} of at most {}", name, kMaxOperands);
    return Formula::operand(index);
  }

  // Accepts a sign as part of the number.
  std::optional<double> accept_number() {
    skip_space();
    const bool negative = rest_.starts_with("-");
    const std::string_view digits = rest_.substr(negative ? 1 : 0);
    const bool is_number =
        !digits.empty() && ((digits[0] >= '0' && digits[0] <= '9') || digits[0] == '.' ||
                            digits.starts_with("inf") || digits.starts_with("nan"));
    if (!is_number) return std::nullopt;
    double value = 0;
    const auto read = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    user_check(read.ec == std::errc{}, "'{}' is not a number", rest_.substr(0, 40));
    rest_.remove_prefix(static_cast<std::size_t>(read.ptr - rest_.data()));
    return value;
  }

  std::string_view rest_;
  std::map<std::string, Formula> named_;
  int nested_ = 0;
  std::size_t terms_ = 0;
};

}  // namespace

std::string to_string(std::span<const Formula> formulas) {
  return FormulaWriter(FormulaSteps(formulas)).write();
}

std::vector<Formula> parse_formulas(std::string_view text) { return FormulaReader(text).read(); }

}  // namespace hone
