#pragma once

#include <optional>

#include "hone/formats/packing.h"
#include "hone/kernels/sparse_int8_matrix.h"

namespace hone {

/// Codes of a weight, in panels or rows, of a format whose values are integers times a scale per row.
struct SparseSource {
  const PackedLayout& layout;
  const CodeUnits& units;
  const std::uint8_t* packed = nullptr;
  double most = 1;  ///< share of 1x4 blocks up to which storing them pays
};

/// These integers in 1x4 blocks without the zero ones, as `sparse_int8_product` reads them: in 4 bits if all fit.
struct SparseIntegers {
  kernels::SparseInt8Matrix matrix;
  StoragePointer bytes;
  std::int64_t entries = 0;
  kernels::KeptBlocks blocks = {};  ///< of 1x4
};

/// Returns nothing if more than `most` of the blocks are nonzero.
std::optional<SparseIntegers> sparse_integers(const SparseSource& source, ThreadPool& pool);

/// The size of the sparse integers, computed without storing them.
struct SparseIntegersSize {
  std::int64_t bytes = 0;
  kernels::KeptBlocks blocks = {};  ///< of 1x4
};
std::optional<SparseIntegersSize> sparse_integers_size(const SparseSource& source,
                                                       ThreadPool& pool);

}  // namespace hone
