#pragma once

#include <cstddef>
#include <cstdint>

#include "hone/base/thread_pool.h"
#include "hone/kernels/epilogue.h"

/// Products of signs by packed weights of one bit: an exclusive or and a count of bits instead of 32 multiply-adds.
///
///     Scratch memory;
///     const SignRows x = sign_rows(T, I, memory.bytes(sign_rows_bytes(T, I)));
///     take_signs(pool, activations, true, x);
///     sign_product(pool, x, {O, I, codes, scales}, {.bias = bias}, y, O);   // y(T,O) = x(T,I) W(O,I)^T + bias(O)
///
/// Sums are exact. y = ((float) sum · weight scale) scales[m] + bias[n], the last two by a fused multiply-add, so the bits are
/// the same for any number of threads and of rows, and on every processor that fuses multiplications and additions.
namespace hone::kernels {

/// Activations X (M,K) as scales[m] times 1 or -1, in memory that somebody else keeps.
struct SignRows {
  std::int64_t rows = 0;     ///< M
  std::int64_t columns = 0;  ///< K, below 2^30
  /// (M, words): 32 columns each, as the plane of 1 bit of a panel has them (packed_matrix.h); 1 is -1, 0 behind a row.
  std::uint32_t* signs = nullptr;
  float* scales = nullptr;  ///< (M)

  std::int64_t words() const { return (columns + 31) / 32; }
};
std::size_t sign_rows_bytes(std::int64_t rows, std::int64_t columns);
SignRows sign_rows(std::int64_t rows, std::int64_t columns, void* memory);

/// Signs of x (M,K), those of zeros 1, and the mean magnitude of each row, that of its finite values, or 1 where not `scaled`:
/// the values of `binary`. A row with NaN is NaN.
void take_signs(ThreadPool& pool, const float* x, bool scaled, const SignRows& rows);

/// W (N,K), -1 where the code is 1, else 1, times a scale for every row.
struct SignWeight {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const std::uint8_t* codes = nullptr;  ///< of 1 bit in panels (packed_matrix.h)
  const float* scales = nullptr;        ///< (N)
};

/// y[m * y_stride + n], through `epilogue`.
void sign_product(ThreadPool& pool, const SignRows& x, const SignWeight& weight,
                  const Epilogue& epilogue, float* y, std::int64_t y_stride);

/// `rounds` products on registers alone, for the peak: returns a sum of them that begins with `start`, and sets `operations`
/// to the number of multiplications and additions that they stand for.
float run_sign_products(std::int64_t rounds, float start, double* operations);

}  // namespace hone::kernels
