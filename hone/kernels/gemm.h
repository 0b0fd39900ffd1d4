#pragma once

#include <array>
#include <cstdint>

#include "hone/base/thread_pool.h"
#include "hone/kernels/epilogue.h"

/// Products of float matrices.
///
/// C(M,N) = A(M,K) B(K,N), summed with fused multiply-adds over the fewest nearly equal blocks of K of at most
/// `kGemmDepth`. The blocks and the tiles of C that chunks of the pool compute depend on M, N and K alone, so C has
/// the same bits for any number of threads. Transposes cost nothing: give the strides of the matrix
/// as it is to be seen.
///
///     // y(T,O) = x(T,I) W(O,I)^T + bias(O)
///     gemm(pool, {T, O, I}, {x, I, 1}, {w, 1, I}, y, O, {.bias = bias});
namespace hone::kernels {

/// Deep enough that results are seldom read again, and so few that rows of A stay in a first cache meanwhile.
inline constexpr std::int64_t kGemmDepth = 768;

/// Sizes of a product: C is (m,n), A is (m,k), B is (k,n).
struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
};

/// Element (i,j) is `data[i * row_stride + j * column_stride]`. One of the strides must be 1.
struct ConstMatrix {
  const float* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 1;
};

/// C[i * c_stride + j] = sum over l of A(i,l) B(l,j), through `epilogue`. C must not overlap the inputs.
/// With k = 0 the sum is 0. `workspace` has room for `gemm_workspace_floats(shape)`, aligned to a line of the cache; null:
/// the calling thread keeps as much.
void gemm(ThreadPool& pool, const GemmShape& shape, const ConstMatrix& a, const ConstMatrix& b,
          float* c, std::int64_t c_stride, const Epilogue& epilogue = {},
          float* workspace = nullptr);

/// The same on the calling thread alone, for pieces of larger work: the same bits.
void gemm_alone(const GemmShape& shape, const ConstMatrix& a, const ConstMatrix& b, float* c,
                std::int64_t c_stride, const Epilogue& epilogue = {});

/// What a product works in: all of B, packed, where several chunks read it; what a thread works in alone, up to some MiB,
/// it keeps itself. `a_transposed`: columns of A are contiguous, not its rows.
std::size_t gemm_workspace_floats(const GemmShape& shape, bool a_transposed = false);

/// B (K,N) as the products of this processor read it, for what multiplies by the same B again and
/// again: `gemm_pack` fills `gemm_packed_floats(n, k)` floats, aligned to a line of the cache.
std::size_t gemm_packed_floats(std::int64_t n, std::int64_t k);
void gemm_pack(ThreadPool& pool, std::int64_t n, std::int64_t k, const ConstMatrix& b,
               float* packed);

/// `gemm` with B packed: the same bits.
void gemm_packed(ThreadPool& pool, const GemmShape& shape, const ConstMatrix& a,
                 const float* packed, float* c, std::int64_t c_stride,
                 const Epilogue& epilogue = {});

/// The same sum in plain loops, accumulated in double and rounded once: what tests compare with.
void gemm_reference(const GemmShape& shape, const ConstMatrix& a, const ConstMatrix& b, float* c,
                    std::int64_t c_stride, const Epilogue& epilogue = {});

/// Distances between the items of the two batch dimensions, in elements; 0 uses one matrix for all
/// items.
using BatchStrides = std::array<std::int64_t, 2>;

/// A grid of matrices: item (p,q) is the matrix `first` moved by p * strides[0] + q * strides[1]
/// elements.
struct ConstMatrixBatch {
  ConstMatrix first;
  BatchStrides strides{};
};

/// The grid of results; its items must not overlap each other or the inputs.
struct MatrixBatch {
  float* first = nullptr;
  std::int64_t row_stride = 0;
  BatchStrides strides{};
};

/// C(p,q) = A(p,q) B(p,q) for p < batches[0], q < batches[1]; all items have the sizes of `shape`.
///
///     // scores(B,N,S,S) = Q K^T with Q and K kept as (B,S,N,D)
///     gemm_batched(pool, {B, N}, {S, S, D}, {{q, N*D, 1}, {S*N*D, D}}, {{k, 1, N*D}, {S*N*D, D}},
///                  {scores, S, {N*S*S, S*S}});
void gemm_batched(ThreadPool& pool, const std::array<std::int64_t, 2>& batches,
                  const GemmShape& shape, const ConstMatrixBatch& a, const ConstMatrixBatch& b,
                  const MatrixBatch& c, float* workspace = nullptr);

/// Of one item after the other; 0 where threads take items for themselves.
std::size_t gemm_batched_workspace_floats(const GemmShape& shape);

}  // namespace hone::kernels
