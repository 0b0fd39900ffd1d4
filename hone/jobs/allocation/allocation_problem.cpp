#include "hone/jobs/allocation/allocation_problem.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hone/analysis/precision.h"
#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/passes/quantize.h"

namespace hone {
namespace {

const Bindings kOneText = {{'B', 1}, {'S', 1}};

/// Bits of the parameters of a layer.
struct LayerBits {
  std::int64_t weight = 0, packed = 0;
};

LayerBits bits_of(const Graph& graph, const std::string& layer, const LayerOption& option) {
  LayerBits bits;
  const auto add = [&](Operand operand, std::int64_t count) {
    if (operand == Operand::weight || operand == Operand::bias) bits.packed += count;
  };
  const LayerFormats formats = option.formats.value_or(LayerFormats{});
  for (const PlannedTensor& tensor : planned_tensors(graph, {{layer, formats}}, kOneText))
    add(tensor.operand,
        std::llround(tensor.average_bits * static_cast<double>(element_count(tensor.sizes))));
  const Node& node = *graph.find(layer);
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    const std::optional<Operand> operand = operand_of(node, i);
    if (!operand) continue;
    const std::int64_t count = element_count(resolve(node.inputs()[i].type().shape, kOneText));
    if (!formats[*operand]) add(*operand, 32 * count);
  }
  bits.weight = std::llround(
      weight_bits(graph, {{layer, formats}}, {layer}, {{layer, option.sparsity}}).bits);
  return bits;
}

std::int64_t sum_of(const std::vector<std::vector<std::int64_t>>& bits, const Allocation& chosen) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i) sum += bits[i][chosen[i]];
  return sum;
}

std::int64_t bytes_of(std::int64_t bits) { return (bits + 7) / 8; }

// Returns the maximum cost of all layers, in bits or pieces.
std::int64_t most_cost(const LayerCosts& costs, const AllocationBudget& budget) {
  if (budget.quantity == BudgetQuantity::latency_ms)
    return static_cast<std::int64_t>(std::floor(budget.limit / costs.unit_ms)) - costs.rest_units;
  if (budget.quantity == BudgetQuantity::packed_bytes)
    return static_cast<std::int64_t>(std::floor(std::min(budget.limit, 1e15))) * 8 -
           costs.other_bits;
  // The tolerance keeps rounding in the product from costing a whole bit.
  const double bits = std::min(budget.limit, 64.0) * static_cast<double>(costs.weights);
  return static_cast<std::int64_t>(std::floor(bits * (1 + 1e-14)));
}

double value_of(const LayerCosts& costs, BudgetQuantity quantity, std::int64_t cost) {
  switch (quantity) {
    case BudgetQuantity::average_bits:
      return static_cast<double>(cost) / static_cast<double>(costs.weights);
    case BudgetQuantity::packed_bytes:
      return static_cast<double>(bytes_of(cost + costs.other_bits));
    case BudgetQuantity::latency_ms:
      return static_cast<double>(cost + costs.rest_units) * costs.unit_ms;
  }
  return 0;
}

// Rounds up, so that a budget of the printed value can be met.
std::string value_text(BudgetQuantity quantity, double value) {
  if (quantity == BudgetQuantity::packed_bytes) return grouped(static_cast<std::int64_t>(value));
  if (quantity == BudgetQuantity::latency_ms)
    return fmt::format("{:.4f}", std::ceil(value * 1e4) / 1e4);
  return fmt::format("{:.4g}", std::ceil(value * 1000) / 1000);
}

const std::vector<std::vector<std::int64_t>>& costs_for(const LayerCosts& costs,
                                                        BudgetQuantity quantity) {
  switch (quantity) {
    case BudgetQuantity::average_bits:
      return costs.weight_bits;
    case BudgetQuantity::packed_bytes:
      return costs.packed_bits;
    case BudgetQuantity::latency_ms:
      break;
  }
  HONE_ASSERT(!costs.latency_units.empty(), "no times were measured");
  return costs.latency_units;
}

