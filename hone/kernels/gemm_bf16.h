#pragma once

#include <cstddef>
#include <cstdint>

#include "hone/base/thread_pool.h"
#include "hone/kernels/epilogue.h"
#include "hone/kernels/gemm.h"

/// Products of float activations by weights of bfloat16, summed in float: half the bytes of a weight, and, where a processor
/// has products of bfloat16 pairs, twice the speed.
///
///     // y(T,O) = x(T,I) W(O,I)^T + bias(O)
///     gemm_bf16_pack(pool, O, I, w, packed);
///     gemm_bf16(pool, {T, O, I}, x, I, packed, y, O, {.bias = bias});
///
/// Activations are rounded to bfloat16, to nearest, ties to even; what is then smaller than 2^-126 is zero. Pair after pair of
/// K is multiplied and added, the odd element first, each with one rounding, in blocks of at most 768 of K. So results have
/// the same bits for any number of threads, and with products of pairs as with fused multiply-adds of float, but where sums
/// come below 2^-126: the former take those for zero.
namespace hone::kernels {

/// Words of a weight (N,K) packed: a pair of neighbours in K each, zeros behind an odd K and up to 16 columns.
std::size_t gemm_bf16_packed_words(std::int64_t n, std::int64_t k);
/// Packs w (N,K), rows without gaps. `packed` lies on a line of the cache. The same on every processor.
void gemm_bf16_pack(ThreadPool& pool, std::int64_t n, std::int64_t k, const float* w,
                    std::uint32_t* packed);

/// C (M,N) = A (M,K) W^T through `epilogue`; rows of A begin `a_stride` floats apart. `workspace` has room for
/// `gemm_bf16_workspace_words(m, k)`; null: the calling thread keeps as much.
void gemm_bf16(ThreadPool& pool, const GemmShape& shape, const float* a, std::int64_t a_stride,
               const std::uint32_t* packed, float* c, std::int64_t c_stride,
               const Epilogue& epilogue = {}, std::uint32_t* workspace = nullptr);

/// What a product works in: A, rounded and packed.
std::size_t gemm_bf16_workspace_words(std::int64_t m, std::int64_t k);

}  // namespace hone::kernels
