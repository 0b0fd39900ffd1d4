#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/ir/graph.h"
#include "hone/passes/kept_elements.h"
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

/// Zeros in the weights of linear layers.
struct LinearZeros {
  Zeros zeros = {};  ///< of all these weights together, under the name ""
  PruneStructure structure =
      {};  ///< the blocks or the pattern that they form; single weights where they form none
};

/// Of an unpacked graph. Masked weights have the zeros of their masks. Blocks are those that contain at least 99% of the zeros.
LinearZeros linear_zeros(const Graph& graph, const ParameterStore& parameters);
/// Of one weight, dense fp32 (outputs, inputs) on the CPU.
LinearZeros linear_zeros(const Tensor& weight);

/// "80.0% of the linear weights zero (blocks of 1x4)"; "" where fewer than 1% are.
std::string to_text(const LinearZeros& zeros);

}  // namespace hone
