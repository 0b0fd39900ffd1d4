#pragma once

#include <cstddef>
#include <cstdint>

#include "hone/base/thread_pool.h"
#include "hone/kernels/epilogue.h"
#include "hone/kernels/gemm.h"

/// Products of bfloat16, summed in float. Operands take half the bytes, and CPUs with products of bfloat16 pairs are
/// twice as fast.
///
///     // y(T,O) = x(T,I) W(O,I)^T + bias(O), x and y floats, W as codes of 16 bits in panels (packed_matrix.h)
///     gemm_bf16(pool, {T, O, I}, x, I, codes, y, O, {.bias = bias});
///     // the same, all of it bfloat16
///     gemm_bf16(pool, {T, O, I}, {x, I, 1}, {w, 1, I}, y, O, {.bias = bias});
///
/// Floats are rounded to bfloat16, to nearest, ties to even. K is summed pair by pair, the odd element first, each with
/// one rounding, in blocks of at most 768 of K. Operands and sums below 2^-126 are flushed to zero. So results have the
/// same bits for any number of threads, with products of pairs or with fused multiply-adds of float.
namespace hone::kernels {

/// Computes C (M,N) = A (M,K) W^T, then applies `epilogue`; rows of A begin `a_stride` floats apart. `codes` should be
/// aligned to a cache line. `workspace` holds `gemm_bf16_workspace_words(m, k)` words; null: the calling thread uses a
/// buffer of its own.
void gemm_bf16(ThreadPool& pool, const GemmShape& shape, const float* a, std::int64_t a_stride,
               const std::uint8_t* codes, float* c, std::int64_t c_stride,
               const Epilogue& epilogue = {}, std::uint32_t* workspace = nullptr);

/// Returns the workspace of a product in words of 32 bits: A, rounded and packed.
std::size_t gemm_bf16_workspace_words(std::int64_t m, std::int64_t k);

/// Bits of bfloat16; element (i,j) is `data[i * row_stride + j * column_stride]`. One of the strides must be 1.
struct Bf16Matrix {
  const std::uint16_t* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 1;
};

/// Options of C = activation(sums + bias) + residual, computed in float and rounded to bfloat16 once, at the end.
struct Bf16Epilogue {
  const std::uint16_t* bias = nullptr;  ///< (N), added to every row; none when null.
  Activation activation = Activation::none;
  const std::uint16_t* residual = nullptr;  ///< (M,N); none when null. It must not overlap C.
  std::int64_t residual_stride = 0;
};

/// Computes C (M,N) = A (M,K) B (K,N), then applies `epilogue`; C must not overlap the inputs. `workspace` holds
/// `gemm_bf16_workspace_words(shape)` words; null: the calling thread uses a buffer of its own.
void gemm_bf16(ThreadPool& pool, const GemmShape& shape, const Bf16Matrix& a, const Bf16Matrix& b,
               std::uint16_t* c, std::int64_t c_stride, const Bf16Epilogue& epilogue = {},
               std::uint32_t* workspace = nullptr);

/// Returns its workspace in words: A and B, packed.
std::size_t gemm_bf16_workspace_words(const GemmShape& shape);

/// Packs B (K,N) as codes of 16 bits in panels, the layout of files, for repeated products with the same B.
/// `gemm_bf16_pack` fills `gemm_bf16_packed_words(n, k)` words, which should be aligned to a cache line.
std::size_t gemm_bf16_packed_words(std::int64_t n, std::int64_t k);
void gemm_bf16_pack(ThreadPool& pool, std::int64_t n, std::int64_t k, const Bf16Matrix& b,
                    std::uint32_t* packed);

/// Computes the same bits as `gemm_bf16`, with B packed. `workspace` holds `gemm_bf16_workspace_words(m, k)` words.
void gemm_bf16_packed(ThreadPool& pool, const GemmShape& shape, const Bf16Matrix& a,
                      const std::uint32_t* packed, std::uint16_t* c, std::int64_t c_stride,
                      const Bf16Epilogue& epilogue = {}, std::uint32_t* workspace = nullptr);

}  // namespace hone::kernels
