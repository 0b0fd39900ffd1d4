#pragma once

#include <string>
#include <vector>

#include "tests/support/evaluate.h"

namespace hone::testing {

inline constexpr double kUlp = 0x1p-23;

/// A graph of one or a few operations, as text, and the allowed difference between kernel and reference.
struct KernelCase {
  std::string text;
  std::int64_t integers_below = 0;  ///< i64 inputs are drawn from [0, this)
  NamedTensors given = {};          ///< inputs with given values
  double relative = 0;              ///< in units of kUlp
  double absolute = 0;
};

/// Returns one or more cases for every row of the CPU's kernel table. Sizes are odd, so that no vector loop ends
/// evenly, and large enough for several chunks.
std::vector<KernelCase> kernel_cases();

/// Returns random inputs from `seed`: f32 uniform in [-2, 2), booleans with equal probability. Makes new tensors every
/// time, because updates write into their inputs.
NamedTensors draw_inputs(const Graph& graph, const KernelCase& kernel_case, std::uint64_t seed = 1);

}  // namespace hone::testing
