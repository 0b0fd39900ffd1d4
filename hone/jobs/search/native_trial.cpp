#include "hone/jobs/search/native_trial.h"

#include <algorithm>

#include "hone/base/text.h"
#include "hone/jobs/allocation/best_allocation.h"
#include "hone/jobs/native/native_copy.h"
#include "hone/jobs/recipe.h"
#include "hone/passes/quantize.h"
#include "hone/runtime/native_formats.h"

namespace hone {
namespace {

LayerFormats formats_of(const Format& weight, const FormatTable& formats) {
  LayerFormats chosen;
  chosen.input = native_input(weight, formats);
  chosen.weight = weight;
  return chosen;
}

// Gives linears the wide format, or the narrow one where that does the least damage.
BestAllocation allocate_narrow(const Model& model, const Format& wide, const Format& narrow,
                               double share, const AllocationTexts& texts,
                               const EncodedSet& training, LayerDivergences* layer_divergences,
                               Context& context) {
  AllocationRequest request;
  for (const Format& format : {wide, narrow})
    request.options.push_back(
        {.text = to_string(format), .formats = formats_of(format, context.library.formats)});
  const LayerCosts costs = layer_costs(unquantized_graph(model), request.options);
  const auto bits_of_all = [&](std::size_t option) {
    return costs.average_bits(Allocation(costs.layers.size(), option));
  };
  const double most = bits_of_all(0) - share * (bits_of_all(0) - bits_of_all(1));
  request.budgets = {
      {BudgetQuantity::average_bits, most, fmt::format("average_bits <= {:.4g}", most)}};
  return best_allocation(model, request, texts, training, context, layer_divergences);
}

}  // namespace

NativeTrial native_trial(const Model& model, const NativeSection& native,
                         const AllocationTexts& texts, const EncodedSet& training,
                         LayerDivergences* layer_divergences, Context& context) {
  const FormatTable& formats = context.library.formats;
  const Graph graph = unquantized_graph(model);
  const std::optional<Format> wide = parse_optional_format(native.linears, formats),
                              narrow = parse_optional_format(native.narrow, formats),
                              tables = parse_optional_format(native.tables, formats);
  const double share = native.narrow_share;
  NativeTrial trial;
  const auto add = [&](const std::string& layer, const LayerFormats& chosen) {
    trial.plan.emplace_back(layer, chosen);
  };
  // A plan with any format tells linears from embedding tables.
  const Format any = wide ? *wide : parse_format("int(bits=8,per=row)", formats);
  QuantizationPlan linears;
  if (wide && narrow && share > 0 && share < 1) {
    BestAllocation best =
        allocate_narrow(model, *wide, *narrow, share, texts, training, layer_divergences, context);
    linears = std::move(best.plan);
    trial.allocated = {{"formats", Json::object()}, {"predicted", best.predicted}};
    for (const auto& [layer, chosen] : linears)
      trial.allocated["formats"][layer]["weight"] = to_string(*chosen.weight);
  }
  for (const auto& [layer, chosen] : native_plan(graph, any, native_input(any, formats))) {
    if (matches_any(native.freeze, layer)) continue;
    if (!chosen.input) {
      LayerFormats of_table;
      of_table.weight = tables;
      if (tables) add(layer, of_table);
      continue;
    }
    if (!wide) continue;
    const auto own = std::ranges::find(linears, layer, [](const auto& one) { return one.first; });
    if (own != linears.end()) {
      add(layer, own->second);
    } else {
      add(layer, formats_of(share == 1 && narrow ? *narrow : *wide, formats));
    }
  }
  return trial;
}

}  // namespace hone
