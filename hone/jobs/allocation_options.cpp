#include "hone/jobs/allocation_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {
namespace {

constexpr std::string_view kNone = "none";
constexpr std::string_view kBudgetFigures[] = {"average_bits", "packed_bytes", "latency_ms"};

// Splits at commas that stand in no parentheses.
std::vector<std::string> split_outside_parentheses(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

AllocationBudget parse_budget(std::string_view text) {
  const std::string expected = fmt::format(
      "budget '{}': expected average_bits<=NUMBER, packed_bytes<=NUMBER or latency_ms<=NUMBER, "
      "such "
      "as average_bits<=5",
      text);
  const std::size_t sign = text.find("<=");
  user_check(sign != std::string_view::npos, "{}", expected);
  const std::string_view name = trim(text.substr(0, sign)), number = trim(text.substr(sign + 2));
  const auto figure = std::ranges::find(kBudgetFigures, name);
  user_check(figure != std::end(kBudgetFigures), "{}", expected);
  AllocationBudget budget{static_cast<BudgetFigure>(figure - std::begin(kBudgetFigures))};
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), budget.most);
  user_check(error == std::errc() && end == number.data() + number.size() &&
                 std::isfinite(budget.most) && budget.most > 0,
             "{}", expected);
  budget.text = fmt::format("{} <= {}", name, number);
  return budget;
}

}  // namespace

std::vector<Operand> parse_operands(const std::vector<std::string>& names) {
  std::vector<Operand> operands;
  for (const std::string& name : names) {
    const auto operand = std::ranges::find(kReadOperands, name,
                                           [](Operand one) { return std::string(to_string(one)); });
    user_check(operand != std::end(kReadOperands),
               "operand '{}': expected input, weight or bias, by comma", name);
    operands.push_back(*operand);
  }
  user_check(std::ranges::find(operands, Operand::weight) != operands.end(),
             "without the weight there are no bits to save; give weight, or input,weight,bias");
  return operands;
}

std::vector<FormatOption> parse_format_options(std::string_view text,
                                               const std::vector<Operand>& operands,
                                               const FormatTable& formats) {
  std::vector<FormatOption> options;
  for (const std::string& part : split_outside_parentheses(text)) {
    const std::string_view name = trim(part);
    FormatOption option{.text = std::string(name)};
    if (name != kNone) {
      option.formats.emplace();
      for (const Operand operand : operands)
        (*option.formats)[operand] = parse_format(name, formats);
    }
    // "int(bits=8)" and "int(bits=8,per=tensor)" are one format.
    for (const FormatOption& other : options)
      user_check(other.formats != option.formats, "option {} stands twice", option.text);
    options.push_back(std::move(option));
  }
  user_check(options.size() > 1,
             "{} alone leaves nothing to choose; give two options or more, such as "
             "'int(bits=8),mxint(bits=4)', of which none is full precision",
             options.front().text);
  return options;
}

std::string_view to_string(BudgetFigure figure) {
  return kBudgetFigures[static_cast<std::size_t>(figure)];
}

std::vector<AllocationBudget> parse_budgets(const std::vector<std::string>& texts) {
  user_check(
      !texts.empty(),
      "no `budget`; give average_bits<=5, packed_bytes<=4e6, latency_ms<=1.2, or two of them");
  std::vector<AllocationBudget> budgets;
  for (const std::string& text : texts) {
    budgets.push_back(parse_budget(text));
    for (std::size_t i = 0; i + 1 < budgets.size(); ++i)
      user_check(budgets[i].figure != budgets.back().figure,
                 "budget '{}': {} has a bound already, {}", text, to_string(budgets[i].figure),
                 budgets[i].text);
  }
  user_check(budgets.size() <= 2, "{} budgets: one or two can be kept at once", budgets.size());
  return budgets;
}

}  // namespace hone
