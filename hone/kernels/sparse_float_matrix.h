#pragma once

#include <cstddef>
#include <cstdint>

#include "hone/base/thread_pool.h"

/// Sparse weights W (N,K) of floats or bfloat16 as products read them. The layout is the same for every instruction
/// set.
///
/// An entry is a column index and one value for each of `together` neighbouring rows: 4 for a matrix pruned in blocks
/// of 4 x 1, else 1. Entries whose values are all zero are omitted. The only padding is the values of rows after the
/// last one. K is split into the blocks that `gemm` sums over, the fewest nearly equal ones of at most `kGemmDepth`. A
/// list contains the entries of `together` rows in one block, columns ascending:
///
///     ends     4 bytes per list, block by block, then row by row: entries of this list and all before it
///     columns  2 bytes per entry, relative to the first column of the block; 2 zero bytes follow an odd number
///     values   `together` per entry, of `bits` bits
///
/// Numbers are little-endian. An entry of 4 floats takes 18 bytes instead of 16, one of a single float 6 instead of 4;
/// with bfloat16 10 and 4 bytes.
namespace hone::kernels {

struct SparseFloatMatrix {
  std::int64_t rows = 0;     ///< N, outputs
  std::int64_t columns = 0;  ///< K, inputs
  int together = 4;          ///< rows that share a column index: 4 or 1
  int bits = 32;             ///< of a value: 32, or 16 of bfloat16

  /// Returns the number of groups of `together` rows; the last one may have fewer.
  std::int64_t groups() const { return (rows + together - 1) / together; }
  /// Returns the number of blocks of K, at least 1.
  std::int64_t blocks() const;
  /// Returns the first column of a block; K for the end of the last one.
  std::int64_t block_begin(std::int64_t block) const { return columns * block / blocks(); }
  std::int64_t lists() const { return blocks() * groups(); }
};

/// Returns the number of entries of `dense` (N,K). 0 and -0 are zero, NaN is not.
std::int64_t sparse_entries(ThreadPool& pool, const SparseFloatMatrix& matrix, const float* dense);
/// Returns the exact size in bytes of a matrix with `entries` entries.
std::size_t sparse_bytes(const SparseFloatMatrix& matrix, std::int64_t entries);

/// Packs `dense` (N,K) into `packed`, aligned to 4 bytes, of the `sparse_bytes` for its `sparse_entries`. Values of 16
/// bits are rounded to nearest, ties to even.
void sparse_arrange(ThreadPool& pool, const SparseFloatMatrix& matrix, const float* dense,
                    std::uint8_t* packed);

/// The arrays of a packed matrix.
struct SparseFloatParts {
  const std::uint32_t* ends;
  const std::uint16_t* columns;
  const std::uint8_t* values;

  std::int64_t begin(std::int64_t list) const { return list == 0 ? 0 : ends[list - 1]; }
  std::int64_t end(std::int64_t list) const { return ends[list]; }
};
SparseFloatParts sparse_parts(const SparseFloatMatrix& matrix, const std::uint8_t* packed);

}  // namespace hone::kernels
