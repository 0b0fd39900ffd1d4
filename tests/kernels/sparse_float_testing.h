#pragma once

#include "hone/kernels/half_conversion.h"
#include "hone/kernels/sparse_float_matrix.h"
#include "tests/kernels/kernel_testing.h"

/// Helpers for tests of sparse float weights.
namespace hone::kernels {

using PackedBytes = std::vector<std::uint8_t>;

/// Returns the packed bytes, after checking that any number of threads gives the same ones.
inline PackedBytes pack_sparse(const SparseFloatMatrix& matrix, const std::vector<float>& dense) {
  return same_for_any_threads([&](ThreadPool& pool) {
    PackedBytes packed(sparse_bytes(matrix, sparse_entries(pool, matrix, dense.data())), 0xaa);
    sparse_arrange(pool, matrix, dense.data(), packed.data());
    return packed;
  });
}

/// Returns the weight (N,K), with 0 for removed values.
inline std::vector<float> unpack_sparse(const SparseFloatMatrix& matrix,
                                        const PackedBytes& packed) {
  const SparseFloatParts parts = sparse_parts(matrix, packed.data());
  const auto value_at = [&](std::int64_t index) {
    if (matrix.bits == 32) return reinterpret_cast<const float*>(parts.values)[index];
    float value = 0;
    half_to_float(Half::bfloat16, 1, reinterpret_cast<const std::uint16_t*>(parts.values) + index,
                  &value);
    return value;
  };
  std::vector<float> dense(static_cast<std::size_t>(matrix.rows * matrix.columns));
  for (std::int64_t list = 0; list < matrix.lists(); ++list) {
    const std::int64_t first_row = list % matrix.groups() * matrix.together,
                       end_row = std::min(first_row + matrix.together, matrix.rows),
                       first_column = matrix.block_begin(list / matrix.groups());
    for (std::int64_t entry = parts.begin(list); entry < parts.end(list); ++entry)
      for (std::int64_t row = first_row; row < end_row; ++row)
        dense[static_cast<std::size_t>(row * matrix.columns + first_column +
                                       parts.columns[entry])] =
            value_at(entry * matrix.together + row - first_row);
  }
  return dense;
}

}  // namespace hone::kernels
