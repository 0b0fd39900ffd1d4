#include "hone/cuda/gpu_peaks.h"

#include <algorithm>

#include "hone/base/random.h"
#include "hone/cuda/convert.h"
#include "hone/cuda/products.h"
#include "hone/tensor/tensor.h"

namespace hone::cuda {
namespace {

constexpr int kTries = 5;

// Returns a square matrix that repeats `rows`.
Tensor repeated_rows(CudaDevice& device, const Tensor& rows) {
  const std::int64_t size = rows.size(1);
  Tensor matrix = Tensor::empty(rows.dtype(), {size, size}, device);
  for (std::int64_t row = 0; row < size; row += rows.size(0))
    device.upload(matrix.slice(0, row, row + rows.size(0)).device_pointer(),
                  {rows.device_pointer(), rows.size_bytes()});
  return matrix;
}

constexpr std::int64_t kDifferentRows = 64;

// Values are in (-1, 1).
Tensor random_matrix(CudaDevice& device, std::int64_t size) {
  RandomSequence random(1, 1);
  Tensor rows = Tensor::empty(DType::f32, {kDifferentRows, size});
  for (float& value : rows.values<float>()) value = static_cast<float>(2 * random.uniform() - 1);
  return repeated_rows(device, rows);
}

Tensor random_bytes(CudaDevice& device, std::int64_t size) {
  RandomSequence random(1, 2);
  Tensor rows = Tensor::empty(DType::u8, {kDifferentRows, size});
  for (std::uint8_t& value : rows.values<std::uint8_t>())
    value = static_cast<std::uint8_t>(256 * random.uniform());
  return repeated_rows(device, rows);
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

// Returns 10^9 operations per second.
double operations_per_second(CudaDevice& device, const Product& product) {
  const double flop = 2 * static_cast<double>(product.rows) * static_cast<double>(product.columns) *
                      static_cast<double>(product.inner);
  return flop * 1e-9 / best_seconds(device, [&] { multiply(device, product); });
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
  return operations_per_second(device, product);
}

double measure_byte_products_gops(CudaDevice& device) {
  constexpr std::int64_t n = 8192;
  const Tensor operand = random_bytes(device, n);
  const Tensor result = Tensor::empty(DType::f32, {n, n}, device);  // 32-bit sums
  Product product{.rows = n, .columns = n, .inner = n, .numbers = Numbers::bytes};
  product.a = {operand.device_pointer(), n, 1};
  product.b = {operand.device_pointer(), 1, n};
  product.result = result.device_pointer();
  return operations_per_second(device, product);
}

double measure_copy_gbps(CudaDevice& device) {
  const std::size_t bytes =
      std::min<std::size_t>(std::size_t{2} << 30, device.info().memory_bytes / 8);
  const StoragePointer from = device.allocate(bytes), to = device.allocate(bytes);
  const auto copy = [&] { device.copy(to->pointer, from->pointer, bytes); };
  return 2 * static_cast<double>(bytes) * 1e-9 / best_seconds(device, copy);
}

}  // namespace hone::cuda
