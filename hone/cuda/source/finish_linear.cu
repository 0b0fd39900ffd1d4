// y = activation(y) + residual: the epilogue of a linear that cuBLASLt does not fuse. ACTIVATION is an expression in x.
#include "hone/kernels/scalar/activation.h"
#include "numbers.cuh"

using namespace hone::scalar;

extern "C" __global__ void finish_linear(std::int64_t count, const VALUE* __restrict__ residual, VALUE* __restrict__ y) {
  for (std::int64_t i = thread_number(); i < count; i += all_threads()) {
    const float x = to_float(y[i]);
    const float result = ACTIVATION;
    y[i] = from_float<VALUE>(residual == nullptr ? result : result + to_float(residual[i]));
  }
}
