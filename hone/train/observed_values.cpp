#include "hone/train/observed_values.h"

#include <algorithm>

#include "hone/ir/print.h"

namespace hone {
namespace {

ParameterStore read_by(const Graph& graph, const ParameterStore& parameters) {
  ParameterStore read;
  for (const Node* node : graph.of_kind(NodeKind::parameter))
    read.set(node->name(), parameters.at(node->name()));
  return read;
}

// Writing to a shared tensor moves it to new memory, so equal memory means equal values.
bool share_memory(const ParameterStore& a, const ParameterStore& b) {
  return std::ranges::equal(a.tensors(), b.tensors(), [](const auto& one, const auto& other) {
    return one.first == other.first && one.second.storage() == other.second.storage();
  });
}

}  // namespace

std::map<std::string, Observation>& ObservedValues::of(const Graph& plain,
                                                       const ParameterStore& parameters,
                                                       const std::string& run) {
  std::string graph = to_string(plain);
  ParameterStore read = read_by(plain, parameters);
  if (graph != graph_ || run != run_ || !share_memory(read, parameters_)) {
    graph_ = std::move(graph);
    run_ = run;
    parameters_ = std::move(read);
    seen_.clear();
  }
  return seen_;
}

}  // namespace hone
