#pragma once

#include <cstddef>
#include <cstdint>

#include "hone/base/thread_pool.h"

/// Sparse weights W (N,K) of floats or bfloat16 as products read them: one arrangement of bytes for every instruction set.
///
/// An entry is a column and one value for each of `together` neighbouring rows: 4 of a matrix that was pruned in blocks of 4 x 1,
/// 1 of any other. Entries whose values are all zero are left out, and nothing pads those that stay but values of rows behind
/// the last one. K is cut into the blocks that `gemm` sums over, the fewest nearly equal ones of at most `kGemmDepth`, and
/// a list is the entries of `together` rows in one block, columns ascending:
///
///     ends     4 bytes for each list, block by block and in it row by row: entries of all lists up to and with it
///     columns  2 bytes for each entry, counted from the first column of its block; 2 zero bytes behind an odd number
///     values   `together` for each entry, of `bits` bits
///
/// Numbers are stored lowest byte first. Entries of 4 floats take 18 bytes for 16, those of one 6 for 4, and with bfloat16 10
/// for 16 and 4 for 4.
namespace hone::kernels {

struct SparseFloatMatrix {
  std::int64_t rows = 0;     ///< N, outputs
  std::int64_t columns = 0;  ///< K, what products sum over
  int together = 4;          ///< rows that share a column index: 4 or 1
  int bits = 32;             ///< of a value: 32, or 16 of bfloat16

  /// Of `together` rows each; the last one may have fewer.
  std::int64_t groups() const { return (rows + together - 1) / together; }
  /// Blocks of K, at least one.
  std::int64_t blocks() const;
  /// The first column of a block; of the block behind the last one, K.
  std::int64_t block_begin(std::int64_t block) const { return columns * block / blocks(); }
  std::int64_t lists() const { return blocks() * groups(); }
};

/// Returns the number of entries of `dense` (N,K). A value that is 0 or -0 is zero, a NaN is not.
std::int64_t sparse_entries(ThreadPool& pool, const SparseFloatMatrix& matrix, const float* dense);
/// Returns the bytes of a matrix with so many entries, exactly.
std::size_t sparse_bytes(const SparseFloatMatrix& matrix, std::int64_t entries);

/// Packs `dense` (N,K) into `packed`, aligned to 4 bytes, of `sparse_bytes` of its `sparse_entries`. Values of 16 bits are
/// rounded to nearest, ties to even.
void sparse_arrange(ThreadPool& pool, const SparseFloatMatrix& matrix, const float* dense,
                    std::uint8_t* packed);

/// Where the parts of a packed matrix begin.
struct SparseFloatParts {
  const std::uint32_t* ends;
  const std::uint16_t* columns;
  const std::uint8_t* values;

  std::int64_t begin(std::int64_t list) const { return list == 0 ? 0 : ends[list - 1]; }
  std::int64_t end(std::int64_t list) const { return ends[list]; }
};
SparseFloatParts sparse_parts(const SparseFloatMatrix& matrix, const std::uint8_t* packed);

}  // namespace hone::kernels