/// The options of the layers, as the solver takes them.
struct Problem {
  AllocationProblem numbers;
  std::vector<std::vector<std::size_t>> options;  // our option indices, by layer
};

Problem problem_of(const LayerCosts& costs, const std::vector<std::vector<double>>& damages,
                   const std::vector<AllocationBudget>& budgets,
                   const std::vector<std::vector<std::size_t>>& tied) {
  std::set<std::pair<std::size_t, std::size_t>> gone;  // layer, option
  for (std::size_t i = 0; i < damages.size(); ++i)
    for (std::size_t o = 0; o < damages[i].size(); ++o)
      if (!std::isfinite(damages[i][o])) gone.emplace(i, o);
  for (const std::vector<std::size_t>& group : tied)  // an option must suit all tied layers
    for (const std::size_t i : group)
      for (std::size_t o = 0; o < damages[i].size(); ++o)
        if (!std::isfinite(damages[i][o]))
          for (const std::size_t other : group) gone.emplace(other, o);
  Problem problem{.numbers = {.layers = {}, .tied = tied}, .options = {}};
  for (std::size_t i = 0; i < damages.size(); ++i) {
    problem.numbers.layers.emplace_back();
    problem.options.emplace_back();
    for (std::size_t o = 0; o < damages[i].size(); ++o) {
      if (gone.contains({i, o})) continue;
      AllocationOption option{std::max(0.0, damages[i][o]),
                              costs_for(costs, budgets[0].quantity)[i][o]};
      for (std::size_t k = 1; k < budgets.size(); ++k)
        option.other_costs[k - 1] = costs_for(costs, budgets[k].quantity)[i][o];
      problem.numbers.layers.back().push_back(option);
      problem.options.back().push_back(o);
    }
    user_check(!problem.options.back().empty(),
               "{}: with every option the model's predictions are not finite; give other options",
               costs.layers[i]);
  }
  return problem;
}

// Throws unless the budget can be met on its own.
void check_can_be_met(const LayerCosts& costs, const Problem& problem,
                      const AllocationBudget& budget) {
  AllocationProblem alone = problem.numbers;
  const auto& of_layers = costs_for(costs, budget.quantity);
  for (std::size_t i = 0; i < alone.layers.size(); ++i)
    for (std::size_t o = 0; o < alone.layers[i].size(); ++o)
      alone.layers[i][o] = {0, of_layers[i][problem.options[i][o]]};
  const std::int64_t least = allocation_front(alone).points.front().cost;
  user_check(least <= most_cost(costs, budget),
             "budget {}: no choice of these options meets it; the smallest that can be met is {}",
             budget.text, value_text(budget.quantity, value_of(costs, budget.quantity, least)));
}

// Explains budgets that can each be met, but not together.
std::string unmet_text(const LayerCosts& costs, const std::vector<AllocationBudget>& budgets,
                       const BudgetedFront& solved) {
  std::vector<std::string> texts;
  for (const AllocationBudget& budget : budgets) texts.push_back(budget.text);
  const std::string all = fmt::format("budgets {}: each can be met, ", fmt::join(texts, ", "));
  if (solved.front.solved_costs > 0)
    return all +
           "but no allocation was found that meets all of them; give fewer options or larger "
           "budgets";
  if (solved.front.points.empty())
    return all + fmt::format("{} and {} together cannot", texts[1], texts[2]);
  return all +
         fmt::format("all together cannot; within the others the least of the first is {}",
                     value_text(solved.quantity, solved.value(costs, solved.front.points[0].cost)));
}

}  // namespace

double LayerCosts::average_bits(const Allocation& allocation) const {
  return static_cast<double>(sum_of(weight_bits, allocation)) / static_cast<double>(weights);
}

std::int64_t LayerCosts::packed_bytes(const Allocation& allocation) const {
  return bytes_of(sum_of(packed_bits, allocation) + other_bits);
}

