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

bool has_bf16_products();

/// sums[i * kPieceStride + j] = sum over l < pairs of rows[l * kPairRows + i] times columns[l * width + j], pairs whose lower
/// half is a0; for i < kPairRows and j < width = vectors * kPairColumns. `columns` and `sums` lie on lines of the cache. Only
/// where `has_bf16_products()`.
void multiply_bf16_pairs(const std::uint32_t* rows, const std::uint32_t* columns,
                         std::int64_t pairs, std::int64_t vectors, float* sums);

/// `rounds` products on registers alone, for the peak: returns a sum of them that begins with `start`, and sets `operations`
/// to the number of multiplications and additions. Only where `has_bf16_products()`.
float run_bf16_products(std::int64_t rounds, float start, double* operations);

}  // namespace hone::kernels
