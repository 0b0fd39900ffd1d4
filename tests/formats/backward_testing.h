#pragma once

#include <string_view>
#include <vector>

#include "hone/formats/format.h"

/// What the tests of formats with gradients of their own share.
namespace hone::testing {

struct FormatGradients {
  std::vector<float> dx;
  std::vector<Tensor> state;  ///< those of learned state defined, the others not
};

/// What `FormatDef::backward` makes of dy, for a dense tensor of `sizes`.
FormatGradients gradients_of(std::string_view format, const std::vector<float>& x,
                             const Sizes& sizes, const std::vector<Tensor>& state,
                             const std::vector<float>& dy, int threads = 1);

/// `count` values of a normal distribution times `scale`.
std::vector<float> normal_values(std::size_t count, double scale = 1);

/// The gradients have the same bits on every instruction set, for one and three threads, and when
/// dx is written over dy. The state is calibrated on x.
void check_backward(std::string_view format, const std::vector<float>& x, const Sizes& sizes);

/// Mean-squared errors of x in the format before and after plain gradient descent on the learned
/// state alone, from `start` on.
struct Descent {
  double before = 0;
  double after = 0;
};
Descent descend(std::string_view format, const std::vector<float>& x, const Sizes& sizes,
                const std::vector<Tensor>& start, double rate, int steps);

}  // namespace hone::testing
