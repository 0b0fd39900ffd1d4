#include "hone/analysis/parameters.h"

#include <map>

#include "hone/passes/pack.h"
#include "hone/passes/quantize.h"

namespace hone {

namespace {

struct Counted {
  std::string name;
  std::int64_t elements;
  bool trainable;
};

// Lists parameters in the graph's order; a packed one counts its unpacked elements.
std::vector<Counted> counted_parameters(const Graph& graph) {
  std::map<const Node*, const Node*>
      unpacked_by;  // by the codes of the parameter, which are the first input
  for (const Node* node : graph.of_kind(NodeKind::operation))
    if (is_unpacked(*node)) unpacked_by.emplace(node->inputs()[0].node, node);
  std::vector<Counted> all;
  for (const Node* parameter : graph.of_kind(NodeKind::parameter)) {
    const auto packed = unpacked_by.find(parameter);
    if (packed != unpacked_by.end())
      all.push_back({packed_parameter(*packed->second),
                     element_count(resolve(packed->second->types()[0].shape, {})), false});
    else if (info(parameter->role()).counted)
      all.push_back({parameter->name(), element_count(resolve(parameter->types()[0].shape, {})),
                     parameter->trainable()});
  }
  return all;
}

}  // namespace

std::vector<ModuleParameters> parameters_by_module(const Graph& graph) {
  std::vector<ModuleParameters> modules;
  std::map<std::string, std::size_t> index;  // into modules
  for (const Counted& parameter : counted_parameters(graph)) {
    const std::string module = parameter.name.substr(0, parameter.name.rfind('.'));
    const auto [place, added] = index.emplace(module, modules.size());
    if (added) modules.push_back({module, 0, 0});
    ModuleParameters& owner = modules[place->second];
    (parameter.trainable ? owner.trainable : owner.frozen) += parameter.elements;
  }
  return modules;
}

ParameterTotals total_parameters(const Graph& graph) {
  ParameterTotals totals;
  for (const ModuleParameters& module : parameters_by_module(graph)) {
    totals.trainable += module.trainable;
    totals.frozen += module.frozen;
  }
  return totals;
}

}  // namespace hone
