#pragma once

#include <cstdint>

/// The products of bfloat16 pairs of some CPUs (AVX512_BF16 of x86): s + a1 b1, rounded, + a0 b0, rounded. Operands and
/// results below 2^-126 are flushed to zero.
namespace hone::kernels {

/// Rows and columns of one piece of a product of pairs. Columns are read in vectors of kPairColumns.
inline constexpr std::int64_t kPairRows = 8;
inline constexpr std::int64_t kPairColumns = 16;
inline constexpr std::int64_t kMaxPairVectors = 3;
inline constexpr std::int64_t kPieceStride = kPairColumns * kMaxPairVectors;
/// Distance from a pair of a column to the next pair: panels interleave two vectors of columns (packed_matrix.h).
inline constexpr std::int64_t kPairStride = 2 * kPairColumns;

bool has_bf16_products();

/// Up to kPairRows rows of pairs: pair l of row i is at data[l * kPairRows + i]. Missing rows are zero.
struct PairRows {
  const std::uint32_t* data;
  std::int64_t count;
};

/// Up to kMostPairVectors vectors of columns: pair l of column j of vector v is at data[v][l * kPairStride + j].
struct PairVectors {
  const std::uint32_t* data[kMaxPairVectors];
  std::int64_t count;
  /// Vectors to prefetch for later; null: none.
  const std::uint32_t* ahead[2] = {};
};

/// Sets sums[i * kPieceStride + v * kPairColumns + j] to the sum over l < pairs of pair l of row i times pair l of
/// column j of vector v. a0 is the lower half of a pair. `sums` is aligned to a cache line. Requires
/// `has_bf16_products()`.
void multiply_bf16_pairs(const PairRows& rows, const PairVectors& columns, std::int64_t pairs,
                         float* sums);

/// Runs `rounds` rounds of products in registers, to measure peak throughput. Returns a sum of them that begins with
/// `start`, and sets `operations` to the number of multiplications and additions. Requires `has_bf16_products()`.
float run_bf16_products(std::int64_t rounds, float start, double* operations);

}  // namespace hone::kernels
