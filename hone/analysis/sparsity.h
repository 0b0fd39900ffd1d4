#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/ir/graph.h"
#include "hone/tensor/parameter_store.h"

namespace hone {

/// Elements of a parameter that are 0.
struct Zeros {
  std::string name;
  std::int64_t elements = 0;
  std::int64_t zeros = 0;

  double share() const {
    return elements == 0 ? 0 : static_cast<double>(zeros) / static_cast<double>(elements);
  }
};

/// Of every fp32 parameter that counts (hone/ir/role.h), in the graph's order.
std::vector<Zeros> parameter_zeros(const Graph& graph, const ParameterStore& parameters);

/// All of them together, under the name "".
Zeros total(const std::vector<Zeros>& all);

}  // namespace hone
