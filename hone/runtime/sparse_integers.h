#pragma once

#include <optional>

#include "hone/formats/packing.h"
#include "hone/kernels/sparse_int8_matrix.h"

namespace hone {

/// Codes of a weight, in panels or rows, of a format whose values are whole numbers times a scale of their row.
struct SparseSource {
  const PackedLayout& layout;
  const CodeUnits& units;
  const std::uint8_t* packed = nullptr;
  double most = 1;  ///< share of the blocks of 1x4 up to which it is worth to store them
};

/// Those whole numbers in blocks of 1x4, without those that are zero, as `sparse_int8_product` reads them: in 4 bits where all fit.
struct SparseIntegers {
  kernels::SparseInt8Matrix matrix;
  StoragePointer bytes;
  std::int64_t entries = 0;
  kernels::KeptBlocks blocks = {};  ///< of 1x4
};

/// Nothing where more than `most` of the blocks are not zero.
std::optional<SparseIntegers> sparse_integers(const SparseSource& source, ThreadPool& pool);

/// What these take, without them.
struct SparseIntegersSize {
  std::int64_t bytes = 0;
  kernels::KeptBlocks blocks = {};  ///< of 1x4
};
std::optional<SparseIntegersSize> sparse_integers_size(const SparseSource& source,
                                                       ThreadPool& pool);

}  // namespace hone
