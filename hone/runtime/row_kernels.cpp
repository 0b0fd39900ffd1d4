#include <algorithm>

#include "hone/kernels/layer_norm.h"
#include "hone/kernels/softmax.h"
#include "hone/kernels/sum.h"
#include "hone/runtime/cpu_kernels.h"

// Row-wise operations: softmax, layer norm and sums.
namespace hone {
namespace {

void softmax(Call& call) {
  const Tensor& x = call.input(0);
  const std::int64_t rows = row_count(x.sizes()), length = row_length(x);
  const float* in = floats(call, 0);
  kernels::softmax(call.pool(), rows, length, in, call.output().data<float>());
}

void softmax_gradient(Call& call) {
  const std::int64_t rows = row_count(call.input(0).sizes()), length = row_length(call.input(0));
  const float *y = floats(call, 0), *dy = floats(call, 1);
  kernels::softmax_gradient(call.pool(), rows, length, y, dy, call.output().data<float>());
}

float epsilon(const Call& call) { return static_cast<float>(call.attributes.get<double>("eps")); }

void layer_norm(Call& call) {
  const std::int64_t rows = row_count(call.input(0).sizes()), length = row_length(call.input(0));
  const float *x = floats(call, 0), *gamma = floats(call, 1), *beta = floats(call, 2);
  kernels::layer_norm(call.pool(), rows, length, x, gamma, beta, epsilon(call),
                      call.output().data<float>());
}

void layer_norm_gradient(Call& call) {
  const std::int64_t rows = row_count(call.input(0).sizes()), length = row_length(call.input(0));
  const float *x = floats(call, 0), *gamma = floats(call, 1), *dy = floats(call, 2);
  kernels::layer_norm_gradient(call.pool(), rows, length, x, gamma, epsilon(call), dy,
                               call.output().data<float>(), call.output(1).data<float>(),
                               call.output(2).data<float>());
}

void sum_to(Call& call) {
  const Tensor& x = call.input(0);
  Sizes shape(x.sizes().size(), 1);
  const Sizes target = call.output_sizes();
  std::copy(target.begin(), target.end(), shape.end() - static_cast<std::ptrdiff_t>(target.size()));
  kernels::sum_to(call.pool(), x.sizes(), x.data<float>(), shape, call.output().data<float>());
}

}  // namespace

KernelTable row_kernels() {
  return {
      {"layer_norm", "cpu", "rows", anything, layer_norm},
      {"layer_norm_gradient", "cpu", "rows", anything, layer_norm_gradient},
      {"softmax", "cpu", "rows", anything, softmax},
      {"softmax_gradient", "cpu", "rows", anything, softmax_gradient},
      {"sum_to", "cpu", "columns", at_most_six_dimensions, sum_to},
  };
}

}  // namespace hone
