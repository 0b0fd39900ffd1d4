#pragma once

#include <string_view>

#include "hone/runtime/interpreter.h"

namespace hone::testing {

/// A graph that is differentiated with respect to its f32 inputs, except the fixed ones.
struct GradientCase {
  std::string_view name;
  std::string_view text;  ///< all inputs have fixed shapes
  NamedTensors fixed =
      {};  ///< values of inputs that are not differentiated; must include all inputs that are not f32
  /// The graph for the differences; `text` if empty. For operations whose gradient is by definition that of another
  /// function.
  std::string_view differences_of = {};
};

/// Compares the gradients of `add_gradients` with central differences, element by element of every such input. The loss
/// is sum_i w_i y_i over all outputs, with fixed random weights w. Reports differences as test failures.
void check_gradient(const GradientCase& gradient_case);

}  // namespace hone::testing
