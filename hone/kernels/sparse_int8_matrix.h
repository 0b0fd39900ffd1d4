#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hone/base/thread_pool.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/kept_blocks.h"

/// Weights of 8 or 4 bits in blocks of 1x4, of which those that are zero are not stored: one arrangement of bytes for every
/// instruction set.
///
/// A block is one output by four neighbouring inputs, a quad. The N outputs are cut into groups of 64, the quads of K into as
/// few panels of equal size as hold at most 192 quads each. A group and a panel make a cell; cells are numbered group by group.
/// A cell has a list of entries for each output, the longest list first, so that loops over them are of the same length for
/// many lists in a row. The bytes are, without gaps, of numbers the lowest byte first:
///
///     ends    (cells)           uint32: entries of this cell and all before it
///     sums    (groups, 64)      int32: the sum of all codes of an output
///     counts  (cells, 64)       uint16: the entries of a list
///     outputs (cells, 64)       uint8: the output of a list within its group
///     codes   (entries, 4 or 2) the codes of a quad in two's complement; of 4 bits the first in the low half of a byte
///     quads   (entries)         uint8: the number of the quad within its panel
///
/// The quads of a list ascend. Two neighbouring codes (0 and 1, 2 and 3) of an entry add up to 128 at most in magnitude, so
/// that their products with bytes of 255 add up in 16 bits (vpmaddubsw). Where those of a quad do not, the second one becomes an
/// entry of its own behind it: 0 to 2 of 100 quads of 8 bits where the largest weight of a row is 5 standard deviations, but of
/// normal weights (3.5) 5 at 50% sparsity and 30 at 95%.
///
/// 5 bytes an entry of 8 bits, 3 of 4 bits, and up to 768 columns 7 bytes for each output.
namespace hone::kernels {

/// Outputs of a group, and quads of a panel at most.
inline constexpr std::int64_t kSparseOutputs = 64;
inline constexpr std::int64_t kMostPanelQuads = 192;

/// What was packed. Codes stand in two's complement in the lowest bits of words of 16.
struct SparseInt8Matrix {
  std::int64_t rows = 0;     ///< N, outputs
  std::int64_t columns = 0;  ///< K, what products sum over
  int bits = 8;              ///< of a code, 8 or 4

  std::int64_t quads() const { return ceil_div(columns, 4); }
  std::int64_t groups() const { return ceil_div(rows, kSparseOutputs); }
  std::int64_t panels() const { return ceil_div(quads(), kMostPanelQuads); }
  /// Of every panel but the last, which may have fewer.
  std::int64_t panel_quads() const { return panels() == 0 ? 0 : ceil_div(quads(), panels()); }
  std::int64_t cells() const { return groups() * panels(); }
  /// Lists of a group that belong to outputs.
  std::int64_t outputs(std::int64_t group) const {
    return std::min(kSparseOutputs, rows - group * kSparseOutputs);
  }
};

/// The parts of the bytes.
struct SparseLists {
  const std::uint32_t* ends = nullptr;
  const std::int32_t* sums = nullptr;
  const std::uint16_t* counts = nullptr;
  const std::uint8_t* outputs = nullptr;
  const std::uint8_t* codes = nullptr;
  const std::uint8_t* quads = nullptr;
};
/// Those of bytes that `arrange` made, aligned to 4 bytes.
SparseLists sparse_lists(const SparseInt8Matrix& matrix, const std::uint8_t* bytes);

/// The blocks of codes (N,K) that are not zero, and their entries: two of a block whose pairs add up to too much.
struct CountedInt8Blocks {
  KeptBlocks blocks = {};
  std::int64_t entries = 0;
};
CountedInt8Blocks count_blocks(ThreadPool& pool, const SparseInt8Matrix& matrix,
                               const std::uint16_t* codes);
/// Returns the bytes of a matrix with so many entries, exactly.
std::size_t sparse_bytes(const SparseInt8Matrix& matrix, std::int64_t entries);
/// `bytes`, aligned to 4, has `sparse_bytes` of the entries that `count_blocks` counts, and becomes `codes` (N,K).
void arrange(ThreadPool& pool, const SparseInt8Matrix& matrix, const std::uint16_t* codes,
             std::uint8_t* bytes);

}  // namespace hone::kernels
