#pragma once

#include <string>
#include <vector>

#include "hone/ir/graph.h"

namespace hone {

/// The number of elements of a module's parameters, if their roles count (hone/ir/role.h). A parameter belongs to the
/// module that its name contains before the last dot, and counts once.
struct ModuleParameters {
  std::string module;
  std::int64_t trainable = 0;
  std::int64_t frozen = 0;
};

/// Returns the modules in the order of the graph.
std::vector<ModuleParameters> parameters_by_module(const Graph& graph);

struct ParameterTotals {
  std::int64_t trainable = 0;
  std::int64_t frozen = 0;
  std::int64_t all() const { return trainable + frozen; }
};
ParameterTotals total_parameters(const Graph& graph);

}  // namespace hone
