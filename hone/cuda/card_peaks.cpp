#include "hone/cuda/card_peaks.h"

#include <algorithm>

#include "hone/base/random.h"
#include "hone/cuda/convert.h"
#include "hone/cuda/products.h"
#include "hone/tensor/tensor.h"

namespace hone::cuda {
namespace {

constexpr int kTries = 5;

// Random words in (-1, 1), the same rows again and again.
Tensor random_matrix(CudaDevice& device, std::int64_t size) {
  constexpr std::int64_t kDifferentRows = 64;
  RandomSequence random(1, 1);
  Tensor rows = Tensor::empty(DType::f32, {kDifferentRows, size});
  for (float& value : rows.values<float>()) value = static_cast<float>(2 * random.uniform() - 1);
  Tensor matrix = Tensor::empty(DType::f32, {size, size}, device);
  for (std::int64_t row = 0; row < size; row += kDifferentRows)
    device.upload(matrix.slice(0, row, row + kDifferentRows).device_pointer(),
                  {rows.device_pointer(), rows.size_bytes()});
  return matrix;
}

template <typename Work>
double best_seconds(CudaDevice& device, Work&& work) {
  work();
  double best = 1e9;
  Stopwatch watch(device);
  for (int i = 0; i < kTries; ++i) {
    watch.start();
    work();
    best = std::min(best, watch.stop_seconds());
  }
  return best;
}

}  // namespace

double measure_products_gflops(CudaDevice& device, DType type) {
  const std::int64_t n =
      type == DType::f32 && device.arithmetic() == Arithmetic::fp32 ? 4096 : 8192;
  Tensor operand = random_matrix(device, n);
  if (type != DType::f32) {
    const Tensor rounded = Tensor::empty(type, {n, n}, device);
    convert(device, n * n, DType::f32, operand.device_pointer(), type, rounded.device_pointer());
    operand = rounded;
  }
  const Tensor result = Tensor::empty(type, {n, n}, device);
  Product product{.rows = n, .columns = n, .inner = n};
  product.type = type;
  product.a = product.b = {operand.device_pointer(), n, 1};
  product.result = result.device_pointer();
  const double count = static_cast<double>(n);
  return 2 * count * count * count * 1e-9 /
         best_seconds(device, [&] { multiply(device, product); });
}

double measure_copy_gbps(CudaDevice& device) {
  const std::size_t bytes =
      std::min<std::size_t>(std::size_t{2} << 30, device.card().memory_bytes / 8);
  const StoragePointer from = device.allocate(bytes), to = device.allocate(bytes);
  const auto copy = [&] { device.copy(to->pointer, from->pointer, bytes); };
  return 2 * static_cast<double>(bytes) * 1e-9 / best_seconds(device, copy);
}

}  // namespace hone::cuda
