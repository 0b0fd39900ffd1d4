#pragma once

#include <optional>

#include "hone/formats/packing.h"
#include "hone/kernels/sparse_int8_matrix.h"

namespace hone {

/// The whole numbers of a weight in blocks of 1x4, without those that are zero, as `sparse_int8_product` reads them.
struct SparseIntegers {
  kernels::SparseInt8Matrix matrix;
  StoragePointer bytes;
  std::int64_t entries = 0;
  double stored = 1;  ///< share of the blocks
};

/// Those of codes in panels or rows, of a format whose values are whole numbers times a scale of their row: in 4 bits where all
/// fit. Nothing where more than the share `most` of the blocks would be stored.
std::optional<SparseIntegers> sparse_integers(const PackedLayout& layout, const CodeUnits& units,
                                              const std::uint8_t* packed, double most,
                                              ThreadPool& pool);

}  // namespace hone
