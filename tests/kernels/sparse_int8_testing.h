#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "hone/kernels/sparse_int8_matrix.h"
#include "tests/kernels/kernel_testing.h"

/// Helpers for tests of sparse weights.
namespace hone::kernels {

using SparseBytes = std::vector<std::uint8_t>;

/// Returns random codes (N,K) with a share of the 1x4 blocks stored.
inline std::vector<std::uint16_t> random_blocks(const SparseInt8Matrix& matrix, double stored,
                                                std::uint64_t stream) {
  RandomSequence random(5, stream);
  std::vector<std::uint16_t> codes(static_cast<std::size_t>(matrix.rows * matrix.columns));
  for (std::int64_t n = 0; n < matrix.rows; ++n) {
    for (std::int64_t k = 0; k < matrix.columns; k += 4) {
      if (random.uniform() >= stored) continue;
      for (std::int64_t j = k; j < std::min(k + 4, matrix.columns); ++j)
        codes[static_cast<std::size_t>(n * matrix.columns + j)] =
            static_cast<std::uint16_t>(random.below(1u << matrix.bits));
    }
  }
  return codes;
}

/// Returns the packed bytes, after checking that any number of threads gives the same ones.
inline SparseBytes arranged_blocks(const SparseInt8Matrix& matrix,
                                   const std::vector<std::uint16_t>& codes) {
  return same_for_any_threads([&](ThreadPool& pool) {
    SparseBytes bytes(sparse_bytes(matrix, count_blocks(pool, matrix, codes.data()).entries), 0xaa);
    arrange(pool, matrix, codes.data(), bytes.data());
    return bytes;
  });
}

}  // namespace hone::kernels
