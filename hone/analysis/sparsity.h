#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/ir/graph.h"
#include "hone/passes/kept_elements.h"
#include "hone/tensor/parameter_store.h"

namespace hone {

/// The zeros of a parameter.
struct Zeros {
  std::string name;
  std::int64_t elements = 0;
  std::int64_t zeros = 0;

  double share() const {
    return elements == 0 ? 0 : static_cast<double>(zeros) / static_cast<double>(elements);
  }
};

/// Counts the zeros of every fp32 parameter whose role counts (hone/ir/role.h), in the graph's order.
std::vector<Zeros> parameter_zeros(const Graph& graph, const ParameterStore& parameters);

/// Returns the sum of all of them, with the name "".
Zeros total(const std::vector<Zeros>& all);

/// The zeros in the weights of linear layers.
struct LinearZeros {
  Zeros zeros = {};  ///< sum over all these weights, with the name ""
  PruneStructure structure =
      {};  ///< the blocks or the pattern of the zeros; single weights if there is neither
};

/// `graph` must be unpacked. A masked weight has the zeros of its mask. Blocks are reported if they contain at least
/// 99% of the zeros.
LinearZeros linear_zeros(const Graph& graph, const ParameterStore& parameters);
/// For one weight, dense fp32 (outputs, inputs) on the CPU.
LinearZeros linear_zeros(const Tensor& weight);

/// "80.0% of the linear weights zero (blocks of 1x4)"; "" for less than 1%.
std::string to_text(const LinearZeros& zeros);

}  // namespace hone
