#include "hone/analysis/sparsity.h"

#include <algorithm>

#include "hone/tensor/dense.h"

namespace hone {

std::vector<Zeros> parameter_zeros(const Graph& graph, const ParameterStore& parameters) {
  std::vector<Zeros> all;
  for (const Node* parameter : graph.of_kind(NodeKind::parameter)) {
    if (!info(parameter->role()).counted || parameter->types()[0].dtype != DType::f32) continue;
    const Tensor values = dense_on(parameters.at(parameter->name()), cpu());
    all.push_back(
        {parameter->name(), values.count(), std::ranges::count(values.values<float>(), 0.0f)});
  }
  return all;
}

Zeros total(const std::vector<Zeros>& all) {
  Zeros sum;
  for (const Zeros& one : all) {
    sum.elements += one.elements;
    sum.zeros += one.zeros;
  }
  return sum;
}

}  // namespace hone
