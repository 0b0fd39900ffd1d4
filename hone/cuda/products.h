#pragma once

#include <cstdint>
#include <string>

#include "hone/cuda/device.h"
#include "hone/tensor/dtype.h"

/// Matrix products by cuBLASLt, loaded when it is first needed.
namespace hone::cuda {

/// A matrix in memory of the GPU: element (i, j) of product p of a batch lies at
/// `data + p batch_stride + i row_stride + j column_stride`, in elements. One of the two inner strides is 1.
struct Matrix {
  const void* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 1;
  std::int64_t batch_stride = 0;
};

/// What follows a product while its sums are in registers. cuBLASLt's GELU is that by tanh.
enum class Following { nothing, relu, gelu_tanh };

/// What is multiplied, and what it becomes.
enum class Numbers {
  values,  ///< of the product's type, as all else; sums are fp32
  bytes,  ///< whole numbers of a byte with sign, and sums of 32 bits, without bias and what follows it. Only a(M, K) by rows and b(K, N) by columns, strides multiples of 16, N one of 4
};

/// result(M, N) = following(a(M, K) b(K, N) + bias(N)) + earlier(M, N), `batch` times.
struct Product {
  std::int64_t rows = 0, columns = 0, inner = 0;  ///< M, N, K
  std::int64_t batch = 1;
  Numbers numbers = Numbers::values;
  DType type = DType::f32;  ///< of values: f32, bf16 or f16
  Matrix a = {}, b = {};
  const void* bias = nullptr;  ///< null: none
  const void* earlier =
      nullptr;  ///< laid out as the result; null: none. Not with something following
  Following following = Following::nothing;
  void* result = nullptr;  ///< rows one behind the other
  std::int64_t result_batch_stride = 0;
};

/// Puts products on the queue. Operands of fp32 are rounded to TF32 where the device's arithmetic says so. The same bits in every run on one
/// GPU. Throws `UserError` where cuBLASLt is missing or has no way to multiply these.
void multiply(CudaDevice& device, const Product& product);

/// y(M, N) = x(M, K) weight(N, K)^T + bias(N), all dense fp32; bias may be null.
void linear_product(Device& device, std::int64_t rows, std::int64_t outputs, std::int64_t inputs,
                    const float* x, const float* weight, const float* bias, float* y);

/// What keeps products from being run: "libcublasLt.so.13 is not installed"; "" when nothing does.
std::string products_missing();

}  // namespace hone::cuda
