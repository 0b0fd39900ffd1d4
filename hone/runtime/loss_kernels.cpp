#include <algorithm>
#include <cmath>

#include "hone/kernels/binary_cross_entropy.h"
#include "hone/kernels/cross_entropy.h"
#include "hone/kernels/mean_squared_error.h"
#include "hone/runtime/cpu_kernels.h"

namespace hone {
namespace {

// The reference reports labels outside the classes.
bool valid_labels(const Call& call) {
  const std::int64_t classes = call.input(0).size(1);
  return std::ranges::all_of(call.input(1).values<std::int64_t>(), [&](std::int64_t label) {
    return label == kernels::kIgnoredLabel || (label >= 0 && label < classes);
  });
}

void cross_entropy(Call& call) {
  if (!valid_labels(call)) return call.op.reference(call);
  const Tensor& logits = call.input(0);
  *call.output().data<float>() =
      kernels::cross_entropy(call.pool(), logits.size(0), logits.size(1), logits.data<float>(),
                             call.input(1).data<std::int64_t>(), optional_floats(call, 2));
}

void cross_entropy_gradient(Call& call) {
  if (!valid_labels(call)) return call.op.reference(call);
  const Tensor& logits = call.input(0);
  kernels::cross_entropy_gradient(call.pool(), logits.size(0), logits.size(1), logits.data<float>(),
                                  call.input(1).data<std::int64_t>(), *floats(call, 2),
                                  call.output().data<float>(), optional_floats(call, 3));
}

// The reference reports targets that are not finite.
bool finite_targets(const Call& call) {
  return std::ranges::all_of(call.input(1).values<float>(),
                             [](float target) { return std::isfinite(target); });
}

void mean_squared_error(Call& call) {
  if (!finite_targets(call)) return call.op.reference(call);
  *call.output().data<float>() =
      kernels::mean_squared_error(call.pool(), count(call), floats(call, 0), floats(call, 1));
}

void mean_squared_error_gradient(Call& call) {
  if (!finite_targets(call)) return call.op.reference(call);
  kernels::mean_squared_error_gradient(call.pool(), count(call), floats(call, 0), floats(call, 1),
                                       *floats(call, 2), call.output().data<float>());
}

// The reference reports targets that are not probabilities.
bool targets_within_0_and_1(const Call& call) {
  return std::ranges::all_of(call.input(1).values<float>(),
                             [](float target) { return target >= 0 && target <= 1; });
}

void binary_cross_entropy(Call& call) {
  if (!targets_within_0_and_1(call)) return call.op.reference(call);
  *call.output().data<float>() =
      kernels::binary_cross_entropy(call.pool(), count(call), floats(call, 0), floats(call, 1));
}

void binary_cross_entropy_gradient(Call& call) {
  if (!targets_within_0_and_1(call)) return call.op.reference(call);
  kernels::binary_cross_entropy_gradient(call.pool(), count(call), floats(call, 0), floats(call, 1),
                                         *floats(call, 2), call.output().data<float>());
}

}  // namespace

KernelTable loss_kernels() {
  return {
      {"binary_cross_entropy", "cpu", "vector", anything, binary_cross_entropy},
      {"binary_cross_entropy_gradient", "cpu", "vector", anything, binary_cross_entropy_gradient},
      {"cross_entropy", "cpu", "vector", anything, cross_entropy},
      {"cross_entropy_gradient", "cpu", "vector", anything, cross_entropy_gradient},
      {"mean_squared_error", "cpu", "vector", anything, mean_squared_error},
      {"mean_squared_error_gradient", "cpu", "vector", anything, mean_squared_error_gradient},
  };
}

}  // namespace hone
