#include "hone/jobs/allocation/allocation_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {
namespace {

constexpr std::string_view kNone = "none";

AllocationBudget parse_budget(std::string_view text) {
  const std::string expected = fmt::format(
      "budget '{}': expected average_bits<=NUMBER, packed_bytes<=NUMBER or latency_ms<=NUMBER, "
      "such "
      "as average_bits<=5",
      text);
  const std::size_t sign = text.find("<=");
  user_check(sign != std::string_view::npos, "{}", expected);
  const std::string_view name = trim(text.substr(0, sign)), number = trim(text.substr(sign + 2));
  const std::span<const EnumName> quantities = enum_names(BudgetQuantity{});
  const auto quantity = std::ranges::find(quantities, name, &EnumName::name);
  user_check(quantity != quantities.end(), "{}", expected);
  AllocationBudget budget{static_cast<BudgetQuantity>(quantity->value)};
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), budget.limit);
  user_check(error == std::errc() && end == number.data() + number.size() &&
                 std::isfinite(budget.limit) && budget.limit > 0,
             "{}", expected);
  budget.text = fmt::format("{} <= {}", name, number);
  return budget;
}

}  // namespace

std::string LayerOption::label() const {
  return sparsity.share == 0 ? text : fmt::format("{}, {}", text, to_text(sparsity));
}

std::vector<Operand> parse_operands(const std::vector<std::string>& names) {
  std::vector<Operand> operands;
  for (const std::string& name : names) {
    const auto operand = std::ranges::find(kReadOperands, name,
                                           [](Operand one) { return std::string(to_string(one)); });
    user_check(operand != std::end(kReadOperands),
               "operand '{}': expected input, weight or bias, separated by commas", name);
    operands.push_back(*operand);
  }
  user_check(std::ranges::find(operands, Operand::weight) != operands.end(),
             "without the weight there are no bits to save; give weight, or input,weight,bias");
  return operands;
}

std::vector<LayerOption> parse_options(const std::vector<std::string>& texts,
                                       const SparsityTexts& sparsities,
                                       const std::vector<Operand>& operands,
                                       const FormatTable& formats) {
  std::vector<LayerOption> options;
  for (const std::string& text : texts) {
    const std::string_view name = trim(text);
    LayerOption option{.text = std::string(name)};
    if (name != kNone) {
      option.formats.emplace();
      for (const Operand operand : operands)
        (*option.formats)[operand] = parse_format(name, formats);
    }
    // "int(bits=8)" and "int(bits=8,per=tensor)" are the same format.
    for (const LayerOption& other : options)
      user_check(other.formats != option.formats, "option {} is listed twice", option.text);
    options.push_back(std::move(option));
  }
  options = with_sparsities(std::move(options), parse_sparsities(sparsities));
  user_check(options.size() > 1,
             "{} is the only option; give at least two, such as 'int(bits=8),mxint(bits=4)'; none "
             "is full precision",
             options.front().text);
  return options;
}

std::vector<LayerOption> parse_format_options(std::string_view text,
                                              const std::vector<Operand>& operands,
                                              const FormatTable& formats) {
  return parse_options(split_outside_brackets(text), {}, operands, formats);
}

std::vector<LayerOption> with_sparsities(std::vector<LayerOption> options,
                                         const std::vector<LayerSparsity>& sparsities) {
  if (options.empty()) options = {{.text = std::string(kNone)}};
  const std::size_t formats = options.size();
  for (const LayerSparsity& sparsity : sparsities)
    for (std::size_t i = 0; i < formats; ++i) {
      options.push_back(options[i]);
      options.back().sparsity = sparsity;
    }
  return options;
}

std::vector<LayerSparsity> parse_sparsities(const SparsityTexts& texts) {
  std::vector<PruneStructure> structures;
  for (const std::string& text : texts.structures)
    structures.push_back(parse_layer_structure(text));
  user_check(!texts.shares.empty() || structures == std::vector<PruneStructure>(1),
             "structure {} without sparsities removes nothing; give both",
             texts.structures.front());
  std::vector<LayerSparsity> sparsities;
  for (const double share : texts.shares) {
    user_check(
        share > 0 && share < 1,
        "sparsity {}: expected a share above 0 and below 1; the unpruned layer is always an option",
        share);
    for (const PruneStructure& structure : structures) {
      const LayerSparsity sparsity{.share = share, .structure = structure};
      user_check(std::ranges::find(sparsities, sparsity) == sparsities.end(),
                 "sparsity {} is listed twice", share);
      sparsities.push_back(sparsity);
    }
  }
  return sparsities;
}

bool prunes(const std::vector<LayerOption>& options) {
  return std::ranges::any_of(options,
                             [](const LayerOption& option) { return option.sparsity.share > 0; });
}

std::span<const EnumName> enum_names(BudgetQuantity) {
  static constexpr EnumName kWords[] = {
      {static_cast<int>(BudgetQuantity::average_bits), "average_bits"},
      {static_cast<int>(BudgetQuantity::packed_bytes), "packed_bytes"},
      {static_cast<int>(BudgetQuantity::latency_ms), "latency_ms"}};
  return kWords;
}

const Fields& fields_of(const AllocationBudget*) {
  using A = AllocationBudget;
  static const Fields fields =
      describe<A>("allocation_budget", "A limit on the chosen model.",
                  field<&A::quantity>("quantity", "What is limited."),
                  field<&A::limit>("max", "Its maximum."), omitted<&A::text>());
  return fields;
}

Json request_json(const AllocationRequest& request) {
  Json options = Json::array(), budgets = Json::array();
  for (const LayerOption& option : request.options) {
    Json formats = Json::object();
    for (const Operand operand : kReadOperands)
      if (option.formats && (*option.formats)[operand])
        formats[std::string(to_string(operand))] = to_string(*(*option.formats)[operand]);
    options.push_back({{"formats", formats}, {"sparsity", to_json(option.sparsity)}});
  }
  for (const AllocationBudget& budget : request.budgets)
    budgets.push_back({to_string(budget.quantity), budget.limit});
  return {{"options", options},
          {"budgets", budgets},
          {"together", request.tied},
          {"sensitivity_samples", request.sensitivity_samples}};
}

std::vector<AllocationBudget> parse_budgets(const std::vector<std::string>& texts) {
  user_check(!texts.empty(),
             "`budget` is missing; give one or more of average_bits<=5, packed_bytes<=4e6, "
             "latency_ms<=1.2");
  std::vector<AllocationBudget> budgets;
  for (const std::string& text : texts) {
    budgets.push_back(parse_budget(text));
    for (std::size_t i = 0; i + 1 < budgets.size(); ++i)
      user_check(budgets[i].quantity != budgets.back().quantity,
                 "budget '{}': {} already has a limit, {}", text, to_string(budgets[i].quantity),
                 budgets[i].text);
  }
  return budgets;
}

}  // namespace hone
