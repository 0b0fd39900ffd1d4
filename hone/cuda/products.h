#pragma once

#include <cstdint>
#include <string>

#include "hone/cuda/device.h"
#include "hone/tensor/dtype.h"

/// Matrix products by cuBLASLt, which is loaded at first use.
namespace hone::cuda {

/// A matrix in GPU memory: element (i, j) of matrix p of a batch is at
/// `data + p batch_stride + i row_stride + j column_stride`, in elements. The row stride or the column
/// stride is 1.
struct Matrix {
  const void* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 1;
  std::int64_t batch_stride = 0;
};

/// Activations fused into a product. cuBLASLt's GELU is the tanh approximation.
enum class FusedActivation { none, relu, gelu_tanh };

/// Types of operands and results.
enum class Numbers {
  values,  ///< operands and results have the product's type; sums are fp32
  bytes,  ///< signed bytes, 32-bit sums; no bias or activation; a by rows, b by columns, strides % 16 == 0, N % 4 == 0
};

/// result(M, N) = activation(a(M, K) b(K, N) + bias(N)) + residual(M, N), `batch` times.
struct Product {
  std::int64_t rows = 0, columns = 0, inner = 0;  ///< M, N, K
  std::int64_t batch = 1;
  Numbers numbers = Numbers::values;
  DType type = DType::f32;  ///< of values: f32, bf16 or f16
  Matrix a = {}, b = {};
  const void* bias = nullptr;      ///< null: none
  const void* residual = nullptr;  ///< laid out like the result; null: none. Not with an activation
  FusedActivation activation = FusedActivation::none;
  void* result = nullptr;  ///< dense rows
  std::int64_t result_batch_stride = 0;
};

/// Puts products on the queue. fp32 operands are rounded to TF32 if the device's arithmetic is TF32. Results have the
/// same bits in every run on one GPU. Throws `UserError` if cuBLASLt is missing or has no kernel for the product.
void multiply(CudaDevice& device, const Product& product);

/// Computes y(M, N) = x(M, K) weight(N, K)^T + bias(N), all dense fp32; bias may be null.
void linear_product(Device& device, std::int64_t rows, std::int64_t outputs, std::int64_t inputs,
                    const float* x, const float* weight, const float* bias, float* y);

/// Returns why products cannot run: "libcublasLt.so.13 is not installed"; "" if they can.
std::string products_missing();

}  // namespace hone::cuda
