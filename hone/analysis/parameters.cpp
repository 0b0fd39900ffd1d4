#include "hone/analysis/parameters.h"

#include <map>

namespace hone {

std::vector<ModuleParameters> parameters_by_module(const Graph& graph) {
  std::vector<ModuleParameters> modules;
  std::map<std::string, std::size_t> index;  // into modules
  for (const Node* parameter : graph.of_kind(NodeKind::parameter)) {
    if (!info(parameter->role()).counted) continue;
    const std::string module = parameter->name().substr(0, parameter->name().rfind('.'));
    const auto [place, added] = index.emplace(module, modules.size());
    if (added) modules.push_back({module, 0, 0});
    ModuleParameters& owner = modules[place->second];
    const std::int64_t count = element_count(resolve(parameter->types()[0].shape, {}));
    (parameter->trainable() ? owner.trainable : owner.frozen) += count;
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