double LayerCosts::average_bits(std::size_t layer, std::size_t option) const {
  return static_cast<double>(weight_bits[layer][option]) / static_cast<double>(elements[layer]);
}

double LayerCosts::total(BudgetQuantity quantity, const Allocation& allocation) const {
  switch (quantity) {
    case BudgetQuantity::average_bits:
      return average_bits(allocation);
    case BudgetQuantity::packed_bytes:
      return static_cast<double>(packed_bytes(allocation));
    case BudgetQuantity::latency_ms:
      return latency_ms(allocation);
  }
  return 0;
}

double LayerCosts::cost(BudgetQuantity quantity, std::size_t layer, std::size_t option) const {
  return quantity == BudgetQuantity::latency_ms
             ? latency.ms[layer][option]
             : static_cast<double>(costs_for(*this, quantity)[layer][option]);
}

double LayerCosts::latency_ms(const Allocation& allocation) const {
  double sum = latency.rest_ms;
  for (std::size_t i = 0; i < allocation.size(); ++i) sum += latency.ms[i][allocation[i]];
  return sum;
}

void add_latency(LayerCosts& costs, LatencyTable latency, double most_ms) {
  costs.unit_ms = most_ms / static_cast<double>(kLatencyUnits);
  const auto pieces = [&](double ms) {
    constexpr double kMost = 1LL << 50;  // beyond any budget; sums of it do not overflow
    return static_cast<std::int64_t>(std::min(std::ceil(ms / costs.unit_ms), kMost));
  };
  costs.latency_units.clear();
  for (const std::vector<double>& layer : latency.ms) {
    costs.latency_units.emplace_back();
    for (const double ms : layer) costs.latency_units.back().push_back(pieces(ms));
  }
  costs.rest_units = pieces(latency.rest_ms);
  costs.latency = std::move(latency);
}

void exclude_zeros(LayerCosts& costs, const std::vector<LayerOption>& options,
                   const std::vector<std::vector<std::int64_t>>& stored) {
  for (std::size_t o = 0; o < options.size(); ++o) {
    if (options[o].sparsity.share == 0) continue;
    const auto whole = std::ranges::find_if(options, [&](const LayerOption& other) {
      return other.sparsity.share == 0 && other.formats == options[o].formats;
    });
    const auto unpruned = static_cast<std::size_t>(whole - options.begin());
    HONE_ASSERT(whole != options.end(), "{} is no option unpruned", options[o].text);
    for (std::size_t i = 0; i < stored.size(); ++i)
      costs.packed_bits[i][o] = std::max<std::int64_t>(
          0, costs.packed_bits[i][unpruned] - (stored[i][unpruned] - stored[i][o]));
  }
  costs.excludes_zeros = true;
}

LayerCosts layer_costs(const Graph& graph, const std::vector<LayerOption>& options) {
  LayerCosts costs;
  std::int64_t of_layers = 0;  // in fp32
  for (const Node* node : graph.operations(kDefaultLayer)) {
    costs.layers.push_back(node->name());
    costs.weight_bits.emplace_back();
    costs.packed_bits.emplace_back();
    for (const LayerOption& option : options) {
      const LayerBits bits = bits_of(graph, node->name(), option);
      costs.weight_bits.back().push_back(bits.weight);
      costs.packed_bits.back().push_back(bits.packed);
    }
    const LayerBits whole = bits_of(graph, node->name(), {.text = {}});
    costs.elements.push_back(whole.weight / 32);
    costs.weights += whole.weight / 32;
    of_layers += whole.packed;
  }
  user_check(!costs.layers.empty(), "the model has no linear layers to choose formats for");
  costs.other_bits = std::llround(planned_size(graph, {}).bits) - of_layers;
  return costs;
}

QuantizationPlan allocated_plan(const LayerCosts& costs, const std::vector<LayerOption>& options,
                                const Allocation& allocation) {
  QuantizationPlan plan;
  for (std::size_t i = 0; i < allocation.size(); ++i)
    if (const auto& formats = options[allocation[i]].formats)
      plan.emplace_back(costs.layers[i], *formats);
  return plan;
}

