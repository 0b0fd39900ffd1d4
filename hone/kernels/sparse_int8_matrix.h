#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hone/base/thread_pool.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/kept_blocks.h"

/// Sparse weights of 8 or 4 bits in blocks of 1x4; zero blocks are not stored. The layout is the same for every
/// instruction set.
///
/// A block is one output by four neighbouring inputs, a quad. The N outputs are split into groups of 64, and the quads
/// of K into the fewest panels of equal size with at most 192 quads each. A group and a panel make a cell; cells are
/// numbered group by group. A cell has a list of entries for each output, the longest list first, so that consecutive
/// loops over lists often have the same length. The bytes, without gaps, numbers little-endian:
///
///     ends    (cells)           uint32: entries of this cell and all before it
///     sums    (groups, 64)      int32: the sum of all codes of an output
///     counts  (cells, 64)       uint16: the entries of a list
///     outputs (cells, 64)       uint8: the output of a list within its group
///     codes   (entries, 4 or 2) the codes of a quad in two's complement; 4 bits: the first in the low half of a byte
///     quads   (entries)         uint8: the number of the quad within its panel
///
/// The quads of a list ascend. Two neighbouring codes (0 and 1, 2 and 3) of an entry add up to at most 128 in
/// magnitude, so that the sums of their products with bytes fit in 16 bits (vpmaddubsw). If those of a quad exceed
/// this, the second code is moved to an entry of its own after it. With 8 bits this affects 0% to 2% of quads if the
/// largest weight of a row is 5 standard deviations, but for normal weights (3.5) 5% at 50% sparsity and 30% at 95%.
///
/// An entry takes 5 bytes with 8 bits and 3 with 4 bits; with up to 768 columns, each output takes another 7 bytes.
namespace hone::kernels {

/// Outputs of a group, and largest number of quads of a panel.
inline constexpr std::int64_t kSparseOutputs = 64;
inline constexpr std::int64_t kMaxPanelQuads = 192;

/// Sizes and codes of a packed matrix. Unpacked codes are in two's complement, the lowest bits of 16-bit words.
struct SparseInt8Matrix {
  std::int64_t rows = 0;     ///< N, outputs
  std::int64_t columns = 0;  ///< K, inputs
  int bits = 8;              ///< per code, 8 or 4

  std::int64_t quads() const { return ceil_div(columns, 4); }
  std::int64_t groups() const { return ceil_div(rows, kSparseOutputs); }
  std::int64_t panels() const { return ceil_div(quads(), kMaxPanelQuads); }
  /// Returns the quads of a panel; the last one may have fewer.
  std::int64_t panel_quads() const { return panels() == 0 ? 0 : ceil_div(quads(), panels()); }
  std::int64_t cells() const { return groups() * panels(); }
  /// Returns the number of outputs of a group.
  std::int64_t outputs(std::int64_t group) const {
    return std::min(kSparseOutputs, rows - group * kSparseOutputs);
  }
};

/// The arrays of a packed matrix.
struct SparseLists {
  const std::uint32_t* ends = nullptr;
  const std::int32_t* sums = nullptr;
  const std::uint16_t* counts = nullptr;
  const std::uint8_t* outputs = nullptr;
  const std::uint8_t* codes = nullptr;
  const std::uint8_t* quads = nullptr;
};
/// Returns the arrays in `bytes` from `arrange`, aligned to 4 bytes.
SparseLists sparse_lists(const SparseInt8Matrix& matrix, const std::uint8_t* bytes);

/// Numbers of nonzero blocks of codes (N,K) and of their entries: two for a block with a pair that exceeds the limit.
struct CountedInt8Blocks {
  KeptBlocks blocks = {};
  std::int64_t entries = 0;
};
CountedInt8Blocks count_blocks(ThreadPool& pool, const SparseInt8Matrix& matrix,
                               const std::uint16_t* codes);
/// Returns the exact size in bytes of a matrix with `entries` entries.
std::size_t sparse_bytes(const SparseInt8Matrix& matrix, std::int64_t entries);
/// Packs `codes` (N,K) into `bytes`, aligned to 4 bytes, of the `sparse_bytes` for the entries from `count_blocks`.
void arrange(ThreadPool& pool, const SparseInt8Matrix& matrix, const std::uint16_t* codes,
             std::uint8_t* bytes);

}  // namespace hone::kernels
