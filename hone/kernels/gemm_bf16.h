#pragma once

#include <cstddef>
#include <cstdint>

#include "hone/base/thread_pool.h"
#include "hone/kernels/epilogue.h"
#include "hone/kernels/gemm.h"

/// Products of float activations by weights of bfloat16, summed in float: half the bytes of a weight, and, where a processor
/// has products of bfloat16 pairs, twice the speed.
///
///     // y(T,O) = x(T,I) W(O,I)^T + bias(O), W as codes of 16 bits in panels (packed_matrix.h)
///     gemm_bf16(pool, {T, O, I}, x, I, codes, y, O, {.bias = bias});
///
/// Activations are rounded to bfloat16, to nearest, ties to even. Pair after pair of K is multiplied and added, the odd element
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

}  // namespace hone::kernels
