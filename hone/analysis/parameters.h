#pragma once

#include <string>
#include <vector>

#include "hone/ir/graph.h"

namespace hone {

/// Elements of the parameters that one module owns: of those that count (hone/ir/role.h). A parameter belongs to the module
/// its name names before the last dot, and counts once.
struct ModuleParameters {
  std::string module;
  std::int64_t trainable = 0;
  std::int64_t frozen = 0;
};

/// Modules in the order of the graph.
std::vector<ModuleParameters> parameters_by_module(const Graph& graph);

struct ParameterTotals {
  std::int64_t trainable = 0;
  std::int64_t frozen = 0;
  std::int64_t all() const { return trainable + frozen; }
};
ParameterTotals total_parameters(const Graph& graph);

}  // namespace hone