LayerSparsities allocated_sparsities(const LayerCosts& costs,
                                     const std::vector<LayerOption>& options,
                                     const Allocation& allocation) {
  LayerSparsities sparsities;
  for (std::size_t i = 0; i < allocation.size(); ++i)
    if (const LayerSparsity& sparsity = options[allocation[i]].sparsity; sparsity.share > 0)
      sparsities.emplace_back(costs.layers[i], sparsity);
  return sparsities;
}

Allocation BudgetedFront::allocation(std::size_t point) const {
  Allocation chosen = choices_at(front, point);
  for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = option_indices[i][chosen[i]];
  return chosen;
}

double BudgetedFront::value(const LayerCosts& costs, std::int64_t cost) const {
  return value_of(costs, quantity, cost);
}

BudgetedFront solve_allocation(const LayerCosts& costs,
                               const std::vector<std::vector<double>>& damages,
                               const std::vector<AllocationBudget>& budgets,
                               const std::vector<std::vector<std::size_t>>& tied) {
  Problem problem = problem_of(costs, damages, budgets, tied);
  for (const AllocationBudget& budget : budgets) check_can_be_met(costs, problem, budget);
  problem.numbers.budget = most_cost(costs, budgets[0]);
  for (std::size_t k = 1; k < budgets.size(); ++k)
    problem.numbers.other_budgets.push_back(most_cost(costs, budgets[k]));
  BudgetedFront result{.quantity = budgets[0].quantity,
                       .front = allocation_front(problem.numbers),
                       .option_indices = problem.options};
  const auto best = best_within(result.front, *problem.numbers.budget);
  user_check(best.has_value(), "{}", unmet_text(costs, budgets, result));
  result.best = *best;
  return result;
}

bool within(const LayerCosts& costs, const std::vector<AllocationBudget>& budgets,
            const Allocation& allocation) {
  return std::ranges::all_of(budgets, [&](const AllocationBudget& budget) {
    return sum_of(costs_for(costs, budget.quantity), allocation) <= most_cost(costs, budget);
  });
}

std::vector<std::size_t> spread_points(const AllocationFront& front, std::size_t best,
                                       std::size_t count) {
  const std::vector<AllocationPoint>& points = front.points;
  std::set<std::size_t> chosen = {best};
  const auto spread = [&](std::int64_t from, std::int64_t to, std::size_t number) {
    for (std::size_t i = 0; i < number; ++i) {
      const double share =
          number == 1 ? 1 : static_cast<double>(i) / static_cast<double>(number - 1);
      const std::int64_t cost = from + std::llround(share * static_cast<double>(to - from));
      chosen.insert(*best_within(front, cost));
    }
  };
  const std::int64_t cheapest = points.front().cost, wanted = points[best].cost;
  spread(cheapest, points.back().cost, count / 2);
  spread(cheapest + (wanted - cheapest) / 2, wanted, count - count / 2);
  return {chosen.begin(), chosen.end()};
}

std::vector<std::vector<std::size_t>> tied_layers(const std::vector<std::string>& layers,
                                                  const std::vector<std::string>& globs) {
  std::vector<std::vector<std::size_t>> tied;
  std::set<std::size_t> taken;
  for (const std::string& glob : globs) {
    tied.emplace_back();
    for (std::size_t i = 0; i < layers.size(); ++i)
      if (glob_match(glob, layers[i])) tied.back().push_back(i);
    user_check(tied.back().size() > 1,
               "`same_format`: '{}' matches {} linear layer{}, expected at least two; see the "
               "names in `hone inspect MODEL`",
               glob, tied.back().size(), tied.back().size() == 1 ? "" : "s");
    for (const std::size_t i : tied.back())
      user_check(taken.insert(i).second, "`same_format`: {} matches two globs, the second is '{}'",
                 layers[i], glob);
  }
  return tied;
}

}  // namespace hone
