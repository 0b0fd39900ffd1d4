#pragma once

#include <string_view>

#include "hone/runtime/interpreter.h"

namespace hone::testing {

/// A graph whose f32 inputs, those that are not fixed, are differentiated.
struct GradientCase {
  std::string_view name;
  std::string_view text;  ///< all inputs of fixed shape
  NamedTensors fixed =
      {};  ///< values of the inputs that are not differentiated: all that are not f32
  /// The graph whose differences the gradient is compared with; `text` itself when empty. For
  /// gradients that are another function's by definition.
  std::string_view differences_of = {};
};

/// Compares the gradients that `add_gradients` builds with central differences, element by element
/// of every such input, for the loss sum_i w_i y_i over all outputs with fixed random weights w.
/// Reports disagreement as a test failure.
void check_gradient(const GradientCase& gradient_case);

}  // namespace hone::testing
