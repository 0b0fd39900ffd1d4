// Pooling of planes (height, width), each a channel of an image, and its gradients.
#include "groups.cuh"
#include "nest.cuh"

/// A square window that moves over planes.
struct Pooling {
  std::int64_t planes;
  std::int32_t height, width, result_height, result_width;
  std::int32_t kernel, stride, padding;
};

/// An element of planes, by its number.
struct PlacedElement {
  std::int64_t plane;
  int row, column;

  PlacedElement(std::int64_t number, int height, int width) {
    plane = quotient(number, std::int64_t(height) * width);
    const int rest = int(number - plane * height * width);
    row = rest / width;
    column = rest - row * width;
  }
};

// Returns the index in its plane of the largest value of a window: the last NaN, or else the first of the largest
// numbers.
inline int largest(const Pooling& p, const VALUE* plane, int i, int j) {
  const int first_row = i * p.stride - p.padding, first_column = j * p.stride - p.padding;
  const int end_row = min(first_row + p.kernel, p.height), end_column = min(first_column + p.kernel, p.width);
  int best = -1;
  float best_value = 0;
  for (int row = max(first_row, 0); row < end_row; ++row)
    for (int column = max(first_column, 0); column < end_column; ++column) {
      const float value = to_float(plane[row * p.width + column]);
      if (best >= 0 && !(value > best_value) && !std::isnan(value)) continue;
      best = row * p.width + column;
      best_value = value;
    }
  return best;
}

inline std::int64_t windows(const Pooling& p) { return p.planes * p.result_height * p.result_width; }

extern "C" __global__ void max_pool(const __grid_constant__ Pooling p, const VALUE* x, VALUE* y) {
  const std::int64_t number = thread_number();
  if (number >= windows(p)) return;
  const PlacedElement at(number, p.result_height, p.result_width);
  const VALUE* const plane = x + at.plane * p.height * p.width;
  y[number] = plane[largest(p, plane, at.row, at.column)];
}

// places (planes, result height, result width)
extern "C" __global__ void largest_places(const __grid_constant__ Pooling p, const VALUE* x, std::int32_t* places) {
  const std::int64_t number = thread_number();
  if (number >= windows(p)) return;
  const PlacedElement at(number, p.result_height, p.result_width);
  places[number] = largest(p, x + at.plane * p.height * p.width, at.row, at.column);
}

// Computes each element of dx as the sum of dy over the windows whose largest value it is.
extern "C" __global__ void max_pool_gradient(const __grid_constant__ Pooling p, const std::int32_t* places,
                                             const VALUE* dy, VALUE* dx) {
  const std::int64_t number = thread_number();
  if (number >= p.planes * p.height * p.width) return;
  const PlacedElement at(number, p.height, p.width);
  const int place = at.row * p.width + at.column;
  const std::int64_t first = at.plane * p.result_height * p.result_width;
  const int reach = p.padding - p.kernel + p.stride;  // of the first window that ends after a position
  const int end_row = min((at.row + p.padding) / p.stride + 1, p.result_height);
  const int end_column = min((at.column + p.padding) / p.stride + 1, p.result_width);
  float sum = 0;
  for (int i = max(at.row + reach, 0) / p.stride; i < end_row; ++i)
    for (int j = max(at.column + reach, 0) / p.stride; j < end_column; ++j) {
      const std::int64_t window = first + std::int64_t(i) * p.result_width + j;
      if (places[window] == place) sum += to_float(dy[window]);
    }
  dx[number] = from_float<VALUE>(sum);
}

// One warp per plane; block dimensions are (32, warps).
extern "C" __global__ void average_pool(std::int64_t planes, std::int64_t pixels, const VALUE* x, VALUE* y) {
  const std::int64_t plane = Warp::group();
  if (plane >= planes) return;
  float sum = 0;
  for (std::int64_t i = threadIdx.x; i < pixels; i += 32) sum += to_float(x[plane * pixels + i]);
  sum = Warp::sum(sum);
  if (threadIdx.x == 0) y[plane] = from_float<VALUE>(sum / float(pixels));
}

extern "C" __global__ void average_pool_gradient(std::int64_t planes, std::int64_t pixels, const VALUE* dy, VALUE* dx) {
  const std::int64_t number = thread_number();
  if (number < planes * pixels)
    dx[number] = from_float<VALUE>(to_float(dy[quotient(number, pixels)]) / float(pixels));
}
