#pragma once

#include <cstdint>

/// The products of bfloat16 pairs that some processors have (AVX512_BF16 of x86): s + a1 b1, rounded, + a0 b0, rounded.
/// What is smaller than 2^-126 counts as zero there, before and after.
namespace hone::kernels {

/// Rows and columns of one piece of a product of pairs; columns are taken in vectors of kPairColumns.
inline constexpr std::int64_t kPairRows = 8;
inline constexpr std::int64_t kPairColumns = 16;
inline constexpr std::int64_t kMostPairVectors = 3;
inline constexpr std::int64_t kPieceStride = kPairColumns * kMostPairVectors;
/// From a pair of a column to its next one: two vectors of columns lie side by side (packed_matrix.h).
inline constexpr std::int64_t kPairStride = 2 * kPairColumns;

bool has_bf16_products();

/// Up to kPairRows rows of pairs, value l of row i at data[l * kPairRows + i], zeros for those that are not there.
struct PairRows {
  const std::uint32_t* data;
  std::int64_t count;
};

/// Up to kMostPairVectors vectors of columns, value l of column j of each at data[l * kPairStride + j].
struct PairVectors {
  const std::uint32_t* data[kMostPairVectors];
  std::int64_t count;
  /// Vectors that are needed later and may lie in memory still, fetched meanwhile; null: none.
  const std::uint32_t* ahead[2] = {};
};

/// sums[i * kPieceStride + v * kPairColumns + j] = sum over l < pairs of value l of row i times that of column j of vector v,
/// pairs whose lower half is a0. `sums` lies on a line of the cache. Only where `has_bf16_products()`.
void multiply_bf16_pairs(const PairRows& rows, const PairVectors& columns, std::int64_t pairs,
                         float* sums);

/// `rounds` products on registers alone, for the peak: returns a sum of them that begins with `start`, and sets `operations`
/// to the number of multiplications and additions. Only where `has_bf16_products()`.
float run_bf16_products(std::int64_t rounds, float start, double* operations);

}  // namespace hone::kernels
