#pragma once

#include <string_view>
#include <vector>

#include "hone/formats/format.h"

/// Helpers for the tests of formats with their own gradients.
namespace hone::testing {

struct FormatGradients {
  std::vector<float> dx;
  std::vector<Tensor> state;  ///< defined for learned states only
};

/// Returns the result of `FormatDef::backward` for dy and a dense tensor of `sizes`.
FormatGradients gradients_of(std::string_view format, const std::vector<float>& x,
                             const Sizes& sizes, const std::vector<Tensor>& state,
                             const std::vector<float>& dy, int threads = 1);

/// Returns `count` normally distributed values times `scale`.
std::vector<float> normal_values(std::size_t count, double scale = 1);

/// Checks that gradients have the same bits on every instruction set, for one and three threads, and if dx overwrites
/// dy. The state is calibrated on x.
void check_backward(std::string_view format, const std::vector<float>& x, const Sizes& sizes);

/// Mean squared errors of x in the format before and after plain gradient descent on the learned state, starting at
/// `start`.
struct Descent {
  double before = 0;
  double after = 0;
};
Descent descend(std::string_view format, const std::vector<float>& x, const Sizes& sizes,
                const std::vector<Tensor>& start, double rate, int steps);

}  // namespace hone::testing
