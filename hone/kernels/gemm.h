#pragma once

#include <array>
#include <cstdint>

#include "hone/base/thread_pool.h"
#include "hone/kernels/epilogue.h"

/// Products of float matrices.
///
/// C(M,N) = A(M,K) B(K,N), summed with fused multiply-adds over the fewest nearly equal blocks of K of at most
/// `kGemmDepth`. The blocks and the tiles of C that chunks of the pool compute depend on M, N and K alone, so C has the
/// same bits for any number of threads. Transposes cost nothing: pass the strides of the transposed matrix.
///
///     // y(T,O) = x(T,I) W(O,I)^T + bias(O)
///     gemm(pool, {T, O, I}, {x, I, 1}, {w, 1, I}, y, O, {.bias = bias});
namespace hone::kernels {

/// Deep enough that C is seldom read again, and small enough that the rows of A stay in the L1 cache.
inline constexpr std::int64_t kGemmDepth = 768;

/// Sizes of a product: C (m,n), A (m,k), B (k,n).
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

/// Computes C[i * c_stride + j] = sum over l of A(i,l) B(l,j), then applies `epilogue`. C must not overlap the inputs.
/// With k = 0 the sum is 0. `workspace` holds `gemm_workspace_floats(shape)` floats, aligned to a cache line; null: the
/// calling thread uses a buffer of its own.
void gemm(ThreadPool& pool, const GemmShape& shape, const ConstMatrix& a, const ConstMatrix& b,
          float* c, std::int64_t c_stride, const Epilogue& epilogue = {},
          float* workspace = nullptr);

/// Computes the same bits on the calling thread alone, for pieces of larger work.
void gemm_single_threaded(const GemmShape& shape, const ConstMatrix& a, const ConstMatrix& b,
                          float* c, std::int64_t c_stride, const Epilogue& epilogue = {});

/// Returns the workspace of a product in floats: all of B, packed, if several chunks read it. Each thread keeps its own
/// buffers, of up to some MiB, itself. `a_transposed`: columns of A are contiguous, not its rows.
std::size_t gemm_workspace_floats(const GemmShape& shape, bool a_transposed = false);

/// Packs B (K,N) in the layout that products on this CPU read, for repeated products with the same B. `gemm_pack` fills
/// `gemm_packed_floats(n, k)` floats, aligned to a cache line.
std::size_t gemm_packed_floats(std::int64_t n, std::int64_t k);
void gemm_pack(ThreadPool& pool, std::int64_t n, std::int64_t k, const ConstMatrix& b,
               float* packed);

/// Computes the same bits as `gemm`, with B packed.
void gemm_packed(ThreadPool& pool, const GemmShape& shape, const ConstMatrix& a,
                 const float* packed, float* c, std::int64_t c_stride,
                 const Epilogue& epilogue = {});

/// Computes the same sum in plain loops, in double, rounded once. Reference for tests.
void gemm_reference(const GemmShape& shape, const ConstMatrix& a, const ConstMatrix& b, float* c,
                    std::int64_t c_stride, const Epilogue& epilogue = {});

/// Distances in elements between items along the two batch dimensions; 0 uses one matrix for all items.
using BatchStrides = std::array<std::int64_t, 2>;

/// A grid of matrices: item (p,q) begins p * strides[0] + q * strides[1] elements after `first`.
struct ConstMatrixBatch {
  ConstMatrix first;
  BatchStrides strides{};
};

/// A grid of results. Items must not overlap each other or the inputs.
struct MatrixBatch {
  float* first = nullptr;
  std::int64_t row_stride = 0;
  BatchStrides strides{};
};

/// Computes C(p,q) = A(p,q) B(p,q) for p < batches[0], q < batches[1]; all items have the sizes of `shape`.
///
///     // scores(B,N,S,S) = Q K^T with Q and K kept as (B,S,N,D)
///     gemm_batched(pool, {B, N}, {S, S, D}, {{q, N*D, 1}, {S*N*D, D}}, {{k, 1, N*D}, {S*N*D, D}},
///                  {scores, S, {N*S*S, S*S}});
void gemm_batched(ThreadPool& pool, const std::array<std::int64_t, 2>& batches,
                  const GemmShape& shape, const ConstMatrixBatch& a, const ConstMatrixBatch& b,
                  const MatrixBatch& c, float* workspace = nullptr);

/// Returns the workspace of `gemm_batched` in floats. Large items are computed one after the other and share it; 0 for
/// smaller items, each computed by one thread.
std::size_t gemm_batched_workspace_floats(const GemmShape& shape);

}  // namespace hone::kernels
