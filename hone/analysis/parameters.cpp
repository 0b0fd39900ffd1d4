#include "hone/analysis/parameters.h"

#include "hone/base/text.h"

namespace hone {

std::vector<ModuleParameters> parameters_by_module(const Graph& graph) {
  std::vector<ModuleParameters> modules;
  for (const Node* parameter : graph.of_kind(NodeKind::parameter)) {
    const std::string module = parameter->name().substr(0, parameter->name().rfind('.'));
    if (modules.empty() || modules.back().module != module) modules.push_back({module, 0, 0});
    const std::int64_t count = element_count(resolve(parameter->types()[0].shape, {}));
    (parameter->trainable() ? modules.back().trainable : modules.back().frozen) += count;
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
