#pragma once

#include <cstddef>
#include <cstdint>

#include "hone/base/thread_pool.h"
#include "hone/kernels/epilogue.h"

/// Products of signs by packed weights of one bit: an XOR and a population count replace 32 multiply-adds.
///
///     Scratch memory;
///     const SignRows x = sign_rows(T, I, memory.bytes(sign_rows_bytes(T, I)));
///     pack_signs(pool, activations, true, x);
///     sign_product(pool, x, {O, I, codes, scales}, {.bias = bias}, y, O);   // y(T,O) = x(T,I) W(O,I)^T + bias(O)
///
/// Sums are exact. y = ((float) sum · weight scale) scales[m] + bias[n], the last two by a fused multiply-add, so the
/// bits are the same for any number of threads and rows, and on every CPU with fused multiply-adds.
namespace hone::kernels {

/// Activations X (M,K) as scales[m] times 1 or -1, in memory that the caller owns.
struct SignRows {
  std::int64_t rows = 0;     ///< M
  std::int64_t columns = 0;  ///< K, below 2^30
  /// (M, words): 32 columns per word in the order of a plane of 1 bit (packed_matrix.h). A bit of 1 is -1; bits after
  /// the end of a row are 0.
  std::uint32_t* signs = nullptr;
  float* scales = nullptr;  ///< (M)

  std::int64_t words() const { return (columns + 31) / 32; }
};
std::size_t sign_rows_bytes(std::int64_t rows, std::int64_t columns);
SignRows sign_rows(std::int64_t rows, std::int64_t columns, void* memory);

/// Stores the signs of x (M,K), +1 for zeros, and a scale per row: the mean magnitude of its finite values, or 1 if not
/// `scaled`. These are the values of the format `binary`. A row with NaN gets the scale NaN.
void pack_signs(ThreadPool& pool, const float* x, bool scaled, const SignRows& rows);

/// W (N,K): -1 if the code is 1, else 1, times a scale per row.
struct SignWeight {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const std::uint8_t* codes = nullptr;  ///< 1 bit each, in panels (packed_matrix.h)
  const float* scales = nullptr;        ///< (N)
};

/// Computes y[m * y_stride + n] and applies `epilogue`.
void sign_product(ThreadPool& pool, const SignRows& x, const SignWeight& weight,
                  const Epilogue& epilogue, float* y, std::int64_t y_stride);

/// Runs `rounds` rounds of products in registers, to measure peak throughput. Returns a sum of them that begins with
/// `start`, and sets `operations` to the number of multiplications and additions that they replace.
float run_sign_products(std::int64_t rounds, float start, double* operations);

}  // namespace hone::kernels
