// Convolutions with groups, and their gradients. Each result is computed separately, since groups have too few channels
// for matrix products to pay off. Sums are fp32.
#include "convolution_call.cuh"
#include "groups.cuh"
#include "hone/kernels/scalar/activation.h"
#include "nest.cuh"

#ifndef ACTIVATION
#define ACTIVATION x
#endif

using namespace hone::cuda;
using namespace hone::scalar;

inline float activated(float x) { return ACTIVATION; }

// Returns the quotient of `number`, and leaves the remainder in it.
inline std::int64_t split(std::int64_t& number, std::int64_t by) {
  const std::int64_t whole = quotient(number, by);
  number -= whole * by;
  return whole;
}

// One thread for each result (batch, outputs, result height, result width).
extern "C" __global__ void grouped(const __grid_constant__ GroupedConvolution s, const VALUE* x, const VALUE* weight,
                                   const VALUE* bias, const VALUE* residual, VALUE* y) {
  const std::int64_t number = thread_number(), plane = std::int64_t(s.result_height) * s.result_width;
  if (number >= s.batch * s.outputs * plane) return;
  std::int64_t rest = number;
  const std::int64_t image = split(rest, s.outputs * plane);
  const int output = int(split(rest, plane)), i = int(split(rest, s.result_width)), j = int(rest);
  const int first_channel = output / s.group_outputs * s.group_channels;
  const VALUE* w = weight + std::int64_t(output) * s.group_channels * s.kernel_height * s.kernel_width;
  float sum = bias == nullptr ? 0.0f : to_float(bias[output]);
  for (int c = 0; c < s.group_channels; ++c) {
    const VALUE* const from = x + (image * s.channels + first_channel + c) * s.height * s.width;
    for (int u = 0; u < s.kernel_height; ++u) {
      const int row = i * s.stride - s.padding + u * s.dilation;
      for (int v = 0; v < s.kernel_width; ++v, ++w) {
        const int column = j * s.stride - s.padding + v * s.dilation;
        if (row >= 0 && row < s.height && column >= 0 && column < s.width)
          sum = fmaf(to_float(from[row * s.width + column]), to_float(*w), sum);
      }
    }
  }
  if (residual != nullptr) sum += to_float(residual[number]);
  y[number] = from_float<VALUE>(activated(sum));
}

// Returns the result along one dimension that reads `place` with tap `tap`, or -1.
inline int reader(int place, int tap, int results, const GroupedConvolution& s) {
  const int from = place + s.padding - tap * s.dilation;
  return from >= 0 && from % s.stride == 0 && from / s.stride < results ? from / s.stride : -1;
}

// One thread for each element of dx (batch, channels, height, width).
extern "C" __global__ void grouped_input_gradient(const __grid_constant__ GroupedConvolution s, const VALUE* weight,
                                                  const VALUE* dy, VALUE* dx) {
  const std::int64_t number = thread_number(), plane = std::int64_t(s.height) * s.width;
  if (number >= s.batch * s.channels * plane) return;
  std::int64_t rest = number;
  const std::int64_t image = split(rest, s.channels * plane);
  const int channel = int(split(rest, plane)), row = int(split(rest, s.width)), column = int(rest);
  const int group = channel / s.group_channels, kernel = s.kernel_height * s.kernel_width;
  float sum = 0;
  for (int o = group * s.group_outputs; o < (group + 1) * s.group_outputs; ++o) {
    const VALUE* const w = weight + (std::int64_t(o) * s.group_channels + channel % s.group_channels) * kernel;
    const VALUE* const from = dy + (image * s.outputs + o) * s.result_height * s.result_width;
    for (int u = 0; u < s.kernel_height; ++u) {
      const int i = reader(row, u, s.result_height, s);
      for (int v = 0; i >= 0 && v < s.kernel_width; ++v) {
        const int j = reader(column, v, s.result_width, s);
        if (j >= 0) sum = fmaf(to_float(from[i * s.result_width + j]), to_float(w[u * s.kernel_width + v]), sum);
      }
    }
  }
  dx[number] = from_float<VALUE>(sum);
}

// One block for each element of dweight (outputs, group channels, kernel height, kernel width), whose threads share the pixels.
extern "C" __global__ void grouped_weight_gradient(const __grid_constant__ GroupedConvolution s, const VALUE* x,
                                                   const VALUE* dy, VALUE* dweight) {
  std::int64_t rest = blockIdx.x;
  const std::int64_t kernel = std::int64_t(s.kernel_height) * s.kernel_width;
  const int output = int(split(rest, s.group_channels * kernel)), c = int(split(rest, kernel)),
            u = int(split(rest, s.kernel_width)), v = int(rest);
  const int channel = output / s.group_outputs * s.group_channels + c;
  const std::int64_t plane = std::int64_t(s.result_height) * s.result_width;
  float sum = 0;
  for (std::int64_t pixel = threadIdx.x; pixel < s.batch * plane; pixel += blockDim.x) {
    std::int64_t at = pixel;
    const std::int64_t image = split(at, plane);
    const float gradient = to_float(dy[(image * s.outputs + output) * plane + at]);
    const int i = int(split(at, s.result_width));
    const int row = i * s.stride - s.padding + u * s.dilation, column = int(at) * s.stride - s.padding + v * s.dilation;
    if (row >= 0 && row < s.height && column >= 0 && column < s.width)
      sum = fmaf(gradient, to_float(x[((image * s.channels + channel) * s.height + row) * s.width + column]), sum);
  }
  sum = Block::sum(sum);
  if (threadIdx.x == 0) dweight[blockIdx.x] = from_float<VALUE>(sum);
}
