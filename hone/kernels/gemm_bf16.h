#pragma once

#include <cstddef>
#include <cstdint>

#include "hone/base/thread_pool.h"
#include "hone/kernels/epilogue.h"
#include "hone/kernels/gemm.h"

/// Products of bfloat16, summed in float: half the bytes of an operand, and, where a processor has products of bfloat16 pairs,
/// twice the speed.
///
///     // y(T,O) = x(T,I) W(O,I)^T + bias(O), x and y floats, W as codes of 16 bits in panels (packed_matrix.h)
///     gemm_bf16(pool, {T, O, I}, x, I, codes, y, O, {.bias = bias});
///     // the same, all of it bfloat16
///     gemm_bf16(pool, {T, O, I}, {x, I, 1}, {w, 1, I}, y, O, {.bias = bias});
///
/// Floats are rounded to bfloat16, to nearest, ties to even. Pair after pair of K is multiplied and added, the odd element
/// first, each with one rounding, in blocks of at most 768 of K. What comes below 2^-126 is zero, be it of an operand or a sum.
/// So results have the same bits for any number of threads, and with products of pairs as with fused multiply-adds of float.
namespace hone::kernels {

/// C (M,N) = A (M,K) W^T through `epilogue`; rows of A begin `a_stride` floats apart. `codes` best lies on a line of the
/// cache. `workspace` has room for `gemm_bf16_workspace_words(m, k)`; null: the calling thread keeps as much.
void gemm_bf16(ThreadPool& pool, const GemmShape& shape, const float* a, std::int64_t a_stride,
               const std::uint8_t* codes, float* c, std::int64_t c_stride,
               const Epilogue& epilogue = {}, std::uint32_t* workspace = nullptr);

/// What a product works in: A, rounded and packed.
std::size_t gemm_bf16_workspace_words(std::int64_t m, std::int64_t k);

/// Bits of bfloat16; element (i,j) is `data[i * row_stride + j * column_stride]`. One of the strides must be 1.
struct Bf16Matrix {
  const std::uint16_t* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 1;
};

/// C = activation(sums + bias) + residual, computed in float and rounded to bfloat16 once, at the end.
struct Bf16Epilogue {
  const std::uint16_t* bias = nullptr;  ///< (N), added to every row; none when null.
  Activation activation = Activation::none;
  const std::uint16_t* residual = nullptr;  ///< (M,N); none when null. It must not overlap C.
  std::int64_t residual_stride = 0;
};

/// C (M,N) = A (M,K) B (K,N) through `epilogue`; C must not overlap the inputs. `workspace` has room for
/// `gemm_bf16_workspace_words(shape)`; null: the calling thread keeps as much.
void gemm_bf16(ThreadPool& pool, const GemmShape& shape, const Bf16Matrix& a, const Bf16Matrix& b,
               std::uint16_t* c, std::int64_t c_stride, const Bf16Epilogue& epilogue = {},
               std::uint32_t* workspace = nullptr);

/// What it works in: A and B, packed.
std::size_t gemm_bf16_workspace_words(const GemmShape& shape);

/// B (K,N) as products read it, for what multiplies by the same B again and again: codes of 16 bits in panels, as files have
/// them. `gemm_bf16_pack` fills `gemm_bf16_packed_words(n, k)` words, best on a line of the cache.
std::size_t gemm_bf16_packed_words(std::int64_t n, std::int64_t k);
void gemm_bf16_pack(ThreadPool& pool, std::int64_t n, std::int64_t k, const Bf16Matrix& b,
                    std::uint32_t* packed);

/// With B packed: the same bits. `workspace` has room for `gemm_bf16_workspace_words(m, k)`.
void gemm_bf16_packed(ThreadPool& pool, const GemmShape& shape, const Bf16Matrix& a,
                      const std::uint32_t* packed, std::uint16_t* c, std::int64_t c_stride,
                      const Bf16Epilogue& epilogue = {}, std::uint32_t* workspace = nullptr);

}  // namespace hone::kernels
