#pragma once

#include <cstddef>
#include <cstdint>

#include "hone/kernels/int8_rows.h"

/// Activations of 8 bits for processors that multiply a byte by a signed byte and add up pairs of products in 16 bits, where
/// sums of more than 32,767 saturate (vpmaddubsw).
///
/// With weights as bytes of up to 255, a sum holds as long as its positive activations add up to 128 at most and its negative
/// ones to -128. So activations are cut in two, codes = limited + residues: the limited ones keep to that, where the sums of
/// `together` neighbouring quads are added up in 16 bits, and what is left of the few that do not becomes a list, a quad an
/// entry, whose products are added to the 32-bit sums later. The sums are exact, so results have the bits of any other
/// processor.
///
/// Of the activations of an encoder's layers 1 to 20 of 100 quads have residues. How many quads go together is chosen for every
/// chunk of rows, by what its residues cost.
namespace hone::kernels {

struct FourCodes {
  std::int8_t codes[4];
};

struct Residue {
  std::int32_t quad;  ///< which four columns
  FourCodes left;     ///< of them; products of pairs hold in 16 bits
};

/// Rows of one chunk.
struct LimitedRows {
  /// Quads whose products are added up in 16 bits: 2 or 1; 0 where residues would cost more than they save, and nothing else
  /// is known.
  int together = 0;
  const std::int8_t* codes = nullptr;  ///< (rows, stride), those of the chunk
  const Residue* residues = nullptr;
  const std::int32_t* ends =
      nullptr;  ///< (rows): where the residues of a row end, and those of the next begin
};

/// Memory for so many rows of this shape: their codes once more, and residues for a third of their quads.
std::size_t limited_rows_bytes(const Int8Shape& shape, std::int64_t rows);
/// Cuts rows [first, first + most) of `x`, those that there are, which have one scale each. The result lies in `memory`,
/// aligned to 64 bytes, of `limited_rows_bytes(x.shape, most)`.
LimitedRows limit_rows(const Int8Rows& x, std::int64_t first, std::int64_t most, void* memory);

}  // namespace hone::kernels
